"""(n + m)², n² + m² and nm: what AdamW finds above the closed forms, and both spectra (appendix C; Figs. A2 to A4)."""

from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.closed_form.random_phases import whole_copies
from modgrok.experiments import Run
from modgrok.measures import frequency_power, neuron_waves
from modgrok.measures.waves import nearest_frequency, neuron_of
from modgrok.networks import Network, hidden_map, output_map, score_table
from modgrok.plot import style
from modgrok.plot.answers import few_digits, maps_and_spectrum
from modgrok.reproduce.figures import modular
from modgrok.reproduce.form import Ask, Sizes, Study, Table, study
from modgrok.reproduce.gromov2023.images import FREQUENCY
from modgrok.reproduce.gromov2023.sizes import by_adamw
from modgrok.shapes import Float
from modgrok.tasks import Task, task
from modgrok.text import percent, spread

Forms = dict[str, dict[str, Any]]
"""Closed forms: a label, and what `solve` is asked for."""


def preactivations(
    name: str, expression: str, answers: tuple[int, int], forms: Forms, title: str, caption: str
) -> Study:
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
            "maps": {label: _maps(network, learned, answers, frequency) for label, network in networks.items()},
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
    made.figure()(draw)
    return made


def explained_of(run: Run) -> dict[str, float]:
    """How much of a neuron one wave in the task's coordinate explains."""
    return {"explained": float(np.nanmedian(neuron_waves(run.network, run.task.structure.coordinate).explained))}


def power_shares(network: Network, learned: Task) -> Float[np.ndarray, "k"]:
    """Share of the input weights' power at the frequencies 1 … ⌊L/2⌋ of the task's own coordinate."""
    power = frequency_power(network.w_in.astype(np.float64), learned.structure.coordinate)[1:]
    return power / power.sum()


def _maps(network: Network, learned: Task, answers: tuple[int, int], frequency: int) -> dict[str, Any]:
    neuron = neuron_of(network, frequency, learned.structure.coordinate)
    return {
        "accuracy": score_table(network, learned.table).accuracy,
        "neuron": neuron,
        "hidden": few_digits(hidden_map(network, neuron)),
        "outputs": [few_digits(output_map(network, answer)) for answer in answers],
        "spectrum": power_shares(network, learned),
    }


def draw(t: Table) -> Any:
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
    style.note(
        figure,
        f"{modular(t)}, AdamW: N = {first.width}, α = {first.fraction}; closed forms: N = {first.closed_width}, every "
        f"frequency equally often; $h^{{(1)}}$: neurons of frequency {first.frequency}; frequencies and spectra in the "
        f"task's own coordinate, Z of order {first.length}",
    )
    return figure


square = preactivations(
    "figA2",
    "(n + m)^2",
    (4, 5),
    {"one branch": {"branches": "one"}, "all branches": {"branches": "all"}},
    "(n + m)²: what AdamW finds, and the closed form with one branch and with all",
    "The hidden layer is that of n + m. For an answer that is a square (left output) the trained network "
    "shows the lines of both square "
    "roots; the paper's closed form reads out one of them and is right for half of the pairs, reading out all of "
    "them makes it right everywhere. An answer that is no square (right output) is never given: the trained "
    "network keeps it small, the closed forms have a row of zeros for it, and their output is exactly 0.",
)
sum_of_squares = preactivations(
    "figA3",
    "n^2 + m^2",
    (6, 11),
    {"random phases": {"form": "waves"}},
    "n² + m²: what AdamW finds, and the closed form",
    "The waves live in n² and m²: in n itself a neuron looks like noise with a symmetry, in the task's own "
    "coordinate it is one frequency.",
)
product = preactivations(
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
