import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.measures import frequency_power, power_spectrum, raw_coordinate, readout_spectrum
from modgrok.tasks.basis import Basis

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("p", [2, 7, 12])
def test_raw_spectrum_is_the_fourier_transform_of_each_block(p: int) -> None:
    w = RNG.normal(size=(5, 3, p))
    np.testing.assert_allclose(power_spectrum(w), abs(np.fft.fft(w)) ** 2, atol=1e-10)
    np.testing.assert_allclose(readout_spectrum(w[:, 0].T), abs(np.fft.fft(w[:, 0])) ** 2, atol=1e-10)


def test_complex_weights_keep_the_sign_of_their_frequency() -> None:
    p, k = 11, 8
    w = np.exp(2j * np.pi * k * np.arange(p) / p)[None, None]
    np.testing.assert_allclose(power_spectrum(w)[0, 0], p**2 * (np.arange(p) == k), atol=1e-9)


@given(p=st.integers(3, 30), seed=st.integers(0, 1000))
def test_wave_in_a_permuted_coordinate_is_pure(p: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    index = (rng.permutation(p), rng.permutation(p))
    readout = rng.permutation(p)
    k = int(rng.integers(1, (p + 1) // 2))
    w = np.stack([np.cos(2 * np.pi * k * places / p + 0.3) for places in index])[None]
    expected = (p / 2) ** 2 * np.isin(np.arange(p), (k, p - k))
    np.testing.assert_allclose(power_spectrum(w, Basis(p, index, readout))[0, 1], expected, atol=1e-9)
    w_out = np.empty((p, 1))
    w_out[readout, 0] = np.cos(2 * np.pi * k * np.arange(p) / p)
    np.testing.assert_allclose(readout_spectrum(w_out, Basis(p, index, readout))[0], expected, atol=1e-9)


def test_values_without_a_place_do_not_count_and_shared_places_add_up() -> None:
    coordinate = Basis(3, (np.array([-1, 0, 1, 1]),), np.array([1, 2, 3]), at_zero=0)
    w = np.array([[[100.0, 1.0, 2.0, 3.0]]])
    np.testing.assert_allclose(power_spectrum(w, coordinate)[0, 0], abs(np.fft.fft([1.0, 5.0, 0.0])) ** 2, atol=1e-12)


@given(p=st.integers(1, 12), seed=st.integers(0, 1000))
def test_folded_power_counts_every_frequency_once(p: int, seed: int) -> None:
    w = np.random.default_rng(seed).normal(size=(3, 2, p))
    power = frequency_power(w)
    assert len(power) == p // 2 + 1
    assert power.sum() == pytest.approx(p * np.square(w).sum())  # Parseval
    expected = [sum(power_spectrum(w).sum(axis=(0, 1))[v] for v in {k, -k % p}) for k in range(p // 2 + 1)]
    np.testing.assert_allclose(power, expected)


def test_coordinate_of_another_arity_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        power_spectrum(np.ones((1, 3, 5)), raw_coordinate(2, 5))


def test_traces_under_jit_and_vmap() -> None:
    w = RNG.normal(size=(4, 6, 2, 7)).astype(np.float32)
    coordinate = Basis(6, (np.array([-1, 0, 2, 1, 4, 5, 3]),) * 2, np.array([1, 3, 2, 6, 4, 5]), at_zero=0)
    traced = jax.jit(jax.vmap(lambda x: power_spectrum(x, coordinate)))(jnp.asarray(w))
    assert traced.dtype == jnp.float32
    np.testing.assert_allclose(traced, [power_spectrum(x, coordinate) for x in w], rtol=1e-4, atol=1e-3)
    read = jax.jit(lambda x: readout_spectrum(x, coordinate))(jnp.asarray(w[0, :, 0].T))
    np.testing.assert_allclose(read, readout_spectrum(w[0, :, 0].T, coordinate), rtol=1e-4, atol=1e-3)
