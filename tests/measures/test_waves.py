import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.closed_form import solve
from modgrok.measures import neuron_waves, raw_coordinate
from modgrok.measures.angles import wrap
from modgrok.measures.waves import nearest_frequency, neuron_of
from modgrok.networks import two_layer
from modgrok.tasks import task
from modgrok.tasks.basis import Basis


@given(p=st.integers(3, 40), arity=st.integers(1, 3), seed=st.integers(0, 1000), permuted=st.booleans())
def test_frequencies_amplitudes_and_phases_are_recovered(wave_network, p, arity, seed, permuted) -> None:
    rng = np.random.default_rng(seed)
    coordinate = raw_coordinate(arity, p)
    if permuted:
        coordinate = Basis(p, tuple(rng.permutation(p) for _ in range(arity)), rng.permutation(p))
    frequency = rng.integers(1, (p + 1) // 2, 6)
    amplitudes = rng.uniform(0.5, 2, (6, arity + 1))
    phases = rng.uniform(-np.pi, np.pi, (6, arity + 1))
    waves = neuron_waves(wave_network(coordinate, p, frequency, amplitudes, phases), coordinate if permuted else None)
    assert waves.frequency.tolist() == frequency.tolist()
    np.testing.assert_allclose(waves.amplitudes, amplitudes, rtol=1e-9)
    np.testing.assert_allclose(wrap(waves.phases - phases), 0, atol=1e-9)
    expected = phases[:, :-1].sum(axis=1) - phases[:, -1]
    np.testing.assert_allclose(wrap(waves.residual - expected), 0, atol=1e-9)
    assert (abs(waves.residual) <= np.pi).all()
    np.testing.assert_allclose(waves.explained, 1)


def test_hand_made_neuron() -> None:
    n = np.arange(5)
    w = np.stack([2 * np.cos(2 * np.pi * n / 5 + 0.5), 3 * np.cos(2 * np.pi * n / 5 - 0.2)])[None]
    # Frequency 4 is frequency 1 with the opposite phase.
    w_out = 4 * np.cos(-2 * np.pi * 4 * n / 5 + 0.3)[:, None]
    waves = neuron_waves(two_layer(w, w_out))
    assert waves.frequency.tolist() == [1]
    np.testing.assert_allclose(waves.amplitudes, [[2, 3, 4]])
    np.testing.assert_allclose(waves.phases, [[0.5, -0.2, 0.3]])
    assert waves.residual == pytest.approx(0)


def test_waves_in_squares_are_found_though_places_are_shared(wave_network) -> None:
    p, rng = 23, np.random.default_rng(2)
    squares = np.arange(p) ** 2 % p
    coordinate = Basis(p, (squares, squares), np.arange(p))
    frequency, phases = np.arange(1, 12), rng.uniform(-np.pi, np.pi, (11, 3))
    waves = neuron_waves(wave_network(coordinate, p, frequency, np.ones((11, 3)), phases), coordinate)
    assert waves.frequency.tolist() == frequency.tolist()
    np.testing.assert_allclose(wrap(waves.phases - phases), 0, atol=1e-9)
    np.testing.assert_allclose(waves.explained, 1)


def test_even_readout_hides_its_phase(wave_network) -> None:
    p, rng = 13, np.random.default_rng(3)
    coordinate = Basis(p, (np.arange(p),) * 2, np.arange(p) ** 2 % p)
    phases = rng.uniform(-1, 1, (6, 3))
    waves = neuron_waves(wave_network(coordinate, p, np.arange(1, 7), np.ones((6, 3)), phases), coordinate)
    np.testing.assert_allclose(waves.phases[:, :2], phases[:, :2])
    assert np.isnan(waves.phases[:, 2]).all()
    assert np.isnan(waves.residual).all()
    np.testing.assert_allclose(waves.explained, 1)


def test_half_the_length_has_an_amplitude_but_no_phase(wave_network) -> None:
    waves = neuron_waves(wave_network(raw_coordinate(2, 6), 6, np.array([3]), np.full((1, 3), 1.5), np.zeros((1, 3))))
    assert waves.frequency.tolist() == [3]
    np.testing.assert_allclose(waves.amplitudes, 1.5)
    assert np.isnan([*waves.phases[0], *waves.residual]).all()
    assert waves.explained == pytest.approx(1)


def test_values_without_a_place_are_not_explained() -> None:
    index = np.array([-1, 0, 1, 3, 2])
    coordinate = Basis(4, (index, index), np.array([1, 2, 4, 3]), at_zero=0)
    wave = np.where(index < 0, 1, np.cos(2 * np.pi * index / 4))
    waves = neuron_waves(two_layer(np.stack([wave, wave])[None], np.zeros((5, 1))), coordinate)
    assert waves.explained == pytest.approx(4 / 6)
    assert np.isnan(waves.phases[0, 2])


def test_neurons_without_a_wave() -> None:
    w_in, w_out = np.zeros((3, 2, 7)), np.zeros((7, 3))
    w_in[1] = 1.7  # constant
    w_out[:, 2] = 1.0  # no input
    waves = neuron_waves(two_layer(w_in, w_out))
    assert waves.frequency.tolist() == [0, 0, 0]
    np.testing.assert_equal(waves.explained, [np.nan, 0, 0])
    for values in (waves.amplitudes, waves.phases, waves.residual):
        assert np.isnan(values).all()


def test_coherence_and_what_is_explained(addition) -> None:
    network, _, coordinate = addition
    waves = neuron_waves(network, coordinate)
    assert waves.coherence == pytest.approx(1)
    assert waves.explained.min() > 0.9
    rng = np.random.default_rng(0)
    random = neuron_waves(two_layer(rng.normal(size=(2000, 2, 11)), rng.normal(size=(11, 2000))))
    assert random.coherence < 3 / np.sqrt(2000)
    assert (random.explained > 0.9).mean() < 0.02 < (random.explained > 0.1).mean()


def test_dead_neurons_stay_out(addition) -> None:
    network, _, coordinate = addition
    size = np.where(np.arange(200) < 50, 5e-4, 1.0)
    mixed = two_layer(network.w_in * size[:, None, None], network.w_out * size)
    waves = neuron_waves(mixed, coordinate)
    assert (waves.frequency == 0).tolist() == (size < 1).tolist()
    assert np.isnan(waves.explained).tolist() == (size < 1).tolist()
    assert np.nanmin(waves.explained) > 0.9
    all_small = neuron_waves(two_layer(5e-4 * network.w_in, 5e-4 * network.w_out))
    assert (all_small.frequency > 0).all()


def test_where_no_neuron_is_alive_there_is_no_coherence() -> None:
    assert np.isnan(neuron_waves(two_layer(np.zeros((3, 2, 5)), np.zeros((5, 3)))).coherence)


def test_constant_is_no_wave_where_places_are_shared() -> None:
    squares = np.arange(11) ** 2 % 11
    network = two_layer(np.full((1, 2, 11), 0.3), np.ones((11, 1)))
    assert neuron_waves(network, Basis(11, (squares, squares), np.arange(11))).frequency.tolist() == [0]


def test_group_of_one_element_has_no_waves() -> None:
    coordinate = Basis(1, (np.array([-1, 0]),) * 2, np.array([1]), at_zero=0)
    assert neuron_waves(two_layer(np.ones((2, 2, 2)), np.ones((2, 2))), coordinate).frequency.tolist() == [0, 0]


def test_noise_lowers_what_is_explained_but_keeps_it_a_share() -> None:
    rng = np.random.default_rng(0)
    explained = neuron_waves(two_layer(rng.normal(size=(50, 2, 31)), rng.normal(size=(31, 50)))).explained
    assert ((explained > 0) & (explained < 0.5)).all()


def test_complex_and_jax_networks_are_measured_too() -> None:
    p, n = 11, np.arange(11)
    w_in = np.exp(1j * (2 * np.pi * 3 * n / p + np.array([[0.4], [0.9]])))[None]
    w_out = np.exp(-1j * (2 * np.pi * 3 * n / p + 1.3))[:, None]
    np.testing.assert_allclose(neuron_waves(two_layer(w_in, w_out)).phases, [[0.4, 0.9, 1.3]])
    single = two_layer(jnp.asarray(w_in.real, jnp.float32), jnp.asarray(w_out.real, jnp.float32))
    np.testing.assert_allclose(neuron_waves(single).phases, [[0.4, 0.9, 1.3]], atol=1e-5)


def test_neurons_of_one_frequency_are_found() -> None:
    network = solve(task("n + m", 13), "waves", 60)
    assert nearest_frequency(network, 5) == 5
    assert nearest_frequency(network, 40) == 6
    assert neuron_waves(network).frequency[neuron_of(network, 5)] == 5
