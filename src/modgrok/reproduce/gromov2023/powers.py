"""Powers, roots and logarithms modulo p: what structure their tables have, and what is learnt of them."""

from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.palette import MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, mean
from modgrok.tasks.families.discrete import FUNCTIONS

FRACTION = 0.8
NAMES = {
    "n^m": "n^m",
    "root(n+m)": "√(n + m)",
    "log(n*m)": "log(n·m)",
    "n^(1/m)": "m-th root of n",
    "log_n(m)": "log of m to base n",
}


def experiments(profile: Profile) -> dict[str, list[list[Experiment]]]:
    """Every function at every modulus under AdamW, from four fifths of the inputs that occur."""
    further = profile.further
    more: Any = {"steps": further.power_steps, "evaluations": 60, "until": 0}
    return {
        name: [further.adapt(f"discrete:{name}", FRACTION, modulus=p, **more) for p in further.power_moduli]
        for name in FUNCTIONS
    }


def numbers(profile: Profile, runs: dict[str, list[list[Run]]]) -> Numbers:
    further = profile.further
    return {
        "moduli": further.power_moduli,
        "width": further.width,
        "fraction": FRACTION,
        "functions": {name: [_cell(cell) for cell in cells] for name, cells in runs.items()},
    }


def _cell(runs: list[Run]) -> dict[str, Any]:
    learnt = runs[0].task
    structure = learnt.structure
    _answers, counts = np.unique(learnt.table[learnt.table >= 0], return_counts=True)
    return {
        "structure": structure.kind,
        "reason": structure.reason,
        "inputs": int(counts.sum()),
        "commonest": counts.max() / counts.sum(),
        "train_accuracy": [run.history["train_accuracy"][-1] for run in runs],
        "best_test_accuracy": [np.nanmax(run.history["test_accuracy"]) for run in runs],
        "grokked_at": [dict(run.result or {})["grokked_at"] for run in runs],
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(1, 1, height=3.0)
    panel = panels[0, 0]
    places = np.arange(len(n["functions"]))
    for i, (p, color, marker) in enumerate(zip(n["moduli"], SERIES, MARKERS, strict=False)):
        cells = [function[i] for function in n["functions"].values()]
        shift = (i - (len(n["moduli"]) - 1) / 2) * 0.12
        values = [mean(cell["best_test_accuracy"]) for cell in cells]
        panel.plot(places + shift, values, color=color, marker=marker, markersize=6, linestyle="", label=f"p = {p}")
        for place, cell in zip(places + shift, cells, strict=True):
            panel.hlines(cell["commonest"], place - 0.05, place + 0.05, color=color, linewidth=1)
    kinds = [", ".join(dict.fromkeys(cell["structure"] for cell in cells)) for cells in n["functions"].values()]
    labels = [f"{NAMES[name]}\n{kind.replace('_', ' ')}" for name, kind in zip(n["functions"], kinds, strict=True)]
    panel.set_xticks(places, labels)
    panel.set_ylim(-0.03, 1.05)
    panel.set_ylabel("best test accuracy")
    panel.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    panel.set_title("learnt, and the structure found in the table")
    style.note(
        figure, f"N = {n['width']}, α = {n['fraction']}, AdamW; dashes: the commonest answer's share of the inputs"
    )
    return figure


STUDY = Study(
    "powers",
    "Powers, roots and logarithms",
    "Functions that the paper names as an outlook, each with the verdict of the search for structure: F(f1(n) + f2(m)) "
    "or F(g1(n)·g2(m)), or none of these. The square root of a sum and the logarithm of a product have closed forms; "
    "n^m is F(log n · m), a product modulo p − 1, for which none is known.",
    numbers,
    experiments,
    draw,
    beyond=True,
)
