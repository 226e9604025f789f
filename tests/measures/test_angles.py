import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.measures import circular_mean, circular_spread, kuiper
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


def test_kuiper_tells_uniform_angles_from_others_whatever_the_origin() -> None:
    rng = np.random.default_rng(0)
    uniform = rng.uniform(-np.pi, np.pi, 500)
    assert kuiper(uniform) > 0.01
    assert kuiper(uniform) == pytest.approx(kuiper(uniform + 1.3))
    two_ways = np.where(rng.random(500) < 0.5, 0, np.pi) + 0.5 * rng.standard_normal(500)
    assert abs(np.exp(1j * two_ways).mean()) < 0.1  # The first moment does not see it.
    assert kuiper(two_ways) < 1e-6
    assert kuiper(np.linspace(0, 2 * np.pi, 500, endpoint=False)) == 1
    assert np.isnan(kuiper(np.full(3, np.nan)))


def test_kuiper_gives_uniform_probabilities() -> None:
    rng = np.random.default_rng(1)
    found = np.array([kuiper(rng.uniform(0, 2 * np.pi, 60)) for _ in range(600)])
    assert 0.4 < found.mean() < 0.6
    assert 0.02 < (found < 0.05).mean() < 0.09
