"""Which of four things becomes of a run, against two settings: a map of categories (Liu et al. 2022, Fig. 6)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modgrok.palette import BLUE, EMPTY, GRAY, GREEN, ORANGE
from modgrok.plot import style
from modgrok.plot.style import Axes
from modgrok.plot.sweep import places, words

PHASES = {"comprehension": GREEN, "grokking": ORANGE, "memorization": BLUE, "confusion": GRAY}
"""Each phase and its color."""
LAG = 1000
"""Steps from memorization to generalization from which on the delay counts as grokking."""


@dataclass(frozen=True)
class PhaseDiagram:
    """The phase at each place, None where no run has ended; a row for each value of y."""

    x: str
    y: str
    x_values: tuple[Any, ...]
    y_values: tuple[Any, ...]
    phases: tuple[tuple[str | None, ...], ...]


def phase(memorized_at: int | None, grokked_at: int | None, lag: int = LAG) -> str:
    """Comprehension: train and test are known at about the same time; grokking: test at least `lag` steps later;
    memorization: train alone; confusion: neither."""
    if grokked_at is None:
        return "confusion" if memorized_at is None else "memorization"
    return "grokking" if memorized_at is not None and grokked_at - memorized_at >= lag else "comprehension"


def classify(table: Mapping[str, Sequence[Any]], x: str, y: str, lag: int = LAG) -> PhaseDiagram:
    """The most common phase of the runs at each point of a sweep's table; ties go to the first in `PHASES`."""
    columns = (table[name] for name in (x, y, "status", "memorized_at", "grokked_at"))
    found: dict[Any, Counter[str]] = {}
    for at_x, at_y, status, memorized, grokked in zip(*columns, strict=True):
        here = found.setdefault((at_y, at_x), Counter())
        if status != "unfinished":
            here[phase(memorized, grokked, lag)] += 1
    x_values, y_values = (tuple(dict.fromkeys(table[name])) for name in (x, y))
    rows = tuple(tuple(_commonest(found.get((b, a), Counter())) for a in x_values) for b in y_values)
    return PhaseDiagram(x, y, x_values, y_values, rows)


def phase_diagram(diagram: PhaseDiagram, *, ax: "Axes | None" = None, phases: Mapping[str, str] = PHASES) -> "Axes":
    """Draws each phase in its own color; a legend names those that occur."""
    from matplotlib.colors import ListedColormap

    order = [None, *phases]
    codes = [[order.index(name) for name in row] for row in diagram.phases]
    with style.axes(ax) as panel:
        colors = ListedColormap([EMPTY, *phases.values()])
        panel.pcolormesh(codes, cmap=colors, vmin=-0.5, vmax=len(phases) + 0.5, edgecolors="white", lw=0.4)
        places(panel, "x", diagram.x_values)
        places(panel, "y", diagram.y_values)
        panel.set_xlabel(words(diagram.x))
        panel.set_ylabel(words(diagram.y))
        panel.legend(handles=patches([diagram], phases), loc="center left", bbox_to_anchor=(1.0, 0.5))
    return panel


def patches(diagrams: Sequence[PhaseDiagram], phases: Mapping[str, str] = PHASES) -> list[Any]:
    """The entries of a legend, for the phases that occur in some diagram."""
    from matplotlib.patches import Patch

    present = {name for diagram in diagrams for row in diagram.phases for name in row}
    shown = [Patch(color=color, label=name) for name, color in phases.items() if name in present]
    return shown + ([Patch(color=EMPTY, label="no run has ended")] if None in present else [])


def _commonest(counts: Counter[str]) -> str | None:
    return max(PHASES, key=lambda name: counts[name]) if counts else None
