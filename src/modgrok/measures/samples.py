"""What samples say: intervals of means, and what chance alone would do."""

from collections.abc import Sequence

import numpy as np


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % interval of the mean over seeds, by Student's t; None for a single one."""
    if len(values) < 2:
        return None
    from scipy.stats import t

    half = float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5)
    return float(np.mean(values)) - half, float(np.mean(values)) + half


def all_right(accuracy: float, total: int, drawn: int) -> float:
    """The probability that `drawn` random test pairs of `total` are all answered correctly."""
    from scipy.stats import hypergeom

    return float(hypergeom.pmf(0, total, round((1 - accuracy) * total), drawn))


def best_guess(pairs: int, chance: float, tries: int) -> float:
    """The accuracy that the best of many attempts at guessing exceeds with a probability of at most 1/1000."""
    from scipy.stats import binom

    return float(binom.isf(1e-3 / tries, pairs, chance)) / pairs
