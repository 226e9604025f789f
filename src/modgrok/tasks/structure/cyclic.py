r"""Tables that are a function of a sum in a cyclic group, $T = \mathrm{readout}[\sum_s i_s(n_s) \bmod L]$.

Values of a variable that give equal slices may share their place, so only the different ones are placed: with one
variable as the rows and all others together as the columns there can be at most L of each.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from modgrok.shapes import Int
from modgrok.tasks.structure.parallels import partial_placements
from modgrok.tasks.structure.separable import Parts, as_sum, outer_sum
from modgrok.tasks.structure.shifts import Budget, Matrix, Placement, placements

SHIFT_EFFORT = 20_000_000  # for each order of the rows
_PARALLEL_EFFORT = 400_000_000
_SMALL = 13  # groups up to this order are searched by backtracking
_SMALL_EFFORT = 1_000_000_000  # about a second
_ORDERS = 4  # orders of the rows that are tried: which two come first decides the first distance


class CyclicSum(NamedTuple):
    """Places i_s of the values of each variable in Z_L, and the answer at each sum (0 where no sum falls)."""

    places: Parts
    readout: Int[np.ndarray, "L"]


Outcome = CyclicSum | str | None
"""What a search came to: the decomposition, or why there is none, or None, nothing certain."""


class Distinct(NamedTuple):
    """The different rows and columns of a table, one variable as the rows, in order of their first appearance."""

    matrix: Matrix
    row: Int[np.ndarray, "_"]
    """For each value of the variable its row of `matrix`."""
    column: Int[np.ndarray, "*rest"]
    """For the values of all other variables their column of `matrix`."""


def _numbered(lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different lines by their first occurrence, and for each line which one it is."""
    numbers: dict[bytes, int] = {}
    number = np.array([numbers.setdefault(line.tobytes(), len(numbers)) for line in np.ascontiguousarray(lines)])
    return np.unique(number, return_index=True)[1], number


def distinct(table: np.ndarray, axis: int) -> Distinct:
    moved = np.moveaxis(table, axis, 0)
    occurs = np.zeros(int(moved.max()) + 1, dtype=bool)
    occurs[moved] = True
    values = (np.cumsum(occurs) - 1)[moved].reshape(len(moved), -1)
    rows, row = _numbered(values)
    columns, column = _numbered(values[rows].T)
    return Distinct(values[np.ix_(rows, columns)], row, column.reshape(moved.shape[1:]))


def _assembled(table: np.ndarray, axis: int, lines: Distinct, place: Placement, order: int) -> CyclicSum | None:
    """A placement modulo `order` as places of every variable with the readout they imply, if that of the columns splits
    into them and the table is a function of their sum."""
    rest = as_sum(place.columns[lines.column], order)
    if rest is None:
        return None
    places = (*rest[:axis], place.rows[lines.row], *rest[axis:])
    sums, readout = outer_sum(places, order), np.zeros(order, dtype=np.int64)
    readout[sums] = table
    return CyclicSum(places, readout) if np.array_equal(readout[sums], table) else None


def _full_placements(matrix: Matrix, budget: Budget) -> Iterator[Placement]:
    """Placements where the columns fill the group, from several orders of the rows until one search is exhaustive."""
    generator = np.random.default_rng(0)
    order = np.arange(len(matrix))
    for _ in range(_ORDERS):
        budget.left, budget.exhaustive = SHIFT_EFFORT, True
        for place in placements(matrix[order], budget):
            yield Placement(place.rows[np.argsort(order)], place.columns, place.unique)
        if budget.exhaustive:
            return
        order = generator.permutation(len(matrix))


def _filled_search(table: np.ndarray, axis: int, lines: Distinct, transposed: bool) -> Outcome:
    """The search in the group that the different columns (`transposed`: rows) fill, one place each."""
    matrix = lines.matrix.T if transposed else lines.matrix
    names = ("row", "column") if not transposed else ("column", "row")
    filled = f"All {matrix.shape[1]} {names[1]}s differ and so fill the group"
    if np.any(np.sort(matrix, axis=1) != np.sort(matrix[0])):
        return f"{filled}, but the {names[0]}s do not all hold the same answers."
    budget = Budget(SHIFT_EFFORT)
    certain = True
    for place in _full_placements(matrix, budget):
        if transposed:
            place = Placement(place.columns, place.rows, place.unique)
        found = _assembled(table, axis, lines, place, matrix.shape[1])
        if found is not None:
            return found
        certain &= place.unique
        budget.spend(8 * table.size)
    if certain and budget.exhaustive:
        return f"{filled}, but no order of them makes all {names[0]}s shifts of each other."
    return None


