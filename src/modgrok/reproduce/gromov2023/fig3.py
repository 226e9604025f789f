"""Fig. 3: (a) grokking time against the fraction of data for eight optimizers; (b) accuracy against width."""

from collections.abc import Sequence
from typing import Any

from modgrok.closed_form import solve
from modgrok.experiments import Experiment
from modgrok.networks import Score, score_table
from modgrok.palette import MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.gromov2023 import tuning
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.gromov2023.times import LINES, draw_times, step_axis
from modgrok.reproduce.nested import Numbers, Study, Tree, mean, results
from modgrok.tasks import task
from modgrok.text import count, number

AFTER = 500
"""Steps that the networks of figure 3b train on after grokking."""


def width_run(profile: Profile, optimizer: str, width: int, seed: int) -> Experiment:
    """One point of figure 3b."""
    make = profile.adaptive.adapt if optimizer == "AdamW" else profile.descent.descend
    return make("n + m", profile.sweep_modulus, width, profile.width_fraction, seed, until=AFTER)


def experiments(profile: Profile) -> Tree:
    seeds = profile.sweep_range
    return {
        "optimizers": tuning.experiments(profile),
        "widths": {
            name: [[width_run(profile, name, width, seed) for seed in seeds] for width in profile.widths]
            for name in ("GD", "AdamW")
        },
    }


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Grokking times of every optimizer at its best; accuracies against width."""
    found = tuning.numbers(profile, runs["optimizers"])
    same = ("modulus", "width", "seeds", "steps", "fractions", "tuned", "tuned_summary")
    return {name: found[name] for name in same} | {
        "width_fraction": profile.width_fraction,
        "width_seeds": profile.sweep_seeds,
        "by_width": _by_width(profile, runs["widths"]),
    }


def _by_width(profile: Profile, runs: Tree) -> dict[str, Any]:
    addition = task("n + m", profile.sweep_modulus)

    def scored(**asked: Any) -> tuple[int, Score]:
        network = solve(addition, **asked)
        return network.width, score_table(network, addition.table)

    draws = range(profile.closed_seeds)
    waves = [[scored(form="waves", width=N, seed=seed)[1] for seed in draws] for N in profile.closed_widths]
    exact = [scored(form="exact", frequencies=range(1, k + 1)) for k in _exact_frequencies(profile.sweep_modulus)]
    pairs = results(runs, "test_accuracy", "test_loss")
    return {name: _series(profile.widths, cells) for name, cells in pairs.items()} | {
        "random phases": _series(profile.closed_widths, [[(s.accuracy, s.loss) for s in cell] for cell in waves]),
        "exact form": _series([width for width, _ in exact], [[(s.accuracy, s.loss)] for _, s in exact]),
    }


def _exact_frequencies(modulus: int) -> list[int]:
    """How many frequencies the exact form gets: 1, 2, 4, … and all."""
    most = modulus // 2
    return [1 << i for i in range(most.bit_length()) if 1 << i < most] + [most]


def _series(widths: Sequence[int], cells: list[list[tuple[Any, Any]]]) -> dict[str, Any]:
    accuracy, loss = ([[pair[i] for pair in cell] for cell in cells] for i in (0, 1))
    return {
        "widths": list(widths),
        "accuracy": accuracy,
        "loss": loss,
        "mean_accuracy": [mean(cell) for cell in accuracy],
        "least_accuracy": [min(cell) for cell in accuracy],
        "most_accuracy": [max(cell) for cell in accuracy],
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, height=3.6, width_ratios=(1.25, 1))
    left, right = panels[0]
    for i, (name, found) in enumerate(n["tuned_summary"].items()):
        draw_times(left, n["fractions"], found, i, name)
    step_axis(left, n["steps"], len(n["tuned_summary"]))
    left.margins(x=0.06)
    left.set_xlabel("fraction of the pairs trained on, α")
    left.set_ylabel("steps until test accuracy ≥ 99 %")
    draw_by_width(right, n["by_width"], ("mean_accuracy", "least_accuracy", "most_accuracy"))
    right.set_ylabel("accuracy")
    right.legend(loc="lower right")
    style.letter(panels[0], ("grokking time, every optimizer tuned", "accuracy and width"))
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=6.5, ncols=4, loc="outside upper center")
    style.note(
        figure,
        f"n + m mod {n['modulus']}; (a) N = {n['width']}, median and range of {n['seeds']} seeds, × most do not grok "
        f"within {count(n['steps'])} steps; (b) α = {n['width_fraction']}, mean and range of {n['width_seeds']} seeds",
    )
    return figure


def draw_by_width(panel: Any, found: dict[str, Any], names: tuple[str, str, str]) -> None:
    """Means with their ranges against the width, each series in its color."""
    for i, (label, series) in enumerate(found.items()):
        middle, least, most = (series[name] for name in names)
        look: Any = {"color": SERIES[i], "marker": MARKERS[i], "ls": LINES[i % len(LINES)], "fillstyle": "none"}
        panel.plot(series["widths"], middle, label=label, **look)
        panel.fill_between(series["widths"], least, most, color=SERIES[i], alpha=0.15, linewidth=0)
    panel.set_xscale("log", base=2)
    panel.xaxis.set_major_formatter(lambda width, _: number(width))
    panel.margins(x=0.08)
    panel.set_xlabel("width N")
    panel.set_ylim(-0.03, 1.03)


STUDY = Study(
    "fig3",
    "Data and width",
    "Left: how long it takes to generalize with a growing share of the table, for eight optimizers, each at every "
    "share with the settings that are fastest there of equally many that were tried. Right: accuracy against width of "
    "trained networks, of the paper's random phases (on all pairs), and of the exact form, which is right at any width "
    "from five neurons on.",
    numbers,
    experiments,
    draw,
)
