"""The largest margin in closed form."""

import numpy as np
import pytest

from modgrok.measures.margins import climb, largest_margin, margin, of_fewest_neurons, of_largest_margin


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


@pytest.mark.parametrize("p", [5, 7, 9, 13, 25])
def test_six_neurons_for_each_frequency_are_enough_and_five_are_not(p: int) -> None:
    best = of_fewest_neurons(p)
    assert best.shape[2] == 3 * (p - 1)
    assert margin(best) == pytest.approx(largest_margin(p), rel=1e-10)
    assert margin(best[..., 1:]) < 0.99 * largest_margin(p)


def test_climbs_stay_below_the_largest_margin() -> None:
    for power in (3, 2):
        found = climb(5, [3, 16], starts=2, steps=300, power=power)
        assert found.shape == (2, 2)
        assert found.max() < 1.001
        assert found[1].max() > found[0].max()


def test_why_five_neurons_for_a_frequency_are_not_enough() -> None:
    """Seven moments of the phases have to vanish; six characters differ by them alone, so their Gram matrix over the
    neurons has rank six (docs/findings/few-neurons.md)."""
    vanishing = {(1, 1), (3, 1), (1, 3), (1, -1), (2, 2), (2, 0), (0, 2)}
    vanishing |= {(-a, -b) for a, b in vanishing}
    six = [(0, 0), (1, 1), (2, 2), (1, -1), (3, 1), (2, 0)]
    assert all((a - c, b - d) in vanishing for a, b in six for c, d in six if (a, b) != (c, d))
    assert all((a + 4 * b) % 6 for a, b in vanishing)
