"""The critical fraction α_c(T) from grokking times: a run that groks at step t groks within T steps where t ≤ T.

One definition everywhere, that of `modgrok critical`: the fraction at which half of the runs grok within the budget,
with the 95 % interval of a logistic fit.
"""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

from modgrok.experiments.sweeps.logistic import Transition, fit_transition
from modgrok.experiments.sweeps.trends import difference
from modgrok.text import NONE, Value

Cells = Sequence[Sequence[Value]]
"""Grokking times by fraction and seed, None where a run did not grok."""


def transition(fractions: Sequence[float], times: Cells, budget: int) -> Transition:
    """α_c within a budget of steps."""
    counts = {
        fraction: (sum(time is not None and time <= budget for time in cell), len(cell))
        for fraction, cell in zip(fractions, times, strict=True)
    }
    ordered = sorted(counts)
    resolution = min((b - a for a, b in pairwise(ordered)), default=0.01)
    return fit_transition(counts, resolution)


def transitions_of_budgets(fractions: Sequence[float], times: Cells, budgets: Sequence[int]) -> list[dict[str, Any]]:
    """α_c for every budget, as JSON values."""
    return [asdict(transition(fractions, times, budget)) for budget in budgets]


def read(found: dict[str, Any]) -> Transition:
    """The transition that was written down."""
    return Transition(**found)


def known(found: dict[str, Any]) -> bool:
    """Whether α_c lies within the fractions that were tried."""
    return found["critical"] is not None


def less(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the first α_c is below the second beyond the 95 % interval of their difference; one that is only known to
    lie below or above all fractions tried counts by that bound."""
    a, b = read(one), read(other)
    if (gap := difference(a, b)) is not None:
        return gap.high < 0
    return a.high is not None and b.low is not None and a.high <= b.low


def bars(found: Sequence[dict[str, Any]]) -> tuple[list[float], list[float], list[float]]:
    """Middles and lengths of the error bars below and above, NaN where α_c is not known."""
    middle = [one["critical"] if known(one) else float("nan") for one in found]
    ends = [[abs(one["critical"] - one[end]) if known(one) else 0.0 for one in found] for end in ("low", "high")]
    return middle, ends[0], ends[1]


def say(found: dict[str, Any] | None) -> str:
    """α_c with its interval."""
    return NONE if found is None else str(read(found))
