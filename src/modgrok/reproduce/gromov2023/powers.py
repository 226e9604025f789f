"""Powers, roots and logarithms modulo p: what structure their tables have, and what is learned of them."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.palette import MARKERS, SERIES
from modgrok.reproduce.form import BEYOND, Ask, Table, study
from modgrok.reproduce.gromov2023.sizes import usual
from modgrok.text import percent

FRACTION = 0.8
NAMES = {
    "n^m": "n^m",
    "root(n+m)": "√(n + m)",
    "log(n*m)": "log(n·m)",
    "n^(1/m)": "m-th root of n",
    "log_n(m)": "log of m to base n",
}
EASY = [NAMES[name] for name in ("root(n+m)", "log(n*m)")]


def learned(run: Run) -> dict[str, Any]:
    table = run.task.table
    _answers, counts = np.unique(table[table >= 0], return_counts=True)
    best = np.nanmax(run.history["test_accuracy"])
    return {"structure": run.task.structure.kind, "commonest": counts.max() / counts.sum(), "best_test_accuracy": best}


powers = study(
    "powers",
    "Powers, roots and logarithms",
    "Functions that the paper names as an outlook, each with the verdict of the search for structure. The square root "
    "of a sum and the logarithm of a product are functions of a sum; n^m is a product of log n and m modulo p − 1, the "
    "m-th root of n and the logarithm of m to base n are quotients modulo p − 1. All have closed forms.",
    runs=lambda s: usual(
        s,
        name={name: {"task": f"discrete:{text}"} for text, name in NAMES.items()},
        modulus=[*s.power_moduli],
        fraction=FRACTION,
        steps=s.power_steps,
        evaluations=60,
        until=0,
    ),
    keep=learned,
    beyond=True,
)


@powers.figure(height=3.0)
def learned_and_not(t: Table, panel: Any) -> str:
    moduli = t.by("modulus")
    places = np.arange(len(NAMES))
    for i, ((p, some), color, marker) in enumerate(zip(moduli.items(), SERIES, MARKERS, strict=False)):
        cells = some.by("name").values()
        at = places + (i - (len(moduli) - 1) / 2) * 0.12
        values = [cell["best_test_accuracy"].average() for cell in cells]
        panel.plot(at, values, color=color, marker=marker, markersize=6, linestyle="", label=f"p = {p}")
        for place, cell in zip(at, cells, strict=True):
            panel.hlines(cell.first.commonest, place - 0.05, place + 0.05, color=color, linewidth=1)
    kinds = {name: ", ".join(some["structure"].distinct()).replace("_", " ") for name, some in t.by("name").items()}
    panel.set_xticks(places, [f"{name}\n{kind}" for name, kind in kinds.items()])
    panel.set(ylim=(-0.03, 1.05), ylabel="best test accuracy")
    panel.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    panel.set_title("learned, and the structure found in the table")
    return f"N = {t.one('width')}, α = {FRACTION}, AdamW; dashes: the commonest answer's share of the inputs"


@powers.claim(BEYOND)
def roots_and_logarithms(t: Table, ask: Ask) -> None:
    """The square root of a sum and the logarithm of a product are learned, as other functions of them are."""
    best = {name: t.where(name=name)["best_test_accuracy"] for name in EASY}
    ask.that(
        f"from {FRACTION} of the inputs both are learned to a test accuracy of at least 99 %, at every p and seed",
        min(map(min, best.values())) >= 0.99,
    )
    ask.show({f"best test accuracy, {name}": values for name, values in best.items()}, percent, "run")
    ask.show({"p": ", ".join(map(str, t["modulus"].distinct()))})


@powers.claim(BEYOND)
def structure_predicts(t: Table, ask: Ask) -> None:
    """What has a structure F(f1(n) ∘ f2(m)) is learned: also powers, roots and logarithms, which are products and
    quotients modulo p − 1."""
    cells = t.by("name", "modulus")
    means = {key: cell["best_test_accuracy"].average() for key, cell in cells.items()}
    poor = [f"{name} modulo {p}" for (name, p), mean in means.items() if mean < 0.99]
    ask.that(
        "every table has a known structure",
        all(cell.first.structure not in ("none", "unknown") for cell in cells.values()),
    )
    ask.that(
        "the best test accuracy of each at every p is at least 99 %, on average over seeds",
        not poor,
        f"not {', '.join(poor)}" if poor else None,
    )
    for (name, p), cell in cells.items():
        kind = cell.first.structure.replace("_", " ")
        both = f"{percent(means[name, p])}, {percent(cell.first.commonest)}"
        ask.show({f"{name} modulo {p} ({kind}): best test accuracy, commonest answer": both})
