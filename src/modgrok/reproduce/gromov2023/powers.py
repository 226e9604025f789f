"""Powers, roots and logarithms modulo p: what structure their tables have, and what is learnt of them."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.palette import MARKERS, SERIES
from modgrok.reproduce.claim import BEYOND, Ask
from modgrok.reproduce.figures import panels
from modgrok.reproduce.gromov2023.sizes import usual
from modgrok.reproduce.study import study
from modgrok.reproduce.table import Table
from modgrok.text import percent

FRACTION = 0.8
NAMES = {
    "n^m": "n^m",
    "root(n+m)": "√(n + m)",
    "log(n*m)": "log(n·m)",
    "n^(1/m)": "m-th root of n",
    "log_n(m)": "log of m to base n",
}
HARD = [NAMES[name] for name in ("n^m", "n^(1/m)", "log_n(m)")]


def learnt(run: Run) -> dict[str, Any]:
    table = run.task.table
    _answers, counts = np.unique(table[table >= 0], return_counts=True)
    best = np.nanmax(run.history["test_accuracy"])
    return {"structure": run.task.structure.kind, "commonest": counts.max() / counts.sum(), "best_test_accuracy": best}


powers = study(
    "powers",
    "Powers, roots and logarithms",
    "Functions that the paper names as an outlook, each with the verdict of the search for structure: F(f1(n) + f2(m)) "
    "or F(g1(n)·g2(m)), or none of these. The square root of a sum and the logarithm of a product have closed forms; "
    "n^m is F(log n · m), a product modulo p − 1, for which none is known.",
    runs=lambda s: usual(
        s,
        name={name: {"task": f"discrete:{text}"} for text, name in NAMES.items()},
        modulus=[*s.power_moduli],
        fraction=FRACTION,
        steps=s.power_steps,
        evaluations=60,
        until=0,
    ),
    keep=learnt,
    beyond=True,
)


@powers.figure()
def learnt_and_not(t: Table) -> Any:
    note = f"N = {t.one('width')}, α = {FRACTION}, AdamW; dashes: the commonest answer's share of the inputs"
    figure, (panel,) = panels(height=3.0, note=note)
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
    panel.set_title("learnt, and the structure found in the table")
    return figure


@powers.claim(BEYOND, "best test accuracy ≥ 99 % in every seed and at every p")
def roots_and_logarithms(t: Table, ask: Ask) -> None:
    """The square root of a sum and the logarithm of a product are learnt, as other functions of them are."""
    best = {name: t.where(name=name)["best_test_accuracy"] for name in NAMES.values() if name not in HARD}
    ask.yes("Both are learnt, from four fifths of the inputs for which they exist.")
    ask.fault("Not both are learnt.", min(map(min, best.values())) < 0.99)
    ask.show({f"best test accuracy, {name}": values for name, values in best.items()}, percent, "run")
    ask.show({"p": ", ".join(map(str, t["modulus"].distinct()))})


@powers.claim(
    BEYOND,
    "n^m, the m-th root of n and the logarithm of m to base n: best test accuracy, mean over seeds, at most 10 points "
    "above the commonest answer's share at every p; known structures: ≥ 99 %",
)
def structure_predicts(t: Table, ask: Ask) -> None:
    """What has a structure F(f1(n) + f2(m)) or F(g1(n)·g2(m)) modulo p is learnt; powers, roots and logarithms that
    have none are not."""
    cells = t.by("name", "modulus").items()
    means = {key: cell["best_test_accuracy"].average() for key, cell in cells}
    known = [key for key, cell in cells if cell.first.structure not in ("none", "unknown")]
    learnt = sorted(key for key, cell in cells if key[0] in HARD and means[key] > cell.first.commonest + 0.1)
    said = [f"{name} modulo {p} ({percent(means[name, p], 0)})" for name, p in learnt]
    fully = [f"{name} modulo {p}" for name, p in learnt if means[name, p] >= 0.99]
    ask.yes("Tables without such a structure are learnt by heart and not generalized.")
    ask.fault(
        f"Tables in which no such structure is found are learnt in part or whole: {', '.join(said)}. n^m is F(log n · "
        "m), a product modulo p − 1, where the search does not look.",
        learnt,
    )
    ask.fault(
        "Not every table with a known structure is learnt.", not learnt and any(means[key] < 0.99 for key in known)
    )
    for (name, p), cell in cells:
        kind = cell.first.structure.replace("_", " ")
        both = f"{percent(means[name, p])}, {percent(cell.first.commonest)}"
        ask.show({f"{name} modulo {p} ({kind}): best test accuracy, commonest answer": both})
    ask.show({"learnt wholly": ", ".join(fully)} if fully else {})
