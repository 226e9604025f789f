"""What the figures of several papers have in common: panels with their note, times, searches, maps."""

from collections.abc import Sequence
from typing import Any

from modgrok.palette import MARKERS, TEST, TRAIN
from modgrok.plot import style
from modgrok.reproduce.table import Table
from modgrok.text import count


def panels(
    *titles: str, rows: int = 1, width: float = style.PAGE, height: float = 2.8, note: str = "", **more: Any
) -> tuple[Any, Sequence[Any]]:
    """A figure with a panel for each title, lettered where there are several, and a note below."""
    figure, grid = style.grid(rows, max(1, len(titles) // rows), width, height, **more)
    if len(titles) > 1:
        style.letter(grid.flat, titles)
    if note:
        style.note(figure, note)
    return figure, list(grid.flat)


def seeds(t: Table) -> str:
    """How many seeds a table has, in words."""
    return count(len(t["seed"].distinct()), "seed")


def modular(t: Table) -> str:
    """The task of a table, such as n + m mod 113."""
    return f"{t.one('task')} mod {t.one('modulus')}"


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
