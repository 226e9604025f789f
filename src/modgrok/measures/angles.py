"""Statistics of angles, for which 359° and 1° are neighbors."""

from typing import NamedTuple

import numpy as np

from modgrok.shapes import Float


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


def kuiper(angles: Float[np.ndarray, "angle"]) -> float:
    r"""Probability that uniform angles deviate as far from uniformity as these (Kuiper's test); NaN if there are none.

    $V = D^+ + D^-$, the largest distances of the empirical distribution above and below the uniform one, does not
    depend on where the circle is cut. $P = 2\sum_j(4j^2\lambda^2 - 1)e^{-2j^2\lambda^2}$ with
    $\lambda = V(\sqrt n + 0.155 + 0.24/\sqrt n)$ (Stephens 1970), good to a percent from n = 8 on.
    """
    known = np.sort(angles[~np.isnan(angles)] % (2 * np.pi)) / (2 * np.pi)
    n = len(known)
    if n == 0:
        return np.nan
    i = np.arange(n)
    V = ((i + 1) / n - known).max() + (known - i / n).max()
    x = (V * (n**0.5 + 0.155 + 0.24 / n**0.5)) ** 2
    j2 = np.arange(1, 101) ** 2
    # Below λ = 0.4 the series has not converged after a hundred terms, and P is 1 to seven digits.
    return 1.0 if x < 0.16 else float((2 * (4 * j2 * x - 1) * np.exp(-2 * j2 * x)).sum().clip(0, 1))


def _mean_direction(angles: Float[np.ndarray, "angle"]) -> complex:
    known = angles[~np.isnan(angles)]
    return complex(np.exp(1j * known).mean()) if len(known) else complex(np.nan, np.nan)
