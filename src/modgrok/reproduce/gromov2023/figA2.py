"""Figs. A2 to A4, (n + m)², n² + m² and nm: h¹ and h² found by AdamW above the closed forms, and both spectra."""

from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.closed_form.frequencies import independent_frequencies
from modgrok.closed_form.random_phases import other_neurons
from modgrok.experiments import Experiment, Run
from modgrok.measures import distance_to_closed_form, frequency_power, neuron_waves
from modgrok.measures.waves import nearest_frequency, neuron_of
from modgrok.networks import Network, hidden_map, output_map, score_table
from modgrok.palette import PURPLE
from modgrok.plot import style
from modgrok.plot.answers import over_inputs
from modgrok.plot.phases import frequencies
from modgrok.reproduce.gromov2023.images import FREQUENCY, few_digits
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study
from modgrok.shapes import Float
from modgrok.tasks import Task, task
from modgrok.text import percent

OUTCOMES = ("memorized_at", "grokked_at", "test_accuracy", "ipr", "task_ipr")
Forms = dict[str, dict[str, Any]]
"""Rows of closed forms: a label, and what `solve` is asked for."""


def power_shares(network: Network, learnt: Task) -> Float[np.ndarray, "k"]:
    """Share of the input weights' power at the frequencies 1 … ⌊L/2⌋ of the task's own coordinate."""
    power = frequency_power(network.w_in.astype(np.float64), learnt.structure.coordinate)[1:]
    return power / power.sum()


def whole_copies(learnt: Task, width: int) -> int:
    """The largest width up to this one at which random phases have every frequency equally often."""
    coordinate = learnt.structure.coordinate
    assert coordinate is not None
    frequencies, others = len(independent_frequencies(coordinate.length)), other_neurons(coordinate, False)
    return max(1, (width - others) // frequencies) * frequencies + others


def preactivations(
    name: str, expression: str, answers: tuple[int, int], forms: Forms, title: str, caption: str
) -> Study:
    """The study of one function."""

    def experiments(profile: Profile) -> list[Experiment]:
        return profile.by_adamw(profile.functions, expression)

    def numbers(profile: Profile, runs: list[Run]) -> Numbers:
        learnt = task(expression, profile.modulus)
        coordinate = learnt.structure.coordinate
        networks = {"AdamW": runs[0].network}
        width = whole_copies(learnt, profile.width)
        networks |= {label: solve(learnt, width=width, **asked) for label, asked in forms.items()}
        frequency = nearest_frequency(networks["AdamW"], FREQUENCY, coordinate)
        return {
            "expression": expression,
            "modulus": profile.modulus,
            "width": profile.width,
            "closed_width": width,
            "fraction": runs[0].experiment.fraction,
            "answers": answers,
            "length": coordinate.length if coordinate else profile.modulus,
            "frequency": frequency,
            "rows": {label: _row(network, learnt, answers, frequency) for label, network in networks.items()},
            "seeds": [_outcome(run, learnt) for run in runs],
        }

    return Study(name, title, caption, numbers, experiments, draw, digits=3)


def _outcome(run: Any, learnt: Task) -> dict[str, Any]:
    coordinate = learnt.structure.coordinate
    return {name: run.result[name] for name in OUTCOMES} | {
        "explained": float(np.nanmedian(neuron_waves(run.network, coordinate).explained)),
        "distance": distance_to_closed_form(run.network, coordinate).both,
    }


def _row(network: Network, learnt: Task, answers: tuple[int, int], frequency: int) -> dict[str, Any]:
    neuron = neuron_of(network, frequency, learnt.structure.coordinate)
    score = score_table(network, learnt.table)
    return {
        "accuracy": score.accuracy,
        "loss": score.loss,
        "neuron": neuron,
        "hidden": few_digits(hidden_map(network, neuron)),
        "outputs": [few_digits(output_map(network, answer)) for answer in answers],
        "zero": [not network.w_out[answer].any() for answer in answers],
        "spectrum": power_shares(network, learnt),
    }


def draw(n: Numbers) -> Any:
    rows = n["rows"]
    figure, grid = style.grid(len(rows), 4, width=7.6, height=1.85 * len(rows) + 0.6)
    for number, (panels, (label, row)) in enumerate(zip(grid, rows.items(), strict=True)):
        *maps, spectrum = panels
        names = (f"$h^{{(1)}}_{{{row['neuron']}}}$", *(f"$h^{{(2)}}_{{{q}}}$" for q in n["answers"]))
        values = (row["hidden"], *row["outputs"])
        for panel, drawn, name, zero in zip(maps, values, names, (False, *row["zero"]), strict=True):
            over_inputs(drawn, ax=panel, **{"cmap": "Greys", "vmin": 0, "vmax": 1} if zero else {})
            if zero:
                panel.text(0.5, 0.5, "exactly 0", transform=panel.transAxes, ha="center", va="center")
            else:
                style.color_bar(panel)
            panel.set_title(name, loc="center", pad=5)
            panel.tick_params(labelleft=panel is maps[0])
        maps[0].set_ylabel(f"{label}\n{percent(row['accuracy'])} right\n$n$")
        frequencies(row["spectrum"], PURPLE, width=1, ax=spectrum)
        spectrum.set_box_aspect(1)
        spectrum.set_title("spectrum of $W^{(1)}$", loc="center", pad=5)
        spectrum.set_ylabel("share of power")
        spectrum.yaxis.set_label_position("right")
        spectrum.yaxis.tick_right()
        spectrum.spines["left"].set_visible(False)
        spectrum.spines["right"].set_visible(True)
        for panel in panels if number < len(rows) - 1 else ():
            panel.set_xlabel("")
            panel.tick_params(labelbottom=False)
    style.note(
        figure,
        f"{n['expression']} mod {n['modulus']}, AdamW: N = {n['width']}, α = {n['fraction']}; closed forms: N = "
        f"{n['closed_width']}, every frequency equally often; $h^{{(1)}}$: neurons of frequency {n['frequency']}; "
        f"frequencies and spectra in the task's own coordinate, Z of order {n['length']}",
    )
    return figure


STUDIES = (
    preactivations(
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
    ),
    preactivations(
        "figA3",
        "n^2 + m^2",
        (6, 11),
        {"random phases": {"form": "waves"}},
        "n² + m²: what AdamW finds, and the closed form",
        "The waves live in n² and m²: in n itself a neuron looks like noise with a symmetry, in the task's own "
        "coordinate it is one frequency.",
    ),
    preactivations(
        "figA4",
        "n*m",
        (6, 11),
        {"random phases": {"form": "waves"}},
        "nm: what AdamW finds, and a closed form the paper does not have",
        "With discrete logarithms a product is a sum modulo p − 1, and the waves of the closed form live there. "
        "The trained network's neurons are waves in the same coordinate. The highest frequency, "
        "L/2, enters the closed form with half the coefficient of the others, so its weights are smaller.",
    ),
)
