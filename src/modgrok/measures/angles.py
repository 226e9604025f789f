"""Statistics of angles, for which 359° and 1° are neighbours."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class CircularSpread(NamedTuple):
    """How far angles scatter around their circular mean."""

    resultant: float
    r"""$R = |\langle e^{i\theta} \rangle|$: 1 where all angles agree, near 0 where they are spread evenly."""
    deviation: float
    r"""Circular standard deviation $\sqrt{-2 \ln R}$ in radians."""


def wrap(angles: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """The same angles in (−π, π]."""
    wrapped = np.pi - (np.pi - angles) % (2 * np.pi)
    return np.where(wrapped <= -np.pi, np.pi, wrapped)  # the remainder may round up to 2π


def circular_mean(angles: Float[np.ndarray, "angle"]) -> float:
    r"""$\arg \langle e^{i\theta} \rangle$ over the angles that are not NaN; NaN where there are none."""
    return float(np.angle(_mean_direction(angles)))


def circular_spread(angles: Float[np.ndarray, "angle"]) -> CircularSpread:
    """Scatter of the angles that are not NaN; NaN where there are none."""
    resultant = min(float(abs(_mean_direction(angles))), 1.0)
    if not resultant > 0:
        return CircularSpread(resultant, resultant if np.isnan(resultant) else np.inf)
    return CircularSpread(resultant, float(np.sqrt(2 * np.log(1 / resultant))))


def _mean_direction(angles: Float[np.ndarray, "angle"]) -> complex:
    known = angles[~np.isnan(angles)]
    return complex(np.exp(1j * known).mean()) if len(known) else complex(np.nan, np.nan)
