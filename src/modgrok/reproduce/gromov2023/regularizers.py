"""What every regularizer does to the time and to the critical fraction, with and without it at the best settings."""

from typing import Any

import numpy as np

from modgrok.palette import MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.gromov2023 import tuning
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.gromov2023.times import LINES
from modgrok.reproduce.gromov2023.transitions import bars
from modgrok.reproduce.gromov2023.tuning import REGULARIZED
from modgrok.reproduce.nested import Numbers, Study, Tree
from modgrok.text import count, number


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Steps with each regularizer relative to the same optimizer without it (null: one of both does not grok), the
    settings that are best, and α_c of both for three budgets."""
    found = tuning.numbers(profile, runs)
    medians = {name: found["tuned_summary"][name]["median"] for name in found["tuned_summary"]}
    return {
        name: found[name] for name in ("modulus", "width", "seeds", "steps", "fractions", "budgets", "critical")
    } | {
        "trials": len(found["settings"]["GD"]),
        "ratios": {
            name: [None if a is None or b is None else a / b for a, b in zip(medians[name], medians[base], strict=True)]
            for name, base in REGULARIZED.items()
        },
        "best": {
            name: [None if i is None else found["settings"][name][i] for i in found["chosen"][name]]
            for name in found["settings"]
        },
    }


def draw(n: Numbers) -> Any:
    figure, (panels,) = style.grid(1, 2, height=3.7)
    left, right = panels
    for i, (name, ratios) in enumerate(n["ratios"].items()):
        look: Any = {"color": SERIES[i], "marker": MARKERS[i], "ls": LINES[i % len(LINES)]}
        left.plot(n["fractions"], np.array(ratios, float), label=f"{name} / {REGULARIZED[name]}", **look)
    left.axhline(1, color="black", lw=0.7, ls=":")
    left.set_yscale("log")
    for set_formatter in (left.yaxis.set_major_formatter, left.yaxis.set_minor_formatter):
        set_formatter(lambda value, _: number(value) if f"{value:.0e}"[0] in "125" else "")
    left.margins(x=0.06)
    left.set_xlabel("fraction of the pairs trained on, α")
    left.set_ylabel("steps with / without")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=6.5, ncols=3, loc="outside upper center")
    names = list(n["critical"])
    for i, budget in enumerate(n["budgets"]):
        middle, below, above = bars([n["critical"][name][i] for name in names])
        look = {"color": SERIES[i], "marker": MARKERS[i], "lw": 0, "elinewidth": 1, "capsize": 2}
        places = np.arange(len(names)) + 0.22 * (i - 1)
        right.errorbar(middle, places, xerr=[below, above], label=f"T = {count(budget)}", **look)
    right.set_yticks(range(len(names)), names)
    right.set_ylim(len(names) - 0.5, -0.5)
    right.set_ylabel("optimizer")
    right.set_xlabel(r"critical fraction $\alpha_c(T)$")
    right.legend(fontsize=6)
    style.letter(panels, ("time, at the best settings", "data, at the best settings"))
    style.note(
        figure,
        f"n + m mod {n['modulus']}, N = {n['width']}, {n['seeds']} seeds, {n['trials']} trials for each; "
        "(b) 95 % intervals, no point where all or none of the runs grok",
    )
    return figure


STUDY = Study(
    "regularizers",
    "What regularizers do",
    "Weight decay, dropout and batch norm beside the same optimizer without them, each at every share of the table "
    "with the settings that are fastest there of equally many that were tried. Left: the ratio of the steps; below one "
    "the regularizer is faster. Right: the critical fraction within three budgets.",
    numbers,
    tuning.experiments,
    draw,
    beyond=True,
)
