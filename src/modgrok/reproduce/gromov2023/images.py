"""One answer, its Fourier image and one neuron over all pairs: random, trained, written down (Fig. 1)."""

from collections.abc import Iterator
from typing import Any

from modgrok.closed_form import solve
from modgrok.experiments import Run
from modgrok.measures.spectrum import fourier_image, wave_shares
from modgrok.measures.waves import nearest_frequency, neuron_of
from modgrok.networks import Network, hidden_map, output_map
from modgrok.plot import style
from modgrok.plot.answers import few_digits, over_inputs, signed
from modgrok.reproduce.figures import modular
from modgrok.reproduce.form import Ask, Sizes, Table, study
from modgrok.reproduce.gromov2023.sizes import addition_by_gd
from modgrok.tasks import task
from modgrok.text import percent

ANSWER = 6
FREQUENCY = 5
"""Of the neurons shown, or the one nearest to it that the trained network has: low enough to be seen."""
WEAK = 0.01
"""Share of the power from which a series of peaks is there."""


def shares_of(run: Run) -> list[dict[str, Any]]:
    """Where the power of an answer's Fourier image is, before and after training."""
    return [
        {"form": "initialization", **wave_shares(run.snapshot(0), ANSWER)},
        {"form": "gradient descent", **wave_shares(run.network, ANSWER)},
    ]


def written_down(s: Sizes, draws: int | None = None) -> Iterator[tuple[str, Network]]:
    """Closed forms with several draws of random phases (by default one for each seed), and the exact one."""
    addition = task("n + m", s.modulus)
    for seed in range(draws or s.seeds):
        yield "closed form", solve(addition, "waves", s.width, seed=seed)
    yield "exact form", solve(addition, "exact")


def maps(s: Sizes, t: Table) -> dict[str, Any]:
    """What there is to see of seed 0 and of the closed forms."""
    trained = t.runs[0].network
    frequency = nearest_frequency(trained, FREQUENCY)
    networks = {"initialization": t.runs[0].snapshot(0), "gradient descent": trained, **dict(written_down(s, 1))}
    neurons = {form: neuron_of(network, frequency) for form, network in networks.items()}
    neurons["initialization"] = neurons["gradient descent"]
    found = {form: _maps(network, neurons[form]) for form, network in networks.items()}
    return {"maps": found, "frequency": frequency}


def _maps(network: Network, neuron: int) -> dict[str, Any]:
    answer = output_map(network, ANSWER)
    shown = answer, fourier_image(answer), hidden_map(network, neuron)
    return {"width": network.width, "neuron": neuron, "shown": [few_digits(one) for one in shown]}


images = study(
    "fig1",
    "Preactivations: random, trained, written down",
    "Top: the output for one answer over all pairs. Middle: its Fourier image, in which n + m = q is the diagonal. "
    "Bottom: a hidden neuron of the same frequency in each network. Gradient descent finds one diagonal and nothing "
    "else; the paper's closed form has the same diagonal and, faintly, the waves that its random phases do not quite "
    "cancel: 2n (vertical axis), 2m (horizontal axis) and n − m (the other diagonal). The exact form of finite width, "
    "which the paper does not have, cancels them to rounding error.",
    runs=addition_by_gd,
    keep=shares_of,
    rows=lambda s: [{"form": form, **wave_shares(network, ANSWER)} for form, network in written_down(s)],
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
    style.note(
        figure,
        f"{modular(t.where('modulus > 0'))}; Fourier images: amplitudes without the mean, over the largest of each; "
        f"neurons: frequency {t.first.frequency}, the trained one also before training",
    )
    return figure


@images.claim("1 (Fig. 1)")
def fourier_peaks(t: Table, ask: Ask) -> None:
    """The Fourier image of a trained output shows one series of peaks; the closed form's shows extra weak ones."""
    names = ("n − m", "2n", "2m")
    trained, closed = t.where(form="gradient descent"), t.where(form="closed form")
    extra = {form: cell.each(lambda r: sum(r[name] for name in names)) for form, cell in t.by("form").items()}
    ask.that("the trained output has at least 90 % of its power in n + m, in every seed", min(trained["n + m"]) >= 0.9)
    ask.that(
        "in each of n − m, 2n and 2m it has less than half of the closed form's share",
        all(max(trained[name]) < 0.5 * min(closed[name]) for name in names),
    )
    ask.that("the closed form has at least 50 % in n + m", min(closed["n + m"]) >= 0.5)
    ask.that(
        f"it has at least {percent(WEAK, 0)} in each of the others", all(min(closed[name]) >= WEAK for name in names)
    )
    ask.show({f"closed form: power in {name}": closed[name] for name in ("n + m", *names)}, percent)
    ask.show({"closed form: power in n − m, 2n, 2m": extra["closed form"]}, percent)
    ask.show({"trained: power in n + m": trained["n + m"]}, percent)
    ask.show({"trained: power in n − m, 2n, 2m": extra["gradient descent"]}, percent)
    ask.show({"exact form: power in n − m, 2n, 2m": extra["exact form"]}, percent)
    ask.show({"initialization: power in n + m": t.where(form="initialization")["n + m"]}, percent)
