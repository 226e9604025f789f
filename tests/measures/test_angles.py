import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.measures import circular_mean, circular_spread
from modgrok.measures.angles import wrap


@given(st.floats(-1e3, 1e3))
def test_wrap_keeps_the_angle_and_its_interval(angle: float) -> None:
    wrapped = wrap(np.array([angle]))[0]
    assert -np.pi < wrapped <= np.pi
    assert np.exp(1j * wrapped) == pytest.approx(np.exp(1j * angle), abs=1e-9)


@pytest.mark.parametrize("angle", [np.pi, -np.pi, 3 * np.pi])
def test_half_turn_is_positive(angle: float) -> None:
    assert wrap(np.array([angle]))[0] == pytest.approx(np.pi)


def test_mean_and_spread_across_the_cut() -> None:
    angles = np.array([np.pi - 0.1, -np.pi + 0.1, np.nan])
    assert abs(circular_mean(angles)) == pytest.approx(np.pi)
    resultant, deviation = circular_spread(angles)
    assert resultant == pytest.approx(np.cos(0.1))
    assert deviation == pytest.approx(np.sqrt(-2 * np.log(np.cos(0.1))))


def test_deviation_of_narrow_angles_is_the_ordinary_one() -> None:
    angles = np.random.default_rng(0).normal(3, 0.05, 5000)
    assert circular_spread(angles).deviation == pytest.approx(0.05, rel=0.05)


def test_extremes() -> None:
    assert circular_spread(np.full(3, 2.0)) == pytest.approx((1, 0), abs=1e-7)
    assert np.isnan(circular_spread(np.array([np.nan]))).all()
    assert np.isnan(circular_mean(np.array([])))
    assert circular_spread(np.arange(4) * np.pi / 2).resultant == pytest.approx(0, abs=1e-12)
