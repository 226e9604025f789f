"""Pictures of summaries: curves with their spread, and heat maps. Everything drawn is computed elsewhere."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.sweeps.summary import GROKKED, Cell, Summary

Kind = Literal["auto", "curves", "map"]
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b6b6b", "#a6761d")
"""Colours that colour-blind readers can tell apart (Okabe and Ito)."""
STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "modgrok",
}
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

SHARES = ("train_accuracy", "test_accuracy", GROKKED)
"""Outcomes between 0 and 1."""


def draw(summary: Summary, kind: Kind = "auto") -> Any:
    """A matplotlib figure of a summary: a heat map where both settings are numbers, curves otherwise."""
    if kind == "auto":
        several = summary.y is not None and len(summary.y_values) > 2 and _numeric(summary.y_values)
        kind = "map" if several and _numeric(summary.x_values) else "curves"
    if kind == "map" and summary.y is None:
        raise ModgrokError("A map needs two settings that vary; give --x and --y.")
    with style():
        return _map(summary) if kind == "map" else _curves(summary)


def save_figure(figure: Any, path: Path) -> None:
    """To a .png, .svg or .pdf file."""
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ModgrokError(f"A figure is written to a .png, .svg or .pdf file, not to {path.name}.")
    with style():
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=160)


def style() -> Any:
    """The context in which figures are made."""
    import matplotlib

    return matplotlib.rc_context(STYLE)


def new_figure(width: float = 5.2, height: float = 3.4, **arguments: Any) -> tuple[Any, Any]:
    """An empty figure and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(**arguments)


def _curves(summary: Summary) -> Any:
    figure, axes = new_figure()
    positions = np.array(summary.x_values, float) if _numeric(summary.x_values) else np.arange(len(summary.x_values))
    for i, (y_value, row) in enumerate(zip(summary.y_values, summary.cells, strict=True)):
        colour = PALETTE[i % len(PALETTE)]
        share = summary.outcome == GROKKED
        middle = np.array([cell.mean if share else cell.median for cell in row], float)
        style = ("-", "--", ":", "-.")[i // len(PALETTE) % 4]
        axes.plot(
            positions, middle, "o", ms=3.5, ls=style, color=colour, label=None if summary.y is None else str(y_value)
        )
        _mark_absences(axes, positions, middle, row, colour, 0.98 - 0.035 * i)
        if not share:
            low, high = (np.array([getattr(cell, end) for cell in row], float) for end in ("low", "high"))
            axes.fill_between(positions, low, high, color=colour, alpha=0.18, lw=0)
    if _numeric(summary.x_values):
        if _geometric(summary.x_values):
            axes.set_xscale("log")
    else:
        axes.set_xticks(positions, [str(value) for value in summary.x_values])
    finite = [cell.low for row in summary.cells for cell in row if cell.low is not None]
    if summary.outcome in SHARES:
        axes.set_ylim(-0.02, 1.02)
    elif finite and min(finite) > 0 and max(finite) > 20 * min(finite):
        axes.set_yscale("log")
    axes.set(xlabel=_words(summary.x), ylabel=_words(summary.outcome))
    axes.set_title(summary.title, loc="left", fontsize=10)
    for marker, label in (("o", "not all runs"), ("x", "no run")):
        if any(line.get_gid() == label for line in axes.lines):
            axes.plot([], [], marker, ms=3.5, mfc="white", color=PALETTE[6], label=label)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(title=None if summary.y is None else _words(summary.y), fontsize=8, title_fontsize=8)
    return figure


def _mark_absences(axes: Any, positions: Any, middle: Any, row: Sequence[Cell], colour: str, height: float) -> None:
    """Hollow points where only some of the runs have a value, crosses near the top where none has."""
    some = [0 < len(cell.values) < cell.ended for cell in row]
    none = [cell.ended > 0 and not cell.values for cell in row]
    if any(some):
        axes.plot(positions[some], middle[some], "o", ms=3.5, mfc="white", mec=colour, gid="not all runs")
    if any(none):
        heights = np.full(sum(none), height)
        axes.plot(positions[none], heights, "x", ms=4, color=colour, transform=axes.get_xaxis_transform(), gid="no run")


def _map(summary: Summary) -> Any:
    figure, axes = new_figure()
    axes.grid(False)
    means = np.array([[cell.mean for cell in row] for row in summary.cells], float)
    axes.set_facecolor("#eeeeee")
    image = axes.pcolormesh(means, cmap="viridis", rasterized=True)
    for name, values, set_ticks in (("x", summary.x_values, axes.set_xticks), ("y", summary.y_values, axes.set_yticks)):
        shown = range(0, len(values), -(-len(values) // 12))
        set_ticks(
            [i + 0.5 for i in shown], [f"{v:g}" if _numeric((v,)) else str(v) for v in (values[i] for i in shown)]
        )
        axes.tick_params(axis=name, length=0)
    figure.colorbar(image, ax=axes, label=_words(summary.outcome))
    axes.set(xlabel=_words(summary.x), ylabel=_words(summary.y or ""))
    axes.set_title(summary.title, loc="left", fontsize=10)
    return figure


def _numeric(values: tuple[Any, ...]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _geometric(values: tuple[Any, ...]) -> bool:
    numbers = np.array(values, float)
    if len(numbers) < 3 or (numbers <= 0).any():
        return False
    ratios = numbers[1:] / numbers[:-1]
    return bool(ratios.max() < 1.05 * ratios.min() and ratios.min() > 1.2)


def _words(name: str) -> str:
    return WORDS.get(name, name.replace("_", " "))
