r"""Losses against the norm of all weights, and the time that weight decay takes from one norm to another.

Decoupled decay γ at the rate η shrinks weights that the gradient leaves alone by $1 - \eta\gamma$ a step. From the norm
$w_0$ they reach $w_c$ after $t = \ln(w_0/w_c) / (\eta\gamma)$ steps.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from modgrok.shapes import Float


def whole_norm(history: Mapping[str, Any]) -> Float[np.ndarray, "evaluation"]:
    """The norm of all weights on the way, from the curves of a run."""
    return np.sqrt(np.sum([values**2 for name, values in history.items() if name.startswith("norm_")], axis=0))


def critical_norm(norms: Sequence[float], accuracies: Sequence[float], level: float) -> float | None:
    """The largest norm up to which the accuracy reaches a level, in logarithms between two norms; None where it never
    does, or does so at the last."""
    pairs = list(zip(norms, accuracies, strict=True))
    for (a, at_a), (b, at_b) in reversed(list(pairwise(pairs))):
        if at_a >= level > at_b:
            share = (at_a - level) / (at_a - at_b)
            return float(math.exp(math.log(a) + share * (math.log(b) - math.log(a))))
    return None


def decay_time(begin: float, end: float, lr: float, decay: float) -> float:
    """The steps of the formula above."""
    return math.log(begin / end) / (lr * decay)
