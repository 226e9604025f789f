"""The exact rank test against all ways to deal values."""

from itertools import combinations

import pytest

from modgrok.measures.samples import order_chance


@pytest.mark.parametrize(
    ("lower", "higher"), [([1, 2, 3], [4, 5, 6]), ([1, 5, 2], [3, 4, 5, 5]), ([2, 2], [2, 2, 2]), ([0, 1], [0, 1])]
)
def test_it_counts_the_ways_to_deal(lower: list[float], higher: list[float]) -> None:
    values = [*lower, *higher]
    ranks = [sum(b < a for b in values) + (sum(b == a for b in values) + 1) / 2 for a in values]
    dealt = [sum(some) for some in combinations(ranks, len(lower))]
    assert order_chance(lower, higher) == pytest.approx(
        sum(total <= sum(ranks[: len(lower)]) for total in dealt) / len(dealt)
    )
