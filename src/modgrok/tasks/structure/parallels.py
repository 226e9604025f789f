r"""The search where neither f_1 nor f_2 is a bijection: not exhaustive, yet it finds most of what is there.

Pairs of rows (n, n') and of columns (m, m') at one distance, f_1(n') − f_1(n) = f_2(m') − f_2(m), satisfy
T(n', m) = T(n, m'). Two rows whose distance is taken as known have many column pairs that satisfy this by accident,
but those that a second pair of rows satisfies as well are, almost all, truly parallel. Parallel pairs place further
rows and columns, whose distances give further parallels.
"""

from collections.abc import Iterator

import numpy as np

from modgrok.shapes import Int
from modgrok.tasks.structure.shifts import Budget, Matrix, Placement

Pairs = Int[np.ndarray, "_ 2"]
Places = tuple[np.ndarray, np.ndarray]

_SAMPLE = 512  # column pairs that are compared at most, drawn at random from all that agree with the first rows
_STARTS = 32  # rows n among which the second pair (n, n') is sought
_TRIES = 4  # second pairs of rows that are tried


def _agreement(matrix: Matrix, rows: np.ndarray, columns: Pairs, budget: Budget) -> Int[np.ndarray, "some rows"]:
    """For each n of `rows` and every row n' the number of column pairs with T(n', m) = T(n, m')."""
    budget.spend(len(rows) * len(matrix) * len(columns))
    near, far = matrix[:, columns[:, 0]], matrix[rows[:, None], columns[:, 1]]
    return np.array([np.count_nonzero(near == row, axis=1) for row in far], dtype=np.int64)


def _parallels(matrix: Matrix, n: int, other: int, budget: Budget) -> tuple[Pairs, Pairs] | None:
    """Pairs of rows parallel to (n, other), and the pairs of columns parallel to them."""
    columns = np.argwhere(matrix[other][:, None] == matrix[n])
    columns = columns[columns[:, 0] != columns[:, 1]]
    generator = np.random.default_rng(0)
    if len(columns) > _SAMPLE:
        columns = generator.choice(columns, _SAMPLE, replace=False)
    starts = np.setdiff1d(generator.permutation(len(matrix))[:_STARTS], [n, other])
    if not len(starts):
        return None
    agreement = np.zeros((len(matrix),) * 2, dtype=np.int64)
    agreement[starts] = _agreement(matrix, starts, columns, budget)
    np.fill_diagonal(agreement, 0)
    for _ in range(_TRIES):
        best = np.unravel_index(np.argmax(agreement), agreement.shape)
        if agreement[best] < 2 or budget.left < 0:
            return None
        rows, kept = _closed(matrix, columns, int(best[0]), int(best[1]), budget)
        if len(rows) > 1 and not np.any((rows == [other, n]).all(axis=1)):
            return rows, kept
        # (other, n) parallel to (n, other): not a shift but a reflection, which a symmetric F allows
        agreement[rows[:, 0], rows[:, 1]] = 0
        agreement[best] = 0
    return None


def _closed(matrix: Matrix, columns: Pairs, n: int, other: int, budget: Budget) -> tuple[Pairs, Pairs]:
    """Column pairs that agree with (n, other), thinned until the best further pairs of rows agree with all of them."""
    while True:
        columns = columns[matrix[other, columns[:, 0]] == matrix[n, columns[:, 1]]]
        agreement = _agreement(matrix, np.arange(len(matrix)), columns, budget)
        full = agreement == len(columns)
        best = np.unravel_index(np.argmax(np.where(full, 0, agreement)), agreement.shape)
        if full.sum() > 2 or 2 * agreement[best] <= len(columns) or budget.left < 0:
            return np.argwhere(full), columns
        n, other = int(best[0]), int(best[1])


