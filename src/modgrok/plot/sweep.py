"""An outcome against one or two settings of a sweep: curves with their spread, or a map."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.sweeps.summary import GROKKED, Cell, Summary, summarize
from modgrok.experiments.sweeps.table import Table
from modgrok.palette import EMPTY, GRAY, SERIES
from modgrok.plot import style
from modgrok.plot.style import Axes
from modgrok.text import abridged, number

Kind = Literal["auto", "curves", "map"]
SHARES = ("train_accuracy", "test_accuracy", GROKKED)
"""Outcomes between 0 and 1."""
WORDS = {
    "fraction": "training fraction α",
    "modulus": "modulus p",
    "width": "width N",
    "lr": "learning rate",
    "grokked_at": "step of grokking",
    "memorized_at": "step of memorization",
    GROKKED: "share of runs that grok",
}
"""Names on axes; others are the names of the settings."""
REPETITIONS = {"seed": "seeds", "split_seed": "splits"}
ABSENCES = {
    "grokked_at": ("some runs do not grok", "no run groks"),
    "memorized_at": ("some runs do not memorize", "no run memorizes"),
}
"""What hollow points and crosses say of an outcome."""
MOST_TICKS = 12
TICK_LETTERS = 13
"""Letters of an axis's labels in an inch of its column of the figure."""


