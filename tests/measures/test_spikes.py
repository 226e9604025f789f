"""Spikes and stairs of made-up curves."""

import numpy as np
import pytest

from modgrok.measures.spikes import growth, growth_next_to, late_spikes, near, spikes, stairs

STEPS = np.arange(0, 1000, 10)


def loss_with_spikes(*places: int) -> np.ndarray:
    """Falls a decade every 50 steps to 1e-9; a spike lasts 30 steps."""
    loss = np.maximum(10 ** (-STEPS / 50), 1e-9)
    for place in places:
        loss[(place <= STEPS) & (place + 30 > STEPS)] = 0.5
    return loss


def test_spikes_are_counted_where_they_begin() -> None:
    assert spikes(STEPS, loss_with_spikes()) == []
    assert spikes(STEPS, loss_with_spikes(500, 800)) == [500, 800]
    rounding = loss_with_spikes()
    rounding[60:70] = 9e-6
    assert spikes(STEPS, rounding) == []


def test_late_spikes_follow_a_loss_that_has_vanished() -> None:
    assert late_spikes(STEPS, loss_with_spikes(200, 600, 800)) == [600, 800]
    assert late_spikes(STEPS, np.maximum(loss_with_spikes(200, 600), 1e-7)) == []


def test_stairs_are_plateaus_and_growth_before_a_spike() -> None:
    assert stairs(STEPS, np.maximum(STEPS, 700.0), [500, 800]) == [True]
    assert stairs(STEPS, 1.0 * STEPS, [500, 800]) == [False]
    assert stairs(STEPS, 1.0 * STEPS, [500]) == []


def test_growth_next_to_spikes() -> None:
    jump = np.where(STEPS < 800, 1.0, 2.0) + 1e-6 * STEPS
    assert growth_next_to(STEPS, 1.0 * STEPS, [400, 800]) == [pytest.approx(0.25)]
    assert growth_next_to(STEPS, jump, [400, 800]) == [pytest.approx(1, abs=1e-3)]
    assert growth_next_to(STEPS, -jump, [400, 800]) == [0]


def test_growth_in_spikes() -> None:
    norm = np.where(STEPS < 500, 1.0, 2.0) + 1e-4 * STEPS
    found = growth(STEPS, loss_with_spikes(500), norm)
    assert found["begun"] in (250, 260)  # 10⁻⁵ is the limit itself
    assert found["share_of_growth"] > 0.9
    assert found["share_of_steps"] < 0.1
    assert growth(STEPS, loss_with_spikes(800), norm)["share_of_growth"] < 0.1
    assert growth(STEPS, loss_with_spikes(), norm)["share_of_growth"] == 0
    assert near(STEPS, [500], 50).sum() == 11
