"""Data and width: times of tuned optimizers, and accuracy against width, also with other data and other numbers of
epochs (section 4.2; Fig. 3)."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.experiments import Run
from modgrok.measures.samples import order_chance
from modgrok.networks import score_table
from modgrok.palette import MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.figures import LINES, legend_above, seeds, step_axis, time_curve
from modgrok.reproduce.form import Ask, Column, Line, Runs, Sizes, Table, joined, runs, study
from modgrok.reproduce.gromov2023.search import searched, tuned
from modgrok.tasks import Task, task
from modgrok.text import count, number, percent, spread

AFTER = 500
"""Steps that the networks of figure 3b train on after grokking."""
TRAINED = ("GD", "AdamW")
WRITTEN_DOWN = {"random phases": "black", "exact form": "#999999"}
"""Colors of closed forms; optimizers have those of their times."""

Rows = Iterator[dict[str, Any]]


def trained_widths(s: Sizes) -> Runs:
    return joined(
        runs(make(s.sweep_modulus, width, s.width_fraction), until=AFTER, seed=range(s.sweep_seeds)).tag(series=series)
        for series, make in (("GD", s.descent.gd), ("AdamW", s.adaptive.adamw))
        for width in s.widths
    )


def time_or_accuracy(run: Run) -> dict[str, Any]:
    """When a trial groks, and how well a network of some width answers at last."""
    result: Any = run.result
    if run.experiment.until == AFTER:
        return {"accuracy": result["test_accuracy"]}
    return {"grokked_at": result["grokked_at"]}


def closed_widths(s: Sizes) -> Rows:
    """Random phases of several widths, and the exact form with 1, 2, 4, … and all frequencies."""
    addition, most = task("n + m", s.sweep_modulus), s.sweep_modulus // 2

    def scored(series: str, **asked: Any) -> dict[str, Any]:
        network = solve(addition, **asked)
        score = score_table(network, addition.table)
        return at_width(series, addition, network.width) | {"accuracy": score.accuracy, "loss": score.loss}

    for width in s.closed_widths:
        for seed in range(s.closed_seeds):
            yield scored("random phases", form="waves", width=width, seed=seed) | {"seed": seed}
    for k in [*(1 << i for i in range(most.bit_length()) if 1 << i < most), most]:
        yield scored("exact form", form="exact", frequencies=range(1, k + 1))


def at_width(series: str, learned: Task, width: int) -> dict[str, Any]:
    return {"series": series, "task": learned.name, "modulus": learned.modulus, "width": width}


data_and_width = study(
    "fig3",
    "Data and width",
    "Left: how long it takes to generalize with a growing share of the table, for eight optimizers, each at every "
    "share with the settings that are fastest there of equally many that were tried. Right: accuracy against width of "
    "trained networks, of the paper's random phases (on all pairs), and of the exact form, which is right at any width "
    "from five neurons on.",
    runs=lambda s: searched(s) + trained_widths(s),
    keep=time_or_accuracy,
    rows=closed_widths,
)


@data_and_width.figure("grokking time, every optimizer tuned", "accuracy and width", height=3.6, width_ratios=(1.25, 1))
def times_and_widths(t: Table, left: Any, right: Any) -> str:
    trials, by_width = t.where(lambda r: r.way), t.where(lambda r: r.series)
    steps, some = trials.one("steps"), by_width.where(series="GD")
    ways = tuned(trials).by("way")
    for i, (way, cell) in enumerate(ways.items()):
        time_curve(left, cell, "fraction", i, way)
    step_axis(left, steps, len(ways))
    left.margins(x=0.06)
    left.set(xlabel="fraction of the pairs trained on, α", ylabel="steps until test accuracy ≥ 99 %")
    draw_by_width(right, by_width, _mean_and_range, {way: SERIES[i] for i, way in enumerate(ways)} | WRITTEN_DOWN)
    right.set_ylabel("accuracy")
    right.legend(loc="lower right")
    legend_above(left.figure, [left], 4)
    times = f"N = {trials.one('width')}, median and range of {seeds(trials)}, × most do not grok within {count(steps)}"
    accuracy = f"α = {some.one('fraction')}, mean and range of {seeds(some)}"
    return f"n + m mod {t.one('modulus')}; (a) {times} steps; (b) {accuracy}"


def _mean_and_range(cell: Table) -> tuple[float, float, float]:
    accuracy = cell["accuracy"]
    return accuracy.average(), min(accuracy), max(accuracy)


def draw_by_width(
    panel: Any,
    t: Table,
    summary: Callable[[Table], tuple[float, float, float]],
    colors: Mapping[str, str],
    lines: Sequence[str] = LINES,
) -> None:
    """Means with their ranges against the width, each series in its color."""
    for i, (label, part) in enumerate(t.by("series").items()):
        color = colors[label]
        widths, found = part["width"].distinct(), map(summary, part.by("width").values())
        middle, least, most = zip(*found, strict=True)
        look: Any = {"color": color, "marker": MARKERS[i], "ls": lines[i % len(lines)], "fillstyle": "none"}
        panel.plot(widths, middle, label=label, **look)
        panel.fill_between(widths, least, most, color=color, alpha=0.15, linewidth=0)
    panel.margins(x=0.08)
    width_axis(panel)


def width_axis(panel: Any) -> None:
    panel.set_xscale("log", base=2)
    panel.xaxis.set_major_formatter(lambda width, _: number(width))
    panel.set(xlabel="width N", ylim=(-0.03, 1.03))


def width_for(widths: Sequence[int], accuracy: Sequence[float], level: float) -> float:
    """From where on accuracy keeps a level, interpolated in the logarithm of the width; infinite where it does not."""
    i = max((i for i, value in enumerate(accuracy) if value < level), default=-1)
    if i == -1:
        return float(widths[0])
    if i + 1 == len(widths):
        return math.inf
    share = (level - accuracy[i]) / (accuracy[i + 1] - accuracy[i])
    return float(widths[i] * (widths[i + 1] / widths[i]) ** share)


def _rises(accuracy: Line) -> bool:
    """Whether accuracy never drops by more than two points."""
    return all(b >= a - 0.02 for a, b in pairwise(accuracy.y))


@data_and_width.claim("3.1, 4.2 (Fig. 3b)")
def width(t: Table, ask: Ask) -> None:
    """Accuracy of the closed form rises with width, and its loss falls."""
    draws = t.where(series="random phases")
    accuracy, loss = (draws.of(name, Column.average, "width") for name in ("accuracy", "loss"))
    ends = f"{number(loss.y[0])} → {number(loss.y[-1])}"
    ask.that("mean loss never rises with the width", not any(b > a for a, b in pairwise(loss.y)), ends)
    ask.that("mean accuracy never drops by more than 2 points", _rises(accuracy))
    ask.that("it ends at 99.9 % or more", accuracy.y[-1] >= 0.999)
    ask.show({f"N = {width}": cell["accuracy"] for width, cell in draws.by("width").items()}, percent)


@data_and_width.claim("4.2 (Fig. 3b)")
def trained_width(t: Table, ask: Ask) -> None:
    """Accuracy of trained networks rises with width too."""
    cells = {series: t.where(series=series) for series in TRAINED}
    means = [cell.of("accuracy", Column.average, "width") for cell in cells.values()]
    poor = all(accuracy.y[0] < 0.5 for accuracy in means)
    ask.that("mean test accuracy of GD and of AdamW is below 50 % at the smallest width", poor)
    ask.that("at the largest it is 99 % or more", all(accuracy.y[-1] >= 0.99 for accuracy in means))
    ask.that("at no larger width is it more than 2 points lower", all(map(_rises, means)))
    for series, cell in cells.items():
        ask.show({f"{series}, N = {width}": some["accuracy"] for width, some in cell.by("width").items()}, percent)


@data_and_width.claim("4.2 (Fig. 3b)")
def trained_faster(t: Table, ask: Ask) -> None:
    """Trained networks are right at a smaller width than random phases, since training tunes phases."""
    widths = {
        series: [width_for(seed["width"], seed["accuracy"], 0.99) for seed in cell.by("seed").values()]
        for series, cell in t.where(lambda r: r.series).by("series").items()
    }
    ask.that(
        "every seed of GD and of AdamW reaches 99 % at a smaller width, interpolated between measured ones, than every "
        "draw of random phases",
        all(max(widths[name]) < min(widths["random phases"]) for name in TRAINED),
    )
    ask.note(f"Chosen phases do better than both: {number(widths['exact form'][0])} neurons.")
    for name, found in widths.items():
        ask.show({f"width for 99 %: {name}": [None if math.isinf(width) else round(width) for width in found]})


def accuracy_on_the_way(run: Run) -> dict[str, Any]:
    """Test accuracy after a tenth of the steps, and at the end."""
    step, accuracy = run.history["step"], run.history["test_accuracy"]
    return {"early": np.interp(step[-1] / 10, step, accuracy), "accuracy": accuracy[-1]}


width_curves = study(
    "width_curves",
    "Accuracy against width, data and epochs",
    "Test accuracy of networks trained by AdamW against their width, after all steps and after a tenth of them, with "
    "little and with much data.",
    runs=lambda s: runs(
        s.adaptive.adamw(s.sweep_modulus, s.sweep_width, s.width_fraction),
        width=[*s.curve_widths],
        fraction=[*s.curve_fractions],
        seed=range(s.curve_seeds),
    ),
    keep=accuracy_on_the_way,
)


@width_curves.figure(beyond=True, width=style.COLUMN, height=2.9)
def curves_by_width(t: Table, panel: Any) -> str:
    for color, (fraction, cell) in zip(SERIES, t.by("fraction").items(), strict=False):
        for name, line, label in (("accuracy", "-", f"α = {fraction}"), ("early", ":", None)):
            found = cell.of(name, Column.average, "width")
            panel.plot([*found], found.y, color=color, ls=line, marker="o", fillstyle="none", label=label)
    width_axis(panel)
    panel.set_ylabel("test accuracy")
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
