"""Straight regimes of a curve, found by fit: a continuous broken line with a given number of pieces."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

KNOTS = 28
"""Places along the curve where the line may break."""


class Regimes(NamedTuple):
    """A broken line."""

    breaks: Float[np.ndarray, "break"]
    """Where it bends, ascending."""
    slopes: Float[np.ndarray, "piece"]
    values: Float[np.ndarray, "bend"]
    """Heights at the start, at every break and at the end."""
    error: float
    """Root of the mean squared distance to the curve."""


def fit_regimes(x: Float[np.ndarray, "point"], y: Float[np.ndarray, "point"], pieces: int = 4) -> Regimes:
    """The continuous broken line closest to a curve in the mean square over equal steps of x.

    The curve is sampled at equal distances first, so that densely measured stretches weigh no more than others; all
    choices of breaks on a grid of `KNOTS` places are tried.
    """
    even = np.linspace(x[0], x[-1], 4 * KNOTS + 1)
    target = np.interp(even, x, y)
    knots = even[4:-4:4]
    hats = np.maximum(even[:, None] - knots, 0)  # a bend at every knot
    base = np.stack([np.ones_like(even), even - even[0]], axis=1)
    best: tuple[float, tuple[int, ...], np.ndarray] | None = None
    for chosen in combinations(range(len(knots)), pieces - 1):
        design = np.concatenate([base, hats[:, chosen]], axis=1)
        gram = design.T @ design
        coefficients = np.linalg.solve(gram, design.T @ target)
        error = float(np.square(design @ coefficients - target).mean())
        if best is None or error < best[0]:
            best = error, chosen, coefficients
    assert best is not None
    error, chosen, coefficients = best
    breaks = knots[list(chosen)]
    bends = np.concatenate([[even[0]], breaks, [even[-1]]])
    heights = coefficients[0] + coefficients[1] * (bends - even[0])
    heights = heights + np.maximum(bends[:, None] - breaks, 0) @ coefficients[2:]
    return Regimes(breaks, np.cumsum(coefficients[1:]), heights, float(np.sqrt(error)))
