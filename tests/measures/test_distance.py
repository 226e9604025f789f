import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.errors import ModgrokError
from modgrok.measures import (
    distance_to_closed_form,
    distance_to_table,
    nearest_closed_form,
    neuron_waves,
    raw_coordinate,
)
from modgrok.measures.angles import wrap
from modgrok.networks import score_table, two_layer
from modgrok.tasks.basis import Basis


@given(p=st.integers(3, 30), arity=st.integers(1, 3), seed=st.integers(0, 1000))
def test_closed_forms_have_distance_zero(wave_network, p, arity, seed) -> None:
    rng = np.random.default_rng(seed)
    phases = rng.uniform(-np.pi, np.pi, (5, arity + 1))
    phases[:, -1] = phases[:, :-1].sum(axis=1)
    coordinate = Basis(p, tuple(rng.permutation(p) for _ in range(arity)), rng.permutation(p))
    amplitudes = rng.uniform(0.5, 2, (5, arity + 1))
    network = wave_network(coordinate, p, rng.integers(1, (p + 1) // 2, 5), amplitudes, phases)
    np.testing.assert_allclose(distance_to_closed_form(network, coordinate), 0, atol=1e-7)


def test_all_branches_of_an_even_readout_are_a_closed_form(wave_network) -> None:
    p, rng = 13, np.random.default_rng(3)
    coordinate = Basis(p, (np.arange(p),) * 2, np.arange(p) ** 2 % p)
    phases = rng.uniform(-np.pi, np.pi, (12, 3))
    phases[:, 2] = phases[:, 0] + phases[:, 1]
    network = wave_network(coordinate, p, np.tile(np.arange(1, 7), 2), np.ones((12, 3)), phases)
    np.testing.assert_allclose(distance_to_closed_form(network, coordinate), 0, atol=1e-7)


def test_half_the_length_admits_all_signs(wave_network) -> None:
    signs = np.array(np.meshgrid(*[[1.0, -1.0]] * 3)).reshape(3, 8).T
    network = wave_network(raw_coordinate(2, 6), 6, np.full(8, 3), signs, np.zeros((8, 3)))
    np.testing.assert_allclose(distance_to_closed_form(network), 0, atol=1e-7)


@pytest.mark.parametrize("squares", [False, True])
def test_nearest_beats_every_triple_on_a_grid(squares: bool) -> None:
    p, rng = 11, np.random.default_rng(4)
    n = np.arange(p)
    index = n**2 % p if squares else n
    coordinate = Basis(p, (index, index), n)
    grid = np.arange(0, 2 * np.pi, 0.1)
    one, two = (angle.ravel() for angle in np.meshgrid(grid, grid))
    for _ in range(5):
        network = two_layer(rng.normal(size=(1, 2, p)), rng.normal(size=(p, 1)))
        k = neuron_waves(network, coordinate).frequency[0]
        captured = 0.0
        blocks = (
            (network.w_in[0, 0], index, one),
            (network.w_in[0, 1], index, two),
            (network.w_out[:, 0], n, one + two),
        )
        for w, places, angle in blocks:
            wave = np.cos(2 * np.pi * k * places / p + angle[:, None])
            captured = captured + (wave @ w).clip(0) ** 2 / (wave**2).sum(axis=1)
        total = np.square(network.w_in).sum() + np.square(network.w_out).sum()
        best = np.sqrt((total - captured.max()) / total)
        assert best - 1e-2 < distance_to_closed_form(network, coordinate).both <= best + 1e-9


def test_nearest_closed_form_obeys_the_phase_constraint(addition) -> None:
    network, _, coordinate = addition
    rng = np.random.default_rng(0)
    trained = network.replace(w_in=network.w_in + rng.normal(size=network.w_in.shape))
    waves = neuron_waves(nearest_closed_form(trained, coordinate))
    np.testing.assert_allclose(wrap(waves.residual), 0, atol=1e-9)
    near = distance_to_closed_form(trained, coordinate)
    assert 0 < near.w_out < near.both < near.w_in < 0.5


def test_dead_and_constant_neurons() -> None:
    assert np.isnan(distance_to_closed_form(two_layer(np.zeros((2, 2, 5)), np.zeros((5, 2))))).all()
    assert distance_to_closed_form(two_layer(np.ones((2, 2, 5)), np.ones((5, 2)))) == (0, 0, 0)


def test_distance_to_the_table_is_that_of_the_outputs(addition) -> None:
    network, table, _ = addition
    assert distance_to_table(network, table) == pytest.approx(np.sqrt(11 * score_table(network, table).loss))
    assert distance_to_table(two_layer(np.zeros((2, 2, 5)), np.zeros((5, 2))), np.zeros((5, 5), int)) == pytest.approx(
        1
    )


def test_complex_weights_are_refused() -> None:
    with pytest.raises(ModgrokError, match="complex"):
        distance_to_closed_form(two_layer(np.ones((1, 2, 5), complex), np.ones((5, 1), complex)), raw_coordinate(2, 5))
