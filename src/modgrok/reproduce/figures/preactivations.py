"""Figs. A2 to A4 share one form: h¹ and h² found by AdamW above the closed forms, and both spectra."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from modgrok.closed_form import solve
from modgrok.experiments import Experiment
from modgrok.measures import distance_to_closed_form, neuron_waves, power_spectrum
from modgrok.networks import Network, hidden_map, output_map, score_table
from modgrok.reproduce import style
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.trained import function_by_adamw
from modgrok.reproduce.values import plain
from modgrok.tasks import Task, task

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
        return [function_by_adamw(profile, expression, seed) for seed in profile.seed_range]

    def numbers(profile: Profile, runs: Runs) -> Numbers:
        learnt = task(expression, profile.modulus)
        found = [runs[experiment] for experiment in experiments(profile)]
        networks = {"AdamW": found[0].network} | {
            label: solve(learnt, width=profile.width, **asked) for label, asked in forms.items()
        }
        coordinate = learnt.structure.coordinate
        return plain(
            {
                "expression": expression,
                "modulus": profile.modulus,
                "width": profile.width,
                "fraction": found[0].experiment.fraction,
                "answers": answers,
                "length": coordinate.length if coordinate else profile.modulus,
                "rows": {label: _row(network, learnt, answers) for label, network in networks.items()},
                "seeds": [
                    {name: runs.result(run.experiment)[name] for name in OUTCOMES}
                    | {
                        "explained": float(np.nanmedian(neuron_waves(run.network, coordinate).explained)),
                        "distance": distance_to_closed_form(run.network, coordinate).both,
                    }
                    for run in found
                ],
            },
            digits=4,
        )

    return Study(name, title, caption, experiments, numbers, drawing(expression))


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


def drawing(expression: str) -> Callable[[Numbers], Any]:
    def draw(n: Numbers) -> Any:
        rows = n["rows"]
        figure, grid = style.axes(len(rows), 4, height=1.75 * len(rows) + 0.45)
        for number, (label, row) in enumerate(rows.items()):
            panels, last = grid[number], number == len(rows) - 1
            maps = (row["hidden"], *row["outputs"])
            names = (f"$h^{{(1)}}_{{{row['neuron']}}}$", *(f"$h^{{(2)}}_{{{q}}}$" for q in n["answers"]))
            for panel, values, name in zip(panels, maps, names, strict=False):
                panel.imshow(values, origin="lower")
                panel.spines[["top", "right"]].set_visible(True)
                panel.set_title(name, loc="center", pad=5)
                panel.tick_params(labelbottom=last, labelleft=panel is panels[0])
                if last:
                    panel.set_xlabel("$m$", labelpad=1)
            panels[0].set_ylabel(f"{label}\n{100 * row['accuracy']:.1f} % right\n$n$")
            panels[3].bar(range(1, len(row["spectrum"]) + 1), row["spectrum"], color=style.PURPLE, width=1.0)
            panels[3].set_title("spectrum of $W^{(1)}$", loc="center", pad=5)
            panels[3].yaxis.tick_right()
            panels[3].spines[["left"]].set_visible(False)
            panels[3].spines[["right"]].set_visible(True)
        grid[-1, 3].set_xlabel("frequency", labelpad=1)
        style.note(
            figure,
            f"{expression} mod {n['modulus']}, N = {n['width']}, α = {n['fraction']}; h⁽¹⁾: the neuron that "
            "one wave explains "
            f"best; spectrum: share of power in the task's own coordinate, Z of order {n['length']}",
        )
        return figure

    return draw