def _lifted(found: CyclicSum, length: int) -> CyclicSum:
    """A sum in Z_d as one in Z_L, d dividing L."""
    return CyclicSum(found.places, np.tile(found.readout, length // len(found.readout)))


def _all_placements(matrix: Matrix, length: int, budget: Budget) -> Iterator[Placement]:
    """Placements in Z_L of different rows and different columns; all up to symmetry, if `budget` stays exhaustive.

    Row 0 and column 0 are at 0 and row 1 at a divisor of L, by a shift and an invertible factor of the coordinate.
    """
    rows, columns = matrix.shape
    lines = sorted([(i, 0) for i in range(rows)] + [(i, 1) for i in range(columns)])
    places = np.full((2, max(rows, columns)), -1)
    divisors = [d for d in range(1, length + 1) if length % d == 0]

    def place(depth: int, outer: np.ndarray) -> Iterator[Placement]:
        if depth == len(lines):
            yield Placement(places[0, :rows].copy(), places[1, :columns].copy(), True)
            return
        number, side = lines[depth]
        others = np.flatnonzero(places[1 - side] >= 0)
        answers = matrix[number, others] if side == 0 else matrix[others, number]
        choices = [0] if number == 0 else divisors if (number, side) == (1, 0) else range(length)
        for choice in choices:
            if choice in places[side]:
                continue
            if not budget.spend(1):
                return
            sums = (choice + places[1 - side, others]) % length
            if np.all((outer[sums] < 0) | (outer[sums] == answers)):
                further = outer.copy()
                further[sums] = answers
                places[side, number] = choice
                yield from place(depth + 1, further)
                places[side, number] = -1

    return place(0, np.full(length, -1))


def _gapped_search(table: np.ndarray, axis: int, lines: Distinct, length: int) -> Outcome:
    """The search where rows and columns leave gaps in the group: all placements if it is small, else parallels."""
    if length <= _SMALL:
        budget = Budget(_SMALL_EFFORT)
        for place in _all_placements(lines.matrix, length, budget):
            found = _assembled(table, axis, lines, place, length)
            if found is not None:
                return found
            budget.spend(table.size)
        if budget.exhaustive and table.ndim == 2:  # with more variables equal columns may need different places
            return f"No places of the rows and columns in a group of order {length} fit."
    budget = Budget(_PARALLEL_EFFORT)
    for order in (d for d in range(max(lines.matrix.shape), length + 1) if length % d == 0):
        for place in partial_placements(lines.matrix, order, budget):
            found = _assembled(table, axis, lines, place, order)
            if found is not None:
                return _lifted(found, length)
    return None


def _search_along(table: np.ndarray, axis: int, length: int) -> Outcome:
    """The search with one variable as the rows and the others together as the columns."""
    lines = distinct(table, axis)
    counts = lines.matrix.shape
    if max(counts) > length:
        name = "rows" if counts[0] > length else "columns"
        return f"The {max(counts)} different {name} would need as many places in a group of order {length}."
    for transposed in (False, True):
        filled = counts[0] if transposed else counts[1]
        if filled == max(counts) and length % filled == 0:
            outcome = _filled_search(table, axis, lines, transposed)
            if isinstance(outcome, CyclicSum):
                return _lifted(outcome, length)
            if outcome and filled == length:
                return outcome
    return _gapped_search(table, axis, lines, length)


def cyclic_sum(table: Int[np.ndarray, "*inputs"], length: int) -> Outcome:
    """The table as a function of a sum in Z_L, L = `length`; its axes may have any sizes.

    Exhaustive where the different rows or columns are L or more, whatever the variable that makes the rows.
    """
    relevant = [s for s in range(table.ndim) if np.any(table != table.take([0], axis=s))]
    core = table[tuple(slice(None) if s in relevant else 0 for s in range(table.ndim))]
    if len(relevant) > 1:
        for axis in range(len(relevant) if len(relevant) > 2 else 1):
            outcome = _search_along(core, axis, length)
            if outcome is not None:
                break
    else:
        outcome = _single(core, length)
    if not isinstance(outcome, CyclicSum):
        return outcome
    places = [np.zeros(size, dtype=np.int64) for size in table.shape]
    for s, part in zip(relevant, outcome.places, strict=True):
        places[s] = part
    return CyclicSum(tuple(places), outcome.readout)


def _single(table: np.ndarray, length: int) -> Outcome:
    """A table of one variable or none: every answer gets a place of its own."""
    answers, place = np.unique(table, return_inverse=True)
    if len(answers) > length:
        return f"The {len(answers)} different answers would need as many places in a group of order {length}."
    readout = np.zeros(length, dtype=np.int64)
    readout[: len(answers)] = answers
    return CyclicSum((place.reshape(-1),) * table.ndim, readout)
