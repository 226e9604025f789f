"""Whether two groups of equal runs differ by more than chance: Wilcoxon's rank test, exactly."""

import math
from collections import Counter
from collections.abc import Sequence


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
