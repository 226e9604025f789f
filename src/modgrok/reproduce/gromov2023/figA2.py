"""Figs. A2 to A4, (n + m)², n² + m² and nm: h¹ and h² found by AdamW above the closed forms, and both spectra."""

from typing import Any

import numpy as np
from jaxtyping import Float

from modgrok.closed_form import solve
from modgrok.experiments import Experiment, Run
from modgrok.measures import distance_to_closed_form, neuron_waves, power_spectrum
from modgrok.networks import Network, hidden_map, output_map, score_table
from modgrok.palette import PURPLE
from modgrok.plot import style
from modgrok.plot.answers import over_inputs
from modgrok.plot.phases import frequencies
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.study import Numbers, Study
from modgrok.tasks import Task, task
from modgrok.text import percent

OUTCOMES = ("memorized_at", "grokked_at", "test_accuracy", "ipr", "task_ipr")
Forms = dict[str, dict[str, Any]]
"""Rows of closed forms: a label, and what `solve` is asked for."""


def folded_power(network: Network, learnt: Task) -> Float[np.ndarray, "k"]:
    """Share of the input weights' power at the frequencies 1 … L/2 of the task's own coordinate."""
    power = power_spectrum(network.w_in.astype(np.float64), learnt.structure.coordinate).sum(axis=(0, 1))
    half = len(power) // 2
    folded = power[1 : half + 1]
    return folded / folded.sum()


def clearest_neuron(network: Network, learnt: Task) -> int:
    """The neuron that one wave explains best."""
    return int(np.nanargmax(neuron_waves(network, learnt.structure.coordinate).explained))


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
        networks |= {label: solve(learnt, width=profile.width, **asked) for label, asked in forms.items()}
        return {
            "expression": expression,
            "modulus": profile.modulus,
            "width": profile.width,
            "fraction": runs[0].experiment.fraction,
            "answers": answers,
            "length": coordinate.length if coordinate else profile.modulus,
            "rows": {label: _row(network, learnt, answers) for label, network in networks.items()},
            "seeds": [_outcome(run, learnt) for run in runs],
        }

    return Study(name, title, caption, numbers, experiments, draw, digits=4)


def _outcome(run: Any, learnt: Task) -> dict[str, Any]:
    coordinate = learnt.structure.coordinate
    return {name: run.result[name] for name in OUTCOMES} | {
        "explained": float(np.nanmedian(neuron_waves(run.network, coordinate).explained)),
        "distance": distance_to_closed_form(run.network, coordinate).both,
    }


def _row(network: Network, learnt: Task, answers: tuple[int, int]) -> dict[str, Any]:
    neuron = clearest_neuron(network, learnt)
    score = score_table(network, learnt.table)
    return {
        "accuracy": score.accuracy,
        "loss": score.loss,
        "neuron": neuron,
        "hidden": hidden_map(network, neuron),
        "outputs": [output_map(network, answer) for answer in answers],
        "spectrum": folded_power(network, learnt),
    }


def draw(n: Numbers) -> Any:
    rows = n["rows"]
    figure, grid = style.grid(len(rows), 4, height=1.85 * len(rows) + 0.5)
    for number, (panels, (label, row)) in enumerate(zip(grid, rows.items(), strict=True)):
        *maps, spectrum = panels
        names = (f"$h^{{(1)}}_{{{row['neuron']}}}$", *(f"$h^{{(2)}}_{{{q}}}$" for q in n["answers"]))
        for panel, values, name in zip(maps, (row["hidden"], *row["outputs"]), names, strict=True):
            over_inputs(values, ax=panel)
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
        f"{n['expression']} mod {n['modulus']}, N = {n['width']}, α = {n['fraction']}; h⁽¹⁾: the neuron that one wave "
        f"explains best;\nspectrum: share of power in the task's own coordinate, Z of order {n['length']}",
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
        "them makes it right everywhere. An answer that is no square (right output) is never given: noise.",
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
        "The trained network's neurons are waves in the same coordinate.",
    ),
)
