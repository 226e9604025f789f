"""Outputs and neurons over all pairs: random, trained, written down (Fig. 1); for (n + m)², n² + m² and nm also what
AdamW finds above the closed forms, and both spectra (appendix C; Figs. A2 to A4)."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.closed_form.random_phases import whole_copies
from modgrok.experiments import Run
from modgrok.measures import frequency_power, neuron_waves
from modgrok.measures.spectrum import fourier_image, wave_shares
from modgrok.measures.waves import nearest_frequency, neuron_of
from modgrok.networks import Network, hidden_map, output_map, score_table
from modgrok.plot import style
from modgrok.plot.answers import few_digits, maps_and_spectrum, over_inputs, signed
from modgrok.reproduce.figures import modular
from modgrok.reproduce.form import Ask, Sizes, Study, Table, study
from modgrok.reproduce.gromov2023.sizes import addition_by_gd, by_adamw
from modgrok.shapes import Float
from modgrok.tasks import Task, task
from modgrok.text import percent, spread

ANSWER = 6
FREQUENCY = 5
"""Of the neurons shown, or the one nearest to it that the trained network has: low enough to be seen."""
WEAK = 0.01
"""Share of the power from which a series of peaks is there."""
Forms = dict[str, dict[str, Any]]
"""Closed forms: a label, and what `solve` is asked for."""


def study_of(name: str, expression: str, answers: tuple[int, int], forms: Forms, title: str, caption: str) -> Study:
    """The study of one function."""

    def maps(s: Sizes, t: Table) -> dict[str, Any]:
        """What there is to see of seed 0 and of the closed forms."""
        learned = task(expression, s.modulus)
        coordinate = learned.structure.coordinate
        assert coordinate is not None
        width = whole_copies(coordinate, s.width)
        frequency = nearest_frequency(t.runs[0].network, FREQUENCY, coordinate)
        networks = {"AdamW": t.runs[0].network}
        networks |= {label: solve(learned, width=width, **asked) for label, asked in forms.items()}
        return {
            "answers": answers,
            "closed_width": width,
            "length": coordinate.length,
            "frequency": frequency,
            "maps": {label: function_maps(network, learned, answers, frequency) for label, network in networks.items()},
        }

    made = study(
        name,
        title,
        caption,
        runs=lambda s: by_adamw(s, s.functions, task=expression),
        keep=("grokked_at", "test_accuracy", "ipr", "task_ipr", explained_of),
        also=maps,
        digits=3,
    )
    made.figure()(draw_function)
    return made


def explained_of(run: Run) -> dict[str, float]:
    """How much of a neuron one wave in the task's coordinate explains."""
    return {"explained": float(np.nanmedian(neuron_waves(run.network, run.task.structure.coordinate).explained))}


def power_shares(network: Network, learned: Task) -> Float[np.ndarray, "k"]:
    """Share of the input weights' power at the frequencies 1 … ⌊L/2⌋ of the task's own coordinate."""
    power = frequency_power(network.w_in.astype(np.float64), learned.structure.coordinate)[1:]
    return power / power.sum()


def function_maps(network: Network, learned: Task, answers: tuple[int, int], frequency: int) -> dict[str, Any]:
    neuron = neuron_of(network, frequency, learned.structure.coordinate)
    return {
        "accuracy": score_table(network, learned.table).accuracy,
        "neuron": neuron,
        "hidden": few_digits(hidden_map(network, neuron)),
        "outputs": [few_digits(output_map(network, answer)) for answer in answers],
        "spectrum": power_shares(network, learned),
    }


def draw_function(t: Table) -> Any:
    first = t.first
    figure, grid = style.grid(len(first.maps), 4, width=7.6, height=1.85 * len(first.maps) + 0.6)
    for panels, (label, row) in zip(grid, first.maps.items(), strict=True):
        names = (f"$h^{{(1)}}_{{{row['neuron']}}}$", *(f"$h^{{(2)}}_{{{q}}}$" for q in first.answers))
        maps = dict(zip(names, (row["hidden"], *row["outputs"]), strict=True))
        maps_and_spectrum(panels, maps, row["spectrum"])
        panels[0].set_ylabel(f"{label}\n{percent(row['accuracy'])} right\n$n$")
        for panel in panels if label != [*first.maps][-1] else ():
            panel.set_xlabel("")
            panel.tick_params(labelbottom=False)
    trained = f"{modular(t)}, AdamW: N = {first.width}, α = {first.fraction}"
    closed = f"closed forms: N = {first.closed_width}, every frequency equally often"
    neurons = f"$h^{{(1)}}$: neurons of frequency {first.frequency}"
    coordinate = f"frequencies and spectra in the task's own coordinate, Z of order {first.length}"
    style.note(figure, f"{trained}; {closed}; {neurons}; {coordinate}")
    return figure


