"""An outcome against one or two settings of a sweep, over all else that varies: numbers for tables and figures."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.result import bad_ends
from modgrok.experiments.sweeps.table import Table

REPETITIONS = ("seed", "split_seed")
"""Settings that repeat an experiment rather than change it."""
GROKKED = "grokked"
"""The outcome that is 1 for runs that grokked and 0 for others that have ended; its mean is their share."""


@dataclass(frozen=True)
class Cell:
    """The runs of one cell: how many have ended, the outcomes of those that have one, and how many ended badly."""

    ended: int
    values: tuple[float, ...]
    bad_ends: Mapping[str, int] = field(default_factory=dict)
    """`diverged` and `collapsed`."""

    @property
    def median(self) -> float | None:
        return float(np.median(self.values)) if self.values else None

    @property
    def mean(self) -> float | None:
        return float(np.mean(self.values)) if self.values else None

    @property
    def low(self) -> float | None:
        return min(self.values, default=None)

    @property
    def high(self) -> float | None:
        return max(self.values, default=None)

    def as_dict(self) -> dict[str, Any]:
        return {
            "ended": self.ended,
            "with_value": len(self.values),
            "median": self.median,
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
            **self.bad_ends,
        }


@dataclass(frozen=True)
class Summary:
    """A table of cells, a row for each value of y."""

    title: str
    outcome: str
    x: str
    y: str | None
    x_values: tuple[Any, ...]
    y_values: tuple[Any, ...]
    """One None where there is no y."""
    cells: tuple[tuple[Cell, ...], ...]
    pooled: tuple[str, ...] = ()
    """What varies besides x and y: the runs of a cell differ in it."""

    def as_dict(self) -> dict[str, Any]:
        """All numbers as JSON values."""
        names = ("outcome", "x", "y", "x_values", "y_values")
        cells = [[cell.as_dict() for cell in row] for row in self.cells]
        return {name: getattr(self, name) for name in names} | {"cells": cells}


def summarize(table: Table, outcome: str = "grokked_at", x: str | None = None, y: str | None = None) -> Summary:
    """Groups the runs by x and y; without x, by the first one or two settings that are not repetitions."""
    varying = {name: tuple(dict.fromkeys(table[name])) for name in table.axes or table.varying}
    if x is None:
        x, y = _choose(varying, y)
    for name in filter(None, (x, y)):
        if name not in varying:
            raise ModgrokError(f"{name} does not vary in this sweep; what does: {', '.join(varying) or 'nothing'}.")
    if x is not None and x == y:
        raise ModgrokError(f"x and y are both {x}; leave y out to see it alone.")
    outcomes = _outcomes(table, outcome)
    x_values = varying.get(x, (None,))
    y_values = varying[y] if y is not None else (None,)
    places: dict[Any, list[tuple[str, float | None]]] = {}
    columns = (table[name] if name in varying else [None] * len(outcomes) for name in (x, y or ""))
    for at_x, at_y, status, value in zip(*columns, table["status"], outcomes, strict=True):
        places.setdefault((at_y, at_x), []).append((status, value))
    cells = tuple(tuple(_cell(places.get((at_y, at_x), [])) for at_x in x_values) for at_y in y_values)
    task, modulus = table["task"][0], table["modulus"][0]
    title = task if modulus is None else f"{task} mod {modulus}"
    shown = "sweep" if any(len(varying.get(name, ())) > 1 for name in ("task", "modulus")) else title
    pooled = tuple(name for name, found in varying.items() if name not in (x, y) and len(found) > 1)
    return Summary(shown, outcome, x, y, x_values, y_values, cells, pooled)


def _choose(varying: dict[str, tuple[Any, ...]], y: str | None) -> tuple[str, str | None]:
    if not varying:
        return "", None
    settings = [name for name in varying if name not in REPETITIONS and len(varying[name]) > 1] or list(varying)
    numeric = [name for name in settings if all(isinstance(value, int | float) for value in varying[name])]
    x = next((name for name in numeric if name != y), next((name for name in settings if name != y), settings[0]))
    return x, y or next((name for name in settings if name != x), None)


def _outcomes(table: Table, name: str) -> list[float | None]:
    if name == GROKKED:
        return [
            None if status == "unfinished" else float(step is not None)
            for status, step in zip(table["status"], table["grokked_at"], strict=True)
        ]
    numbers = [key for key in table if key not in (*table.settings, "run", "status")]
    if name not in numbers:
        raise ModgrokError(f"An outcome is {GROKKED} or one of {', '.join(numbers)}, not {name!r}.")
    return [None if value is None or not math.isfinite(value) else float(value) for value in table[name]]


def _cell(runs: list[tuple[str, float | None]]) -> Cell:
    ended = [status for status, _ in runs if status != "unfinished"]
    return Cell(len(ended), tuple(value for _, value in runs if value is not None), bad_ends(ended))
