"""Section 4.2: accuracy against width, as Fig. 3b has it, with other data and other numbers of epochs."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.samples import order_chance
from modgrok.palette import SERIES
from modgrok.plot import style
from modgrok.reproduce.figures import seeds
from modgrok.reproduce.form import Ask, Column, Runs, Sizes, Table, runs, study
from modgrok.text import count, number, percent, spread


def narrow_networks(s: Sizes) -> Runs:
    """AdamW at widths and fractions around those of figure 3b."""
    made = [s.adaptive.adamw(s.sweep_modulus, width, a) for width in s.curve_widths for a in s.curve_fractions]
    return sum((runs(settings, seed=range(s.curve_seeds)) for settings in made), Runs([]))


def accuracy_on_the_way(run: Run) -> dict[str, Any]:
    """Test accuracy after a tenth of the steps, and at the end."""
    step, accuracy = run.history["step"], run.history["test_accuracy"]
    return {"early": np.interp(step[-1] / 10, step, accuracy), "accuracy": accuracy[-1]}


width_curves = study(
    "width_curves",
    "Accuracy against width, data and epochs",
    "Test accuracy of networks trained by AdamW against their width, after all steps and after a tenth of them, with "
    "little and with much data.",
    runs=narrow_networks,
    keep=accuracy_on_the_way,
)


@width_curves.figure(beyond=True, width=style.COLUMN, height=2.9)
def curves_by_width(t: Table, panel: Any) -> str:
    for color, (fraction, cell) in zip(SERIES, t.by("fraction").items(), strict=False):
        for name, line in (("accuracy", "-"), ("early", ":")):
            found = cell.of(name, Column.average, "width")
            label = f"α = {fraction}" if name == "accuracy" else None
            panel.plot([*found], found.y, color=color, ls=line, marker="o", fillstyle="none", label=label)
    panel.set_xscale("log", base=2)
    panel.xaxis.set_major_formatter(lambda width, _: number(width))
    panel.set(xlabel="width N", ylabel="test accuracy", ylim=(-0.03, 1.03))
    panel.legend(loc="lower right")
    steps = t.one("steps")
    told = f"full lines {count(steps)} steps, dotted {count(steps // 10)}"
    return f"n + m mod {t.one('modulus')}, AdamW; {told}; mean of {seeds(t)}"


@width_curves.claim("4.2 (Fig. 3b)")
def curves_depend(t: Table, ask: Ask) -> None:
    """The curve of accuracy against width also depends on the amount of data and on the number of epochs."""
    cells = t.by("width", "fraction")
    little, much = min(t["fraction"]), max(t["fraction"])
    data = {
        f"with α = {little} than with {much}, N = {N}": (cells[N, little]["accuracy"], cells[N, much]["accuracy"])
        for N in t["width"].distinct()
    }
    epochs = {
        f"after a tenth of the steps than after all, N = {N}, α = {a}": (cell["early"], cell["accuracy"])
        for (N, a), cell in cells.items()
    }
    for some in (data, epochs):
        what, (lower, higher) = min(some.items(), key=lambda pair: order_chance(*pair[1]))
        ask.lower(f"accuracy is lower {what}, where this is clearest", lower, higher, len(some))
        ask.that(f"it is at least 5 points lower {what}", np.median(higher) - np.median(lower) >= 0.05)
    for (width, a), cell in cells.items():
        both = f"{spread(cell['early'], percent)} → {spread(cell['accuracy'], percent)}"
        ask.show({f"N = {width}, α = {a}: after a tenth of the steps → at the end": both})