def sweep(
    data: Table | Summary,
    kind: Kind = "auto",
    *,
    outcome: str = "grokked_at",
    x: str | None = None,
    y: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draws an outcome of a sweep's table over the settings x and y, by default the first one or two that vary, except
    seeds. It is a map if both have several numeric values, and curves otherwise."""
    if not isinstance(data, Summary | Table):
        raise ModgrokError(f"sweep draws the table that modgrok.sweep returns, not {abridged(data)}.")
    summary = data if isinstance(data, Summary) else summarize(data, outcome, x, y)
    if kind == "auto":
        several = summary.y is not None and len(summary.y_values) > 2 and numeric(summary.y_values)
        kind = "map" if several and numeric(summary.x_values) else "curves"
    if kind == "map" and summary.y is None:
        raise ModgrokError("A map needs two settings that vary; give x and y.")
    with style.axes(ax) as panel:
        (_map if kind == "map" else _curves)(panel, summary)
        panel.set_xlabel(words(summary.x))
        panel.set_title(summary.title)
    return panel


def words(name: str) -> str:
    """A setting or an outcome as axes call it."""
    return WORDS.get(name, name.replace("_", " "))


def numeric(values: Sequence[Any]) -> bool:
    """Whether all values are numbers; others are categories."""
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def tick(value: Any) -> str:
    """A value of a setting as an axis or a legend shows it."""
    return number(value, 4) if numeric((value,)) else str(value)


def places(ax: "Axes", axis: Literal["x", "y"], values: Sequence[Any]) -> None:
    """Labels in the middle of the rows or columns of a map, as many as can be read."""
    labels, most = [tick(value) for value in values], MOST_TICKS
    if axis == "x" and (spec := ax.get_subplotspec()) is not None:
        width = ax.figure.get_size_inches()[0] / spec.get_gridspec().ncols  # type: ignore[union-attr]
        most = min(most, max(1, int(TICK_LETTERS * width / (max(map(len, labels)) + 1))))
    shown = range(0, len(values), -(-len(values) // most))
    set_ticks = ax.set_xticks if axis == "x" else ax.set_yticks
    set_ticks([i + 0.5 for i in shown], [labels[i] for i in shown])
    ax.tick_params(axis=axis, length=0)


def geometric(values: Sequence[Any]) -> bool:
    """Whether values go up at about equal ratios."""
    found = np.array(values, float)
    if len(found) < 3 or (found <= 0).any():
        return False
    ratios = found[1:] / found[:-1]
    return bool(ratios.max() < 1.05 * ratios.min() and ratios.min() > 1.2)


def _curves(ax: "Axes", summary: Summary) -> None:
    ordered = numeric(summary.x_values)
    count = len(summary.y_values)
    for i, (y_value, row) in enumerate(zip(summary.y_values, summary.cells, strict=True)):
        color, line = SERIES[i % len(SERIES)], ("-", "--", ":", "-.")[i // len(SERIES) % 4]
        label = None if summary.y is None else tick(y_value)
        # Categories have no order: points stand beside each other at their place, and nothing joins them.
        aside = 0.0 if ordered else 0.5 * ((i + 0.5) / count - 0.5)
        at = np.array(summary.x_values, float) if ordered else np.arange(len(summary.x_values)) + aside
        middle, low, high = _middles(summary, row), *(_array(row, end) for end in ("low", "high"))
        if summary.outcome != GROKKED:
            spread = ax.fill_between if ordered else ax.vlines
            spread(at, low, high, color=color, alpha=0.18 if ordered else 0.4, lw=0 if ordered else 2)
        ax.plot(at, middle, "o", ls=line if ordered else "none", color=color, label=label)
        _mark_absences(ax, at, middle, row, color, 0.98 - 0.035 * i)
    if not ordered:
        ax.set_xticks(range(len(summary.x_values)), [tick(value) for value in summary.x_values])
        ax.set_xlim(-0.6, len(summary.x_values) - 0.4)
    elif geometric(summary.x_values):
        ax.set_xscale("log")
        shown = summary.x_values[:: -(-len(summary.x_values) // MOST_TICKS)]
        ax.set_xticks(shown, [tick(value) for value in shown])
        ax.set_xticks([], minor=True)
    finite = [cell.low for row in summary.cells for cell in row if cell.low is not None]
    if summary.outcome in SHARES:
        ax.set_ylim(-0.03, 1.03)
    elif finite and min(finite) > 0 and max(finite) > 20 * min(finite):
        ax.set_yscale("log")
    elif summary.outcome.endswith(("_at", "_after")):
        ax.locator_params("y", integer=True)
    ax.set_ylabel(words(summary.outcome))
    _legend(ax, summary)


def _mark_absences(ax: "Axes", at: Any, middle: Any, row: Sequence[Cell], color: str, height: float) -> None:
    """Hollow points where only some of the runs have a value, crosses near the top where none has."""
    some = [0 < len(cell.values) < cell.ended for cell in row]
    none = [cell.ended > 0 and not cell.values for cell in row]
    if any(some):
        ax.plot(at[some], middle[some], "o", mfc="white", mec=color, gid="some")
    if any(none):
        heights = np.full(sum(none), height)
        ax.plot(at[none], heights, "x", color=color, transform=ax.get_xaxis_transform(), gid="none")


def _legend(ax: "Axes", summary: Summary) -> None:
    labels = ABSENCES.get(summary.outcome, ("some runs have no value", "no run has a value"))
    for marker, which, label in zip("ox", ("some", "none"), labels, strict=True):
        if any(line.get_gid() == which for line in ax.lines):
            ax.plot([], [], marker, mfc="white", color=GRAY, label=label)
    handles, names = ax.get_legend_handles_labels()
    if summary.outcome != GROKKED and any(cell.low != cell.high for row in summary.cells for cell in row):
        from matplotlib.patches import Patch

        handles.append(Patch(color=GRAY, alpha=0.18, lw=0))
        names.append(f"range over {pooled(summary)}, line: median")
    if handles:
        ax.legend(handles, names, title=None if summary.y is None else words(summary.y))


def pooled(summary: Summary) -> str:
    """What bands and medians are taken over."""
    return " and ".join(REPETITIONS.get(name, words(name)) for name in summary.pooled) or "runs"


def _map(ax: "Axes", summary: Summary) -> None:
    values = np.stack([_middles(summary, row) for row in summary.cells])
    ax.set_facecolor(EMPTY)
    limits: Any = {"vmin": 0, "vmax": 1} if summary.outcome in SHARES else {}
    image = ax.pcolormesh(values, rasterized=True, **limits)
    places(ax, "x", summary.x_values)
    places(ax, "y", summary.y_values)
    over = "" if not summary.pooled or summary.outcome == GROKKED else f" (median over {pooled(summary)})"
    ax.figure.colorbar(image, ax=ax, label=words(summary.outcome) + over)
    if np.isnan(values).any():
        unfinished = any(not cell.ended for row in summary.cells for cell in row)
        absent = ABSENCES.get(summary.outcome, ("", "no run has a value"))[1]
        style.gray_legend(ax, f"{absent}, or none has ended" if unfinished else absent)
    ax.set_ylabel(words(summary.y or ""))


def _middles(summary: Summary, row: Sequence[Cell]) -> Any:
    """Medians; of the share of runs that grok, which is a mean, the mean."""
    return _array(row, "mean" if summary.outcome == GROKKED else "median")


def _array(row: Sequence[Cell], name: str) -> Any:
    return np.array([getattr(cell, name) for cell in row], float)
