"""The continuous broken line that is closest to a curve."""

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from modgrok.shapes import Float

COARSE = 24
"""Places along the curve from which the search for the best breaks starts."""
RIDGE = 1e-13
"""Keeps the fit of neighboring breaks solvable."""


class BrokenLine(NamedTuple):
    """Straight pieces, and how far they are from the curve."""

    breaks: Float[np.ndarray, "break"]
    """Where it bends, ascending."""
    slopes: Float[np.ndarray, "piece"]
    values: Float[np.ndarray, "bend"]
    """Heights at the start, at every break and at the end."""
    error: float
    """Root of the mean squared distance to the curve."""


def fit_broken_line(x: Float[np.ndarray, "point"], y: Float[np.ndarray, "point"], pieces: int = 4) -> BrokenLine:
    """The continuous broken line closest to a curve in the mean square over x, with its breaks at measured points.

    Points weigh as much as the stretch of x they stand for, so that densely measured ones count no more than others.
    All choices of breaks among `COARSE` places are tried, the best is then improved one break at a time over all points
    until nothing changes.
    """
    t = (x - x[0]) / (x[-1] - x[0])
    root = np.sqrt(np.gradient(t))[:, None]
    bends = root * np.maximum(t[:, None] - t, 0)  # a bend at every point
    columns, target = np.concatenate([root, root * t[:, None], bends], axis=1), root[:, 0] * y
    gram = columns.T @ columns + RIDGE * np.eye(len(t) + 2)
    along = columns.T @ target

    def best(choices: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
        """The breaks, of several choices, with the least error."""
        listed = list(choices)
        used = np.concatenate([np.tile([0, 1], (len(listed), 1)), 2 + np.array(listed)], axis=1)
        solved = np.linalg.solve(gram[used[:, :, None], used[:, None, :]], along[used][..., None])[..., 0]
        return tuple(sorted(listed[int((solved * along[used]).sum(axis=1).argmax())]))

    coarse = np.unique(np.searchsorted(t, np.linspace(0, 1, COARSE + 2)[1:-1]).clip(1, len(t) - 2)).tolist()
    chosen, before = best(combinations(coarse, pieces - 1)), None
    while chosen != before:
        before = chosen
        for place in range(pieces - 1):
            others = chosen[:place] + chosen[place + 1 :]
            chosen = best([chosen, *((*others, i) for i in range(1, len(t) - 1) if i not in others)])
    used = [0, 1, *(2 + i for i in chosen)]
    coefficients = np.linalg.lstsq(columns[:, used], target, rcond=None)[0]
    error = np.square(columns[:, used] @ coefficients - target).sum()
    breaks, places = t[list(chosen)], np.concatenate([[0.0], t[list(chosen)], [1.0]])
    heights = coefficients[0] + coefficients[1] * places + np.maximum(places[:, None] - breaks, 0) @ coefficients[2:]
    return BrokenLine(x[list(chosen)], np.cumsum(coefficients[1:]) / (x[-1] - x[0]), heights, float(np.sqrt(error)))
