r"""The search where f_2 is a bijection: every row $m \mapsto F(f_1(n) + f_2(m))$ is a shift of every other.

In the hidden coordinate b = f_2(m) the shift by δ = f_1(n') − f_1(n) is one permutation π of the columns, and
T(n', m) = T(n, π(m)). The same π belongs to every pair of rows at the distance δ. So a set of such pairs (n_i, n_i')
must give the columns equal multisets of tuples (T(n_i, m))_i and (T(n_i', m))_i, which prunes almost every wrong pair,
and once the tuples are all different, π is forced.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from modgrok.shapes import Bool, Int

Matrix = Int[np.ndarray, "rows columns"]
Permutation = Int[np.ndarray, "columns"]
_STEP = 20_000


@dataclass
class Budget:
    """How much a search may still do, and whether it has been exhaustive so far."""

    left: int
    """Table entries that may still be looked at; a step counts as `_STEP` of them besides."""
    exhaustive: bool = True

    def spend(self, entries: int) -> bool:
        """Whether the budget allows a step that looks at this many entries."""
        self.left -= entries + _STEP
        self.exhaustive &= self.left >= 0
        return self.left >= 0


@dataclass(frozen=True)
class _Pairs:
    """Pairs of rows (n, n') taken to lie at one distance, as the tuples that they give the columns."""

    before: Permutation
    """Number of the tuple (T(n_i, m))_i of each column m."""
    after: Permutation
    """Number of the tuple (T(n_i', m))_i, in the same numbering."""
    free_before: Bool[np.ndarray, "rows"]
    """Rows that may still be an n."""
    free_after: Bool[np.ndarray, "rows"]
    """Rows that may still be an n'."""

    def with_pair(self, matrix: Matrix, n: int, other: int) -> "_Pairs":
        values = int(matrix.max()) + 1
        tuples = np.concatenate([self.before * values + matrix[n], self.after * values + matrix[other]])
        numbers = np.unique(tuples, return_inverse=True)[1]
        free_before, free_after = self.free_before.copy(), self.free_after.copy()
        free_before[n] = free_after[other] = False
        return _Pairs(numbers[: len(self.before)], numbers[len(self.before) :], free_before, free_after)

    def permutation(self) -> Permutation | None:
        """The shift of the columns, if the tuples force it."""
        place = np.full(int(self.before.max()) + 1, -1)
        place[self.before] = np.arange(len(self.before))
        if np.count_nonzero(place >= 0) < len(self.before):
            return None
        return place[self.after]

    def partners(self, matrix: Matrix, generator: np.random.Generator) -> Bool[np.ndarray, "rows rows"]:
        """Which pairs (n, n') keep the multisets of tuples equal; multisets are compared by a 64-bit hash."""
        weights = generator.integers(0, 2**64, (int(self.before.max()) + 1, int(matrix.max()) + 1), dtype=np.uint64)
        before = weights[self.before, matrix].sum(axis=1)
        after = weights[self.after, matrix].sum(axis=1)
        return (before[:, None] == after) & self.free_before[:, None] & self.free_after


def _forced(
    matrix: Matrix, pairs: _Pairs, lone: int, budget: Budget, draw: np.random.Generator
) -> Iterator[Permutation]:
    """The shifts that `pairs` force, or that further pairs do; at most `lone` further rows n have no partner n'.

    Next is the row with the fewest possible partners, the end of a chain n → n' → … if there are several, and its
    partners that lengthen a chain come before those that close it, as reflections would.
    """
    forced = pairs.permutation()
    if forced is not None:
        yield forced
        return
    if not budget.spend(2 * matrix.size):
        return
    partners = pairs.partners(matrix, draw)
    count = partners.sum(axis=1)
    known_lone = np.count_nonzero(pairs.free_before & (count == 0))
    ends, rows = pairs.free_before & ~pairs.free_after, np.arange(len(matrix))
    for n in np.lexsort((~ends, count))[np.count_nonzero(count == 0) :]:
        if known_lone > lone:
            return
        others = np.flatnonzero(partners[n])
        for other in others[np.argsort(~pairs.free_before[others], kind="stable")]:
            if not budget.spend(4 * matrix.shape[1]):
                return
            yield from _forced(matrix, pairs.with_pair(matrix, int(n), int(other)), lone, budget, draw)
        pairs = replace(pairs, free_before=pairs.free_before & (rows != n))
        lone -= 1
    if known_lone <= lone:
        budget.exhaustive = False


def shift_permutations(matrix: Matrix, n: int, other: int, budget: Budget) -> Iterator[Permutation]:
    """Permutations of the columns that may take row n to row `other`; all of them, if `budget` stays exhaustive.

    A row has no partner if its place plus δ is not taken: at most L − R of R rows.
    """
    rows, columns = matrix.shape
    free = np.ones(rows, dtype=bool)
    blank = np.zeros(columns, dtype=np.int64)
    pairs = _Pairs(blank, blank, free, free).with_pair(matrix, n, other)
    return _forced(matrix, pairs, columns - rows, budget, np.random.default_rng(0))


@dataclass(frozen=True)
class _Orbits:
    """A permutation whose cycles all have one length."""

    shift: Permutation
    length: int
    cycle: Permutation
    """Which cycle each column is on."""
    position: Permutation
    """Where on its cycle each column is."""


def _orbits(shift: Permutation) -> _Orbits | None:
    cycle, position = np.full_like(shift, -1), np.zeros_like(shift)
    lengths: list[int] = []
    for start in range(len(shift)):
        if cycle[start] >= 0:
            continue
        column, steps = start, 0
        while cycle[column] < 0:
            cycle[column], position[column] = len(lengths), steps
            column, steps = int(shift[column]), steps + 1
        lengths.append(steps)
    if len(set(lengths)) > 1:
        return None
    return _Orbits(shift, lengths[0], cycle, position)


def _join(first: _Orbits, second: _Orbits) -> _Orbits | None:
    """A generator of the group of two shifts, the second not a power of the first; None if they share no coordinate."""
    order = math.lcm(first.length, second.length)
    if order == first.length or not np.array_equal(first.shift[second.shift], second.shift[first.shift]):
        return None
    together = first.shift
    for _ in range(second.length):
        joined = _orbits(together)
        if joined is not None and joined.length == order:
            return joined
        together = second.shift[together]
    return None


@dataclass(frozen=True)
class Placement:
    """Where rows and columns sit in Z_L: T(n, m) depends only on `rows[n] + columns[m]` modulo L."""

    rows: Int[np.ndarray, "rows"]
    columns: Int[np.ndarray, "columns"]
    unique: bool
    """Whether the coordinate of the columns is the only one for these shifts, up to affine maps."""


def _powers(row: np.ndarray, orbits: _Orbits) -> dict[bytes, int]:
    """Every shift of the row, to the number of steps; the smallest where the row repeats."""
    found: dict[bytes, int] = {}
    columns = np.arange(len(row))
    for steps in range(orbits.length):
        found.setdefault(row[columns].tobytes(), steps)
        columns = orbits.shift[columns]
    return found


def placements(matrix: Matrix, budget: Budget, orbits: _Orbits | None = None) -> Iterator[Placement]:
    """Placements in Z_L with L the number of columns, which are all different; all of them up to symmetry, if
    `budget` stays exhaustive. `orbits` are those of a shift that is known.

    One shift is enough when L is prime. Otherwise shifts from row 0 are joined until they explain all rows; where they
    generate only the multiples of e > 1, the e cycles of columns are independent and interleaved in any order.
    """
    orbits = orbits or _orbits(np.arange(matrix.shape[1]))
    if orbits is None or not budget.spend(8 * matrix.size):
        return
    powers = _powers(matrix[0], orbits)
    steps = [powers.get(row.tobytes(), -1) for row in matrix]
    if -1 not in steps:
        stride = matrix.shape[1] // orbits.length
        yield Placement(np.array(steps) * stride, orbits.position * stride + orbits.cycle, stride == 1)
    elif orbits.length < matrix.shape[1]:
        for shift in shift_permutations(matrix, 0, steps.index(-1), budget):
            further = _orbits(shift)
            joined = None if further is None else _join(orbits, further)
            if joined is not None:
                yield from placements(matrix, budget, joined)
