"""What samples say: intervals of means, what chance alone would do, whether groups of equal runs differ by more, and
which of several trials is best."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence

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


Time = int | float | None
"""Until a run groks; None where it does not."""
Cells = Sequence[Sequence[Time]]
"""Times by trial and seed."""


def best_trial(found: Sequence[tuple[int | None, float]]) -> int:
    """Of trials with a time and an accuracy the fastest, or the most accurate where none gets there."""
    return min(range(len(found)), key=lambda i: (math.inf if found[i][0] is None else found[i][0], -found[i][1]))


def fastest_trial(cells: Cells) -> int | None:
    """The trial of smallest median time among those in which most seeds grok; None where no run of any groks."""

    def order(trial: int) -> tuple[int, float]:
        times = [math.inf if time is None else time for time in cells[trial]]
        return times.count(math.inf), statistics.median(times)

    if all(time is None for cell in cells for time in cell):
        return None
    return min(range(len(cells)), key=order)


def tuned_times(cells: Cells) -> list[Time]:
    """The time of every seed under the trial that the other seeds choose."""
    seeds = range(len(cells[0]))
    found: list[Time] = []
    for seed in seeds:
        chosen = fastest_trial([[cell[i] for i in seeds if i != seed or len(seeds) == 1] for cell in cells])
        found.append(None if chosen is None else cells[chosen][seed])
    return found


def first_times(cells: Cells) -> list[Time]:
    """The time of every seed under the trial in which it groks first."""
    return [min((time for time in seed if time is not None), default=None) for seed in zip(*cells, strict=True)]


def edge(chosen: float, tried: Iterable[float], name: str) -> str:
    """ ", the largest rate tried" where the chosen value is an outermost one; a smallest of 0 is none."""
    values = set(tried)
    if len(values) > 1 and chosen == max(values):
        return f", the largest {name} tried"
    return f", the smallest {name} tried" if len(values) > 1 and chosen == min(values) > 0 else ""