def _spread(places: np.ndarray, pairs: Pairs, distance: int, length: int) -> np.ndarray | None:
    """Places (−1: none yet) carried along pairs at a known distance; None if they contradict each other."""
    places = places.copy()
    near, far = pairs.T
    while True:
        forward = near[(places[near] >= 0) & (places[far] < 0)], far[(places[near] >= 0) & (places[far] < 0)]
        places[forward[1]] = (places[forward[0]] + distance) % length
        backward = near[(places[near] < 0) & (places[far] >= 0)], far[(places[near] < 0) & (places[far] >= 0)]
        places[backward[0]] = (places[backward[1]] - distance) % length
        if not len(forward[0]) and not len(backward[0]):
            break
    both = (places[near] >= 0) & (places[far] >= 0)
    return places if np.all((places[far] - places[near] - distance)[both] % length == 0) else None


def _new_distance(rows: np.ndarray, length: int, seen: set[int]) -> tuple[int, int, int] | None:
    """Two placed rows at the smallest distance that is not in `seen`."""
    placed = np.flatnonzero(rows >= 0)
    distance = (rows[placed] - rows[placed][:, None]) % length
    fresh = np.where(np.isin(distance, list(seen)), length, distance)
    i, j = np.unravel_index(np.argmin(fresh), fresh.shape)
    return None if fresh[i, j] == length else (int(placed[i]), int(placed[j]), int(fresh[i, j]))


def _grow(matrix: Matrix, length: int, n: int, other: int, distance: int, budget: Budget) -> Places | None:
    """Places of rows and columns reached from two rows at a distance, once they are most of all."""
    rows, columns = (np.full(size, -1) for size in matrix.shape)
    rows[n], rows[other] = 0, distance
    seen = {0}
    while budget.left > 0:
        step = _new_distance(rows, length, seen)
        if step is None:
            return None
        seen |= {step[2], length - step[2]}
        found = _parallels(matrix, *step[:2], budget)
        if found is None:
            continue
        if np.all(columns < 0):
            columns[found[1][0, 0]] = 0
        more_rows = _spread(rows, found[0], step[2], length)
        more_columns = _spread(columns, found[1], step[2], length)
        if more_rows is not None and more_columns is not None:
            rows, columns = more_rows, more_columns
        if 2 * np.count_nonzero(rows >= 0) > len(rows) and 2 * np.count_nonzero(columns >= 0) > len(columns):
            return rows, columns
    return None


def _read(matrix: Matrix, rows: np.ndarray, columns: np.ndarray, length: int) -> np.ndarray | None:
    """F on the sums of the places known so far, −1 elsewhere; None if the table contradicts them."""
    known = matrix[np.ix_(rows >= 0, columns >= 0)]
    sums = (rows[rows >= 0][:, None] + columns[columns >= 0]) % length
    outer = np.full(length, -1)
    outer[sums] = known
    return outer if np.array_equal(outer[sums], known) else None


def _complete(matrix: Matrix, rows: np.ndarray, columns: np.ndarray, length: int) -> Places | None:
    """The remaining rows (then columns) put where they agree with most of what is known of F."""
    outer = _read(matrix, rows, columns, length)
    for row in np.flatnonzero(rows < 0):
        if outer is None:
            return None
        placed = columns >= 0
        expected = outer[(np.arange(length)[:, None] + columns[placed]) % length]
        agrees = (expected < 0) | (expected == matrix[row, placed])
        support = np.where(agrees.all(axis=1), np.count_nonzero(expected >= 0, axis=1), 0)
        rows[row] = np.argmax(support)
        outer = _read(matrix, rows, columns, length)
    return None if outer is None else (rows, columns)


def partial_placements(matrix: Matrix, length: int, budget: Budget) -> Iterator[Placement]:
    """Placements in Z_L of rows and columns that both leave gaps.

    The distance of two rows may be taken as a divisor of L, by an invertible factor of the coordinate.
    """
    small = matrix.astype(np.int32)
    distances = [distance for distance in range(1, length) if length % distance == 0]
    seeds = [(n, other) for other in range(1, min(len(matrix), 4)) for n in range(other)]
    for n, other in seeds:
        for distance in distances:
            reached = _grow(small, length, n, other, distance, budget)
            if reached is None:
                continue
            with_rows = _complete(small, *reached, length)
            done = with_rows and _complete(small.T, *with_rows[::-1], length)
            if done:
                yield Placement(done[1], done[0], False)
