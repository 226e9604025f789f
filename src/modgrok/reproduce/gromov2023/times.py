"""Grokking times of several seeds: their median, the best of several trials, and curves of them."""

import math
from collections.abc import Sequence
from typing import Any

from modgrok.palette import GRAY, MARKERS, SERIES
from modgrok.reproduce.nested import Times, median_time
from modgrok.reproduce.table import Column, Table
from modgrok.text import Value, number

LINES = ("-", "--", ":", "-.")
TOP, ROW = 0.985, 0.03
"""Height of the first row of crosses, and from one to the next, as shares of the panel's."""


def summary(cells: Sequence[Times]) -> dict[str, list[Value]]:
    """Medians of cells, and the least and the largest time of the seeds that grok."""
    known = [[time for time in cell if time is not None] for cell in cells]
    return {
        "median": [median_time(cell) for cell in cells],
        "least": [min(cell, default=None) for cell in known],
        "most": [max(cell, default=None) for cell in known],
    }


def best_trial(cells: Sequence[Times]) -> int | None:
    """Which trial has the smallest median time among those in which most seeds grok; None where no run of any trial
    groks."""

    def order(trial: int) -> tuple[int, float]:
        middle = median_time(cells[trial])
        return sum(time is None for time in cells[trial]), math.inf if middle is None else middle

    if all(time is None for cell in cells for time in cell):
        return None
    return min(range(len(cells)), key=order)


def tuned_times(cells: Sequence[Times]) -> list[Value]:
    """The time of every seed under the trial that the other seeds choose."""
    seeds = range(len(cells[0]))
    found: list[Value] = []
    for seed in seeds:
        others = [[cell[other] for other in seeds if other != seed or len(seeds) == 1] for cell in cells]
        chosen = best_trial(others)
        found.append(None if chosen is None else cells[chosen][seed])
    return found


def first_times(cells: Sequence[Times]) -> list[Value]:
    """The time of every seed under the trial in which it groks first."""
    return [min((time for time in seed if time is not None), default=None) for seed in zip(*cells, strict=True)]


def draw_times(
    panel: Any, x: Sequence[int | float], found: dict[str, list[Value]], series: int, label: str, row: int | None = None
) -> None:
    """Medians with the range of the seeds; a cross on top where at least half of the seeds do not grok. Series differ
    in color, marker, line and the row of their crosses, so that none hides another."""
    color, marker = SERIES[series % len(SERIES)], MARKERS[series % len(MARKERS)]
    middle = [math.nan if value is None else value for value in found["median"]]
    panel.plot(x, middle, color=color, marker=marker, ls=LINES[series % len(LINES)], label=label)
    ends = [(at, low, high) for at, low, high in zip(x, found["least"], found["most"], strict=True) if low is not None]
    panel.vlines([at for at, _, _ in ends], [low for _, low, _ in ends], [high for *_, high in ends], color=color)
    never = [at for at, value in zip(x, found["median"], strict=True) if value is None]
    heights = [TOP - ROW * (series if row is None else row)] * len(never)
    panel.plot(never, heights, "x", color=color, markersize=3, transform=panel.get_xaxis_transform())


def time_curve(panel: Any, t: Table, x: str, series: int, label: str, row: int | None = None) -> None:
    """Medians against x with the range of the seeds; a cross on top where at least half of the seeds do not grok.
    Series differ in color, marker, line and the row of their crosses, so that none hides another."""
    color, marker = SERIES[series % len(SERIES)], MARKERS[series % len(MARKERS)]
    medians = t.median("grokked_at", x)
    middle = [math.nan if value is None else value for value in medians.y]
    panel.plot([*medians], middle, color=color, marker=marker, ls=LINES[series % len(LINES)], label=label)
    ends = {at: times for at, times in t.of("grokked_at", Column.known, x).items() if times}
    panel.vlines([*ends], [*map(min, ends.values())], [*map(max, ends.values())], color=color)
    never = [at for at, value in medians.items() if value is None]
    heights = [TOP - ROW * (series if row is None else row)] * len(never)
    panel.plot(never, heights, "x", color=color, markersize=3, transform=panel.get_xaxis_transform())


def step_axis(panel: Any, steps: int, rows: int) -> None:
    """A logarithmic axis up to so many steps, which a line marks; above it the rows of crosses."""
    low = min((value for line in panel.lines for value in _positive(line.get_ydata())), default=steps / 10) / 1.3
    share = TOP - ROW * (rows - 0.3)
    panel.set_yscale("log")
    panel.set_ylim(low, low * (steps / low) ** (1 / share))
    panel.axhline(steps, color=GRAY, lw=0.5)
    panel.yaxis.set_major_formatter(lambda value, _: number(value) if value <= steps else "")
    panel.yaxis.set_minor_formatter(
        lambda value, _: number(value) if f"{value:.0e}"[0] in "25" and value <= steps else ""
    )


def _positive(values: Any) -> list[float]:
    return [float(value) for value in values if value > 1]