square = study_of(
    "figA2",
    "(n + m)^2",
    (4, 5),
    {"one branch": {"branches": "one"}, "all branches": {"branches": "all"}},
    "(n + m)²: what AdamW finds, and the closed form with one branch and with all",
    "The hidden layer is that of n + m. For an answer that is a square (left output) the trained network shows the "
    "lines of both square roots; the paper's closed form reads out one of them and is right for half of the pairs, "
    "reading out all of them makes it right everywhere. An answer that is no square (right output) is never given: the "
    "trained network keeps it small, the closed forms have a row of zeros for it, and their output is exactly 0.",
)
sum_of_squares = study_of(
    "figA3",
    "n^2 + m^2",
    (6, 11),
    {"random phases": {"form": "waves"}},
    "n² + m²: what AdamW finds, and the closed form",
    "The waves live in n² and m²: in n itself a neuron looks like noise with a symmetry, in the task's own "
    "coordinate it is one frequency.",
)
multiplying = study_of(
    "figA4",
    "n*m",
    (6, 11),
    {"random phases": {"form": "waves"}},
    "nm: what AdamW finds, and a closed form the paper does not have",
    "With discrete logarithms a product is a sum modulo p − 1, and the waves of the closed form live there. "
    "The trained network's neurons are waves in the same coordinate. The highest frequency, "
    "L/2, enters the closed form with half the coefficient of the others, so its weights are smaller.",
)


def show_learned(t: Table, ask: Ask) -> None:
    """How well and when a function was learned, and in which coordinate its weights are periodic."""
    ask.show({"test accuracy": t["test_accuracy"]}, percent)
    ask.show({"grokking step": t["grokked_at"]})
    ask.show({"IPR in n / in the task's coordinate": f"{spread(t['ipr'])} / {spread(t['task_ipr'])}"})


def _lines(answer: Any) -> int:
    """For how many sums n + m the mean output of an answer is at least half of the largest; each is two lines in the
    square of all pairs."""
    values = np.array(answer, float)
    n = np.arange(len(values))
    means = np.array([values[n, (r - n) % len(n)].mean() for r in n])
    return 2 * int((means >= 0.5 * means.max()).sum())


@square.claim("appendix C (Fig. A2)")
def four_lines(t: Table, ask: Ask) -> None:
    """For (n + m)² the trained output shows four lines, a pair for each branch of the root; the closed form two."""
    lines = {form: _lines(one["outputs"][0]) for form, one in t.first.maps.items()}
    ask.that(
        "the output of an answer that is a square is at least half of the largest on four lines n + m = r for the "
        "trained network and for the closed form with all branches, on two with one branch",
        [*lines.values()] == [4, 2, 4],
    )
    ask.show({f"lines of the output, {form}": n for form, n in lines.items()})


@square.claim("appendix C (Fig. A2)")
def square_of_sum(t: Table, ask: Ask) -> None:
    """AdamW learns (n + m)²; the closed form with one branch reaches about 51 %."""
    one, every = (t.first.maps[form]["accuracy"] for form in ("one branch", "all branches"))
    ask.that("AdamW learns (n + m)² to at least 99 % in every seed", min(t["test_accuracy"]) >= 0.99)
    ask.that("the closed form with one branch is within 3 points of 51.5 %", abs(one - 0.515) < 0.03)
    show_learned(t, ask)
    ask.show({"one branch": one, "all branches": every}, percent)


def before_and_after(run: Run) -> dict[str, Network]:
    return {"initialization": run.snapshot(0), "gradient descent": run.network}


def shares(networks: Iterable[tuple[str, Network]]) -> list[dict[str, Any]]:
    """Where the power of an answer's Fourier image is."""
    return [{"form": form, **wave_shares(network, ANSWER)} for form, network in networks]


def written_down(s: Sizes, draws: int | None = None) -> Iterator[tuple[str, Network]]:
    """Closed forms with several draws of random phases (by default one for each seed), and the exact one."""
    addition = task("n + m", s.modulus)
    for seed in range(draws or s.seeds):
        yield "closed form", solve(addition, "waves", s.width, seed=seed)
    yield "exact form", solve(addition, "exact")


