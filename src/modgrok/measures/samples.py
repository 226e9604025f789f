"""What samples say: intervals of means, what chance alone would do, and whether groups of equal runs differ by more."""

import math
from collections import Counter
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


def order_chance(lower: Sequence[float], higher: Sequence[float]) -> float:
    """P that values dealt at random to two groups of these sizes rank the first as low as `lower`; ties share ranks."""
    values = sorted([*lower, *higher])
    rank = {value: values.index(value) * 2 + values.count(value) + 1 for value in {*values}}  # twice the mean rank
    sums: list[Counter[int]] = [Counter({0: 1}), *(Counter[int]() for _ in lower)]
    for value in values:
        for size in range(len(lower), 0, -1):
            for total, ways in sums[size - 1].items():
                sums[size][total + rank[value]] += ways
    found = sum(rank[value] for value in lower)
    return sum(ways for total, ways in sums[-1].items() if total <= found) / math.comb(len(values), len(lower))
