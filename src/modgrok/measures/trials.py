"""A search among trials: which is chosen, and whether it lies where the search did not look further."""

import math
from collections.abc import Iterable, Sequence


def best_trial(found: Sequence[tuple[int | None, float]]) -> int:
    """Which of the trials, each with its time and its accuracy, is chosen: the fastest or, where none gets there, the
    one with the best accuracy."""
    return min(range(len(found)), key=lambda i: (math.inf if found[i][0] is None else found[i][0], -found[i][1]))


def edge(chosen: float, tried: Iterable[float], name: str) -> str:
    """ ", the largest rate tried" where the chosen value is an outermost one; a smallest of 0 is none."""
    values = set(tried)
    if len(values) > 1 and chosen == max(values):
        return f", the largest {name} tried"
    return f", the smallest {name} tried" if len(values) > 1 and chosen == min(values) > 0 else ""