def maps(s: Sizes, t: Table) -> dict[str, Any]:
    """What there is to see of seed 0 and of the closed forms."""
    networks = before_and_after(t.runs[0]) | dict(written_down(s, 1))
    frequency = nearest_frequency(networks["gradient descent"], FREQUENCY)
    neurons = {form: neuron_of(network, frequency) for form, network in networks.items()}
    neurons["initialization"] = neurons["gradient descent"]
    found = {}
    for form, network in networks.items():
        answer = output_map(network, ANSWER)
        shown = answer, fourier_image(answer), hidden_map(network, neurons[form])
        found[form] = {"width": network.width, "neuron": neurons[form], "shown": [*map(few_digits, shown)]}
    return {"maps": found, "frequency": frequency}


images = study(
    "fig1",
    "Preactivations: random, trained, written down",
    "Top: the output for one answer over all pairs. Middle: its Fourier image, in which n + m = q is the diagonal. "
    "Bottom: a hidden neuron of the same frequency in each network. Gradient descent finds one diagonal and nothing "
    "else; the paper's closed form has the same diagonal and, faintly, the waves that its random phases do not quite "
    "cancel: 2n (vertical axis), 2m (horizontal axis) and n − m (the other diagonal). The exact form of finite width, "
    "which the paper does not have, cancels them to rounding error.",
    runs=addition_by_gd,
    keep=lambda run: shares(before_and_after(run).items()),
    rows=lambda s: shares(written_down(s)),
    also=maps,
    digits=3,
)


@images.figure()
def preactivations(t: Table) -> Any:
    found = t.first.maps
    figure, grid = style.grid(3, len(found), width=7.6, height=5.6)
    half = t.first.modulus // 2
    centered = {"extent": (-half - 0.5, half + 0.5) * 2, "vmin": 0, "vmax": 1}
    for column, (form, one) in enumerate(found.items()):
        for row, values in enumerate(one["shown"]):
            panel = grid[row, column]
            over_inputs(values, ax=panel, **centered if row == 1 else signed(values))
            style.color_bar(panel)
            panel.tick_params(labelleft=column == 0)
        grid[0, column].set_title(f"{form}\nN = {one['width']}", loc="center")
        grid[1, column].set_xlabel("frequency of $m$", labelpad=1)
        grid[2, column].set_title(f"neuron {one['neuron']}", loc="center", fontsize=7, pad=3)
    output = f"$h^{{(2)}}_{{{ANSWER}}}$"
    grid[0, 0].set_ylabel(f"{output}$(n, m)$\n$n$")
    grid[1, 0].set_ylabel(f"Fourier image of {output}\nfrequency of $n$")
    grid[2, 0].set_ylabel("$h^{(1)}(n, m)$ of a neuron\n$n$")
    said = "Fourier images: amplitudes without the mean, over the largest of each"
    neurons = f"neurons: frequency {t.first.frequency}, the trained one also before training"
    style.note(figure, f"{modular(t.where('modulus > 0'))}; {said}; {neurons}")
    return figure


@images.claim("1 (Fig. 1)")
def fourier_peaks(t: Table, ask: Ask) -> None:
    """The Fourier image of a trained output shows one series of peaks; the closed form's shows extra weak ones."""
    names = ("n − m", "2n", "2m")
    trained, closed = t.where(form="gradient descent"), t.where(form="closed form")
    extra = {form: cell.each(lambda r: sum(r[name] for name in names)) for form, cell in t.by("form").items()}
    ask.that("the trained output has at least 90 % of its power in n + m, in every seed", min(trained["n + m"]) >= 0.9)
    fewer = all(max(trained[name]) < 0.5 * min(closed[name]) for name in names)
    ask.that("in each of n − m, 2n and 2m it has less than half of the closed form's share", fewer)
    ask.that("the closed form has at least 50 % in n + m", min(closed["n + m"]) >= 0.5)
    weak = all(min(closed[name]) >= WEAK for name in names)
    ask.that(f"it has at least {percent(WEAK, 0)} in each of the others", weak)
    ask.show({f"closed form: power in {name}": closed[name] for name in ("n + m", *names)}, percent)
    ask.show({"closed form: power in n − m, 2n, 2m": extra["closed form"]}, percent)
    ask.show({"trained: power in n + m": trained["n + m"]}, percent)
    ask.show({"trained: power in n − m, 2n, 2m": extra["gradient descent"]}, percent)
    ask.show({"exact form: power in n − m, 2n, 2m": extra["exact form"]}, percent)
    ask.show({"initialization: power in n + m": t.where(form="initialization")["n + m"]}, percent)
