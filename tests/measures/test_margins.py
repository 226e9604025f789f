"""The largest margin in closed form."""

import numpy as np
import pytest

from modgrok.measures.margins import largest_margin, margin, of_largest_margin


@pytest.mark.parametrize("p", [3, 5, 7, 9, 13, 21])
def test_waves_of_all_frequencies_reach_the_largest_margin_and_nothing_passes_it(p: int) -> None:
    best = of_largest_margin(p)
    assert margin(best) == pytest.approx(largest_margin(p), rel=1e-10)
    random = np.random.default_rng(p)
    for _ in range(5):
        assert margin(best + 0.1 * random.normal(size=best.shape)) < largest_margin(p)
        assert margin(random.normal(size=best.shape)) < largest_margin(p)


def test_the_margin_has_no_unit() -> None:
    blocks = np.random.default_rng(0).normal(size=(3, 5, 12))
    assert margin(7 * blocks) == pytest.approx(margin(blocks))
    assert largest_margin(71) == pytest.approx(4.61e-4, rel=1e-3)
