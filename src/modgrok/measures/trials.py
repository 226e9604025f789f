"""A search among trials: which is chosen, and whether it lies where the search did not look further."""

import math
import statistics
from collections.abc import Iterable, Sequence

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
