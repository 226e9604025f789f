"""The search for small groups: rows and columns are placed in turn, every way that F allows."""

from collections.abc import Iterator

import numpy as np

from modgrok.tasks.structure.shifts import Budget, Matrix, Placement


def all_placements(matrix: Matrix, length: int, budget: Budget) -> Iterator[Placement]:
    """Placements in Z_L of rows that all differ and columns that all differ; all of them up to symmetry, if `budget`
    stays exhaustive.

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
