"""What a study keeps of its runs: a table, one row a run, its settings and its measured values as columns."""

import json
import math
import operator
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

Numbers = dict[str, Any]
"""A table as JSON, so that figures and claims can be redone without the runs."""
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "!=": operator.ne}


class Row:
    """Values by column, as attributes and as items; None where the row has none."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)

    def __getitem__(self, name: str) -> Any:
        return self.__dict__.get(name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None


class Column(list[Any]):
    """The values of a column; None where there is nothing to measure."""

    def __truediv__(self, other: "Column") -> "Column":
        return self._with(operator.truediv, other)

    def __sub__(self, other: "Column") -> "Column":
        return self._with(operator.sub, other)

    def _with(self, operation: Callable[[Any, Any], Any], other: "Column") -> "Column":
        """Row by row; None where either value is missing."""
        pairs = zip(self, other, strict=True)
        return Column(None if a is None or b is None else operation(a, b) for a, b in pairs)

    def known(self) -> "Column":
        """Those that exist."""
        return Column(value for value in self if value is not None)

    def none(self) -> bool:
        """Whether there is no value at all."""
        return not self.known()

    def whole(self) -> bool:
        """Whether no value is missing."""
        return None not in self

    def median(self) -> float | None:
        """Over all, of which those without a value took forever; None where that is the median."""
        middle = statistics.median(math.inf if value is None else value for value in self)
        return None if math.isinf(middle) else float(middle)

    def average(self) -> float:
        """Of the values that exist; NaN where none does."""
        known = self.known()
        return float(np.mean(known)) if known else math.nan

    def distinct(self) -> "Column":
        """Each value once, in the order of first appearance."""
        return Column({json.dumps(value): value for value in self}.values())


class Line(dict[Any, Any]):
    """One value for each value of what varies, in ascending order of that."""

    @property
    def y(self) -> Column:
        return Column(self.values())

    def known(self) -> "Line":
        """Where there is a value."""
        return Line((x, y) for x, y in self.items() if y is not None)

    def falls(self) -> bool:
        """Whether every value is below the one before."""
        return all(later < earlier for earlier, later in pairwise(self.values()))

    def products(self) -> Column:
        """x · y, which is constant where one is inverse to the other."""
        return Column(x * y for x, y in self.items())


class Table:
    """Rows, with the verbs in which figures and claims ask for them."""

    def __init__(self, rows: Iterable[Row | Mapping[str, Any]], runs: Sequence[Any] = ()) -> None:
        self.rows = [row if isinstance(row, Row) else Row(row) for row in rows]
        self.runs = runs
        """While numbers are measured: the run of each row."""

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> Column:
        return Column(row[column] for row in self.rows)

    @property
    def first(self) -> Row:
        return self.rows[0]

    @property
    def seeds(self) -> int:
        """How many seeds there are, or are at each fraction where every fraction has its own."""
        return len(self["seed" if self.first.repeat is None else "repeat"].distinct())

    def each(self, value: Callable[[Row], Any]) -> Column:
        """A value computed for every row."""
        return Column(value(row) for row in self.rows)

    def one(self, column: str) -> Any:
        """The value that all rows share."""
        (value,) = self[column].distinct()
        return value

    def where(self, *conditions: str | Callable[[Row], Any], **values: Any) -> "Table":
        """The rows that fulfill conditions, such as "weight_decay > 0" or a function of the row, and that have these
        values; a list or a tuple of values admits each of them."""
        tests = [_condition(c) if isinstance(c, str) else c for c in conditions]
        admitted = {name: some if isinstance(some, (list, tuple)) else (some,) for name, some in values.items()}
        found = (row for row in self.rows if all(row[name] in some for name, some in admitted.items()))
        return Table(row for row in found if all(test(row) for test in tests))

    def by(self, *columns: str) -> "dict[Any, Table]":
        """A table for each value of a column, or for each combination of several, in the order of appearance."""
        found: dict[Any, list[Row]] = {}
        for row in self.rows:
            values = tuple(row[name] for name in columns)
            found.setdefault(values[0] if len(values) == 1 else values, []).append(row)
        return {values: Table(rows) for values, rows in found.items()}

    def of(self, column: str, value: Callable[[Column], Any], x: str = "seed") -> Line:
        """A value for each x, from the column's values there."""
        cells = self.by(x)
        return Line((key, value(cells[key][column])) for key in sorted(cells))

    def median(self, column: str, x: str) -> Line:
        """The median over seeds for each x."""
        return self.of(column, Column.median, x)

    def grid(self, y: str, x: str, value: Callable[["Table"], Any]) -> list[list[Any]]:
        """A matrix: a value for each cell, rows along y and columns along x, in the order of appearance."""
        cells = self.by(y, x)
        return [[value(cells[b, a]) for a in self[x].distinct()] for b in self[y].distinct()]

    def to_json(self, digits: int) -> dict[str, Any]:
        """Values shared by all rows once, the others column by column."""
        names = list(dict.fromkeys(name for row in self.rows for name in vars(row)))
        columns: dict[str, Any] = {name: rounded([row[name] for row in self.rows], digits) for name in names}
        shared = {name: values[0] for name, values in columns.items() if all(v == values[0] for v in values)}
        varied = {name: values for name, values in columns.items() if name not in shared}
        return {"rows": len(self.rows), "shared": shared, "columns": varied}

    @classmethod
    def from_json(cls, numbers: dict[str, Any]) -> "Table":
        shared, columns = numbers["shared"], numbers["columns"]
        return cls(shared | {name: columns[name][i] for name in columns} for i in range(numbers["rows"]))


def rounded(value: Any, digits: int = 5) -> Any:
    """JSON values with floats rounded to `digits` significant digits; null where a number does not exist."""
    if isinstance(value, dict):
        return {str(key): rounded(item, digits) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return rounded(value.tolist(), digits)
    if isinstance(value, (list, tuple)):
        return [rounded(item, digits) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return value


def _condition(text: str) -> Callable[[Row], bool]:
    name, sign, value = text.split()
    compare, limit = COMPARISONS[sign], float(value)
    return lambda row: row[name] is not None and compare(row[name], limit)
