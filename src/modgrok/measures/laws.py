"""Power laws through points, and for critical fractions against the modulus which of two laws describes them better."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def fit_laws(fractions: Mapping[int, float]) -> dict[str, Any] | None:
    r"""c·p^(−k) and c·ln p / p through the same α_c, by least squares of ln α: the rms of what is left, and Akaike's
    criterion corrected for few points, $n \ln(\text{rms}^2) + 2k + 2k(k+1)/(n-k-1)$, k parameters and the scatter
    counted; None for fewer than five moduli."""
    if (n := len(fractions)) < 5:
        return None
    p, alpha = np.array([*fractions.items()], float).T
    exponent, intercept = np.polyfit(np.log(p), np.log(alpha), 1)
    shape = np.log(np.log(p) / p)
    offset = float(np.mean(np.log(alpha) - shape))
    left = {"power": np.log(alpha) - intercept - exponent * np.log(p), "logarithmic": np.log(alpha) - offset - shape}
    rms = {law: float(np.sqrt(np.mean(rest**2))) for law, rest in left.items()}
    return {
        "factors": {"power": float(np.exp(intercept)), "logarithmic": float(np.exp(offset))},
        "exponent": -float(exponent),
        "rms": rms,
        "aicc": {
            law: n * math.log(max(rms[law], 1e-9) ** 2) + 2 * k + 2 * k * (k + 1) / (n - k - 1)
            for law, k in (("power", 3), ("logarithmic", 2))
        },
    }


def exponent(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> float:
    """Of the power law through points: the slope of ln y against ln x by least squares."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
