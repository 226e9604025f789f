"""What the figures of several papers have in common: panels with their note, times, searches, maps."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from modgrok.palette import GRAY, MARKERS, SERIES, TEST, TRAIN
from modgrok.plot import style
from modgrok.plot.phase_diagram import PHASES, PhaseDiagram, phase_diagram
from modgrok.reproduce.table import Column, Row, Table
from modgrok.text import count, number

LINES = ("-", "--", ":", "-.")
TOP, ROW = 0.985, 0.03
"""Height of the first row of crosses, and from one to the next, as shares of the panel's."""


def panels(
    *titles: str,
    rows: int = 1,
    columns: int = 0,
    width: float = style.PAGE,
    height: float = 2.8,
    note: str = "",
    **more: Any,
) -> tuple[Any, Sequence[Any]]:
    """A figure with a panel for each title, lettered where there are several, or with so many columns of panels without
    titles, and a note below."""
    figure, grid = style.grid(rows, columns or max(1, len(titles) // rows), width, height, **more)
    if len(titles) > 1:
        style.letter(grid.flat, titles)
    if note:
        style.note(figure, note)
    return figure, list(grid.flat)


def legend_above(figure: Any, shown: Sequence[Any], columns: int) -> None:
    """One legend of panels, above them all."""
    pairs = [panel.get_legend_handles_labels() for panel in shown]
    found = {label: handle for handles, labels in pairs for handle, label in zip(handles, labels, strict=True)}
    figure.legend(found.values(), found, fontsize=6.5, ncols=columns, loc="outside upper center")


def seeds(t: Table) -> str:
    """How many seeds a table has, in words."""
    return count(t.seeds, "seed")


def modular(t: Table) -> str:
    """The task of a table, such as n + m mod 113."""
    return f"{t.one('task')} mod {t.one('modulus')}"


def seed_look(seed: int, label: str | None = None, faint: float = 0.4) -> dict[str, Any]:
    """Seed 0 bold and in the legend, all others faint."""
    return {"alpha": faint, "linewidth": 0.8} if seed else {"alpha": 1, "linewidth": 1.3, "label": label}


def mark_events(panel: Any, row: Row, named: bool) -> None:
    """When a run memorized and when it grokked, named or not."""
    for name, side in (("memorized", "right"), ("grokked", "left")):
        style.mark(panel, row[f"{name}_at"], name if named else "", side)


def times(panel: Any, t: Table, x: str, labels: Sequence[str | None] = (None, None, None)) -> None:
    """Steps to 99 % of the training set and of the test set, a mark for each run; crosses where some seed does not get
    there within the steps."""
    for column, color, marker, label in (
        ("memorized_at", TRAIN, MARKERS[1], labels[0]),
        ("grokked_at", TEST, MARKERS[0], labels[1]),
    ):
        known = [row for row in t if row[column] is not None]
        panel.scatter([r[x] for r in known], [r[column] for r in known], color=color, marker=marker, s=14, label=label)
    never = [value for value, cell in t.by(x).items() if not cell["grokked_at"].whole()]
    panel.scatter(never, [t.one("steps")] * len(never), color=TEST, marker="x", s=18, label=labels[2])
    panel.set(yscale="log", ylabel="steps to 99 %")


def phase_map(
    panel: Any, t: Table, x: tuple[str, str], y: tuple[str, str], phases: Mapping[str, str] = PHASES
) -> PhaseDiagram:
    """The column `phase` against two others, each with its label; the legend is for the figure to draw."""
    rows = tuple(map(tuple, t.grid(y[0], x[0], lambda cell: cell.first.phase)))
    diagram = PhaseDiagram(x[1], y[1], tuple(t[x[0]].distinct()), tuple(t[y[0]].distinct()), rows)
    phase_diagram(diagram, ax=panel, phases=phases)
    panel.get_legend().remove()
    return diagram


def series_look(series: int) -> dict[str, Any]:
    """Color, marker and line by which series are told apart."""
    look = {"color": SERIES, "marker": MARKERS, "ls": LINES}
    return {name: values[series % len(values)] for name, values in look.items()}


def time_curve(panel: Any, t: Table, x: str, series: int, label: str, row: int | None = None) -> None:
    """Medians against x with the range of the seeds; a cross alone, on top, where at least half of them do not grok.
    Series differ in color, marker, line and the row of their crosses, so that none hides another."""
    look = series_look(series)
    medians = t.median("grokked_at", x)
    middle = [math.nan if value is None else value for value in medians.y]
    panel.plot([*medians], middle, label=label, **look)
    ends = {at: times for at, times in t.of("grokked_at", Column.known, x).items() if medians[at] is not None}
    panel.vlines([*ends], [*map(min, ends.values())], [*map(max, ends.values())], color=look["color"])
    never = [at for at, value in medians.items() if value is None]
    heights = [TOP - ROW * (series if row is None else row)] * len(never)
    panel.plot(never, heights, "x", color=look["color"], markersize=3, transform=panel.get_xaxis_transform())


def step_axis(panel: Any, steps: int, rows: int, named: bool = True) -> None:
    """A logarithmic axis up to the budget, which a line marks; above it, named or not, the rows of crosses."""
    low = min((y for line in panel.lines for y in line.get_ydata() if y > 1), default=steps / 10) / 1.3
    share = TOP - ROW * (rows - 0.3)
    panel.set_yscale("log")
    panel.set_ylim(low, low * (steps / low) ** (1 / share))
    panel.axhline(steps, color=GRAY, lw=0.5)
    if named:
        above: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "ha": "right"}
        panel.annotate(f"not within {count(steps)}", (0.99, steps), (0, 2), fontsize=6, color=GRAY, **above)
    panel.yaxis.set_major_formatter(lambda value, _: number(value) if value <= steps else "")
    panel.yaxis.set_minor_formatter(
        lambda value, _: number(value) if f"{value:.0e}"[0] in "25" and value <= steps else ""
    )


def named_lines(panel: Any, found: Mapping[str, Mapping[Any, Any]], **look: Any) -> None:
    """A line for each name, told apart by color and marker, and beyond eight by its dashes."""
    for i, (name, line) in enumerate(found.items()):
        own = {"color": SERIES[i % len(SERIES)], "marker": MARKERS[i % len(MARKERS)], "ls": LINES[i // len(SERIES)]}
        panel.plot([*line], [*line.values()], label=name, **own | look)
