import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.measures import average_ipr, ipr, power_spectrum, raw_coordinate
from modgrok.measures.spectrum import power_along
from modgrok.tasks.basis import Basis

RNG = np.random.default_rng(0)


def waves(p: int, arity: int, frequencies: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    phases = rng.uniform(-np.pi, np.pi, (len(frequencies), arity, 1))
    return np.cos(2 * np.pi * frequencies[:, None, None] * np.arange(p) / p + phases)


@given(p=st.integers(3, 40), arity=st.integers(1, 3), seed=st.integers(0, 1000))
def test_pure_waves_live_on_two_frequencies_per_block(p: int, arity: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    power = power_spectrum(waves(p, arity, rng.integers(1, (p + 1) // 2, 4), rng))
    np.testing.assert_allclose(ipr(power), 1 / (2 * arity))
    np.testing.assert_allclose(ipr(power, r=1), 1)
    np.testing.assert_allclose(ipr(power, r=3), 1 / (2 * arity) ** 2)


def test_random_weights_are_delocalized() -> None:
    p = 97
    assert average_ipr(RNG.normal(size=(500, 2, p))).mean == pytest.approx(1 / p, rel=0.05)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_scale_does_not_matter(scale: float) -> None:
    w = RNG.normal(size=(3, 2, 7)).astype(np.float32)
    np.testing.assert_allclose(ipr(power_spectrum(np.float32(scale) * w)), ipr(power_spectrum(w)), rtol=1e-4)


def test_zero_neurons_are_nan_counted_and_left_out() -> None:
    w = waves(11, 2, np.array([1, 2, 3]), RNG)
    w[1] = 0
    assert np.isnan(ipr(power_spectrum(w))).tolist() == [False, True, False]
    mean, dead = average_ipr(w)
    assert mean == pytest.approx(0.25)
    assert dead == 1


def test_negligible_neurons_are_dead_beside_others() -> None:
    w = waves(11, 2, np.array([1, 2, 3]), RNG)
    w[1] = 5e-4 * RNG.normal(size=w[1].shape)
    mean, dead = average_ipr(w)
    assert mean == pytest.approx(0.25)
    assert dead == 1
    assert average_ipr(5e-4 * waves(11, 2, np.array([1, 2]), RNG)).dead == 0


def test_all_zero_has_no_ratio() -> None:
    mean, dead = average_ipr(np.zeros((4, 2, 5)))
    assert np.isnan(mean)
    assert dead == 4


def test_coordinate_makes_the_difference() -> None:
    p = 23
    places = RNG.permutation(p)
    w = waves(p, 2, np.array([1, 4, 7]), RNG)[..., places]
    assert average_ipr(w).mean < 0.15
    assert average_ipr(w, Basis(p, (places, places), np.arange(p))).mean == pytest.approx(0.25)


def test_traces_under_jit_and_vmap() -> None:
    w = RNG.normal(size=(3, 6, 2, 7)).astype(np.float32)
    w[0, 2] = 0
    w[1] = 0
    traced = jax.jit(jax.vmap(lambda x: average_ipr(x, raw_coordinate(2, 7))))(jnp.asarray(w))
    plain = [average_ipr(x) for x in w]
    np.testing.assert_allclose(traced.mean, [x.mean for x in plain], rtol=1e-4)
    assert traced.dead.tolist() == [x.dead for x in plain] == [1, 6, 0]


@pytest.mark.parametrize("length", [1, 2, 6, 9, 10, 11])
def test_half_of_the_frequencies_tell_of_all(length):
    """In a coordinate that is data, of any length up to p, with values that share a place or have none."""
    index = RNG.integers(-1, length, size=(2, 11))
    index[:, 0] = 0
    w = RNG.normal(size=(7, 2, 11))
    power, times = power_along(w, index, np.asarray(length))
    whole = ipr(power_spectrum(w, Basis(length, tuple(index), np.arange(length))))
    assert power.shape == (7, 2, 6)
    np.testing.assert_allclose(ipr(power, times=times), whole)


def test_no_coordinate_has_no_ratio():
    power, times = power_along(RNG.normal(size=(3, 2, 5)), np.zeros((2, 5), int), np.asarray(0))
    assert np.isnan(ipr(power, times=times)).all()
