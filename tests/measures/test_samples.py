import pytest

from modgrok.measures.samples import all_right, mean_interval


def test_the_chance_to_be_always_right_counts_the_errors() -> None:
    assert all_right(1.0, 941, 188) == 1
    assert all_right(1 - 1 / 941, 941, 188) == pytest.approx(1 - 188 / 941)
    assert all_right(0.5, 10, 6) == 0


def test_intervals_over_seeds_need_two() -> None:
    assert mean_interval([3.0]) is None
    low, high = mean_interval([9.0, 10.0, 11.0])  # type: ignore[misc]
    assert (low + high) / 2 == pytest.approx(10)
    assert high - low == pytest.approx(2 * 4.3027 / 3**0.5, rel=1e-3)
