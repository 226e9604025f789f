"""Critical norms and times of decay."""

import pytest

from modgrok.measures.weight_norm import critical_norm, decay_time


def test_the_critical_norm_is_where_the_accuracy_falls() -> None:
    assert critical_norm([1.0, 10.0, 100.0], [0.2, 1.0, 0.0], 0.5) == pytest.approx(10**1.5)
    assert critical_norm([1.0, 10.0, 100.0], [0.2, 0.3, 0.4], 0.5) is None
    assert critical_norm([1.0, 10.0, 100.0], [0.2, 1.0, 1.0], 0.5) is None


def test_the_time_of_decay() -> None:
    steps = decay_time(20.0, 10.0, 1e-3, 0.5)
    assert 20.0 * (1 - 1e-3 * 0.5) ** steps == pytest.approx(10.0, rel=1e-3)
