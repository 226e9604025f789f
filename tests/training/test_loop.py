"""The loop over steps: minibatches, divergence, and what one run shares with a batch."""

import dataclasses
from functools import cache, partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.networks import Network, as_numpy, grid, score
from modgrok.tasks import Examples
from modgrok.training import loop
from modgrok.training.data import PaddedShape, run_data
from modgrok.training.evaluation import evaluate, recorded_names, settle
from modgrok.training.kernels import kernel_for
from modgrok.training.recording import recorded_measures
from modgrok.training.together import stack, unstack

MOVE = {
    "lr": 0.1,
    "coupled_decay": 0.0,
    "decoupled_decay": 0.0,
    "momentum": 0.0,
    "beta1": 0.9,
    "beta2": 0.98,
    "epsilon": 1e-8,
    "dropout": 0.0,
}
DROPOUT = frozenset({"dropout"})


def rates(precision="float64", **changes):
    return {name: np.asarray(value, precision) for name, value in (MOVE | changes).items()}


def test_a_batch_larger_than_the_training_set_is_the_training_set(plain):
    program, full = plain.program_with(batch_size=100), plain.program_with()
    weights = plain.random_weights(program)
    one, other = (run_steps(plain, p, plain.random_data(p)[2], rates(), weights, 3).weights for p in (program, full))
    np.testing.assert_allclose(one["columns"], other["columns"], rtol=1e-10)


def test_weight_noise_moves_the_gradient_and_not_the_weights(plain):
    noisy, plainly = plain.program_with(features=frozenset({"weight_noise"})), plain.program_with()
    weights, data = plain.random_weights(noisy), plain.random_data(noisy)[2]
    step = lambda program, noise: run_steps(plain, program, data, rates(weight_noise=noise), weights, 1).weights  # noqa: E731
    still, loud, plain_step = step(noisy, 0.0), step(noisy, 1.0), step(plainly, 0.0)
    np.testing.assert_allclose(still["columns"], plain_step["columns"], rtol=1e-12)
    moved, usual = (np.abs(tree["columns"] - weights["columns"]).max() for tree in (loud, plain_step))
    assert abs(moved - usual) > 0
    assert moved < 50 * usual


def run_steps(plain, program, data, its_rates, weights, count):
    state = compiled(loop.start, program)(weights, its_rates)
    advance = compiled(loop.advance, program)
    return advance(state, data, its_rates, np.uint32(0), np.int32(0), np.int32(count), np.bool_(False))[0]


@cache
def compiled(function, program):
    """Once for each program."""
    return jax.jit(partial(function, program))


def test_steps_are_the_same_however_they_are_cut(plain):
    program = plain.program_with(batch_size=4, features=DROPOUT, scaling="adam")
    _, _, data = plain.random_data(program)
    its_rates = rates(dropout=0.3)
    state = compiled(loop.start, program)(plain.random_weights(program), its_rates)
    advance = compiled(loop.advance, program)

    def to(state, cuts):
        for begin, end in pairwise(cuts):
            state, _ = advance(
                state, data, its_rates, np.uint32(5), np.int32(begin), np.int32(end - begin), np.bool_(False)
            )
        return state

    for one, other in zip(
        jax.tree.leaves(to(state, [0, 11])), jax.tree.leaves(to(state, [0, 1, 6, 6, 11])), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("platform", ["cpu", "gpu"])
def test_a_diverging_run_keeps_its_last_finite_weights(plain, platform):
    program = plain.program_with(platform=platform, parametrization="standard", precision="float32")
    _, _, data = plain.random_data(program)
    state = run_steps(plain, program, data, rates("float32", lr=1e6), plain.random_weights(program), 50)
    assert 0 < state.diverged_at < 10
    assert state.frozen
    assert all(np.isfinite(w).all() for w in state.weights.values())
    again = run_steps(plain, program, data, rates("float32", lr=1e6), plain.random_weights(program), state.diverged_at)
    np.testing.assert_array_equal(state.weights["columns"], again.weights["columns"])


def test_an_update_that_overflows_leaves_weights_that_can_be_stored(plain):
    program = plain.program_with(precision="float32")
    _, _, data = plain.random_data(program)
    state = run_steps(plain, program, data, rates("float32", lr=3e38), plain.random_weights(program), 20)
    assert state.frozen
    assert state.diverged_at > 0
    assert all(np.isfinite(w).all() for w in state.weights.values())


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"platform": "gpu"},
        {"batch_norm": True},
        {"arity": 3, "modulus": 4},
        {"features": DROPOUT, "batch_size": 4},
    ],
    ids=str,
)
def test_measurements_are_those_of_the_network(plain, changes):
    """Losses, accuracies and norms are the NumPy network's; dropout is off, batch statistics are of all of train."""
    program = with_measures(plain.program_with(**changes))
    task, train, data = plain.random_data(program)
    weights = plain.random_weights(program)
    measured = jax.jit(partial(evaluate, program))(weights, data)
    network = as_numpy(Network(program.architecture, program.signature, settle(program, weights, data)))
    inputs, answers = grid(task.sizes), task.table.ravel()
    test = np.setdiff1d(np.arange(len(answers)), train)
    for name, part in (("train", train), ("test", test)):
        expected = score(network, inputs[part], answers[part])
        assert measured[f"{name}_loss"] == pytest.approx(expected.loss, rel=1e-10)
        assert measured[f"{name}_accuracy"] == pytest.approx(expected.accuracy, rel=1e-12)
    assert measured["norm_in"] == pytest.approx(np.linalg.norm(network.w_in))
    assert measured["norm_out"] == pytest.approx(np.linalg.norm(network.w_out))
    gradient = jax.jit(jax.grad(lambda w: plain.plain_loss(program, w, inputs[train], answers[train])))(weights)
    assert measured["gradient_in"] == pytest.approx(np.linalg.norm(gradient["columns"]))
    assert measured["gradient_out"] == pytest.approx(np.linalg.norm(gradient["readout"]))
    assert tuple(sorted(measured)) == tuple(sorted(recorded_names(program)))


@pytest.mark.parametrize("changes", [{}, {"features": DROPOUT, "batch_size": 4}], ids=str)
def test_what_a_step_found_out_is_what_an_evaluation_finds(plain, changes):
    """Also where no step is taken, and where the run has diverged. Of one that was stopped nothing is found out."""
    program = plain.program_with(**changes)
    _, _, data = plain.random_data(program)
    its_rates = rates()
    state = compiled(loop.start, program)(plain.random_weights(program), its_rates)
    advance = compiled(loop.advance, program)
    alone = jax.jit(partial(evaluate, program))
    for step, count, frozen in [(0, 0, False), (0, 3, False), (3, 0, False), (3, 2, True)]:
        diverged_at = jnp.asarray(step if frozen else loop.NEVER, jnp.int32)
        state = state._replace(frozen=jnp.asarray(frozen), diverged_at=diverged_at)
        when = np.int32(step), np.int32(count), np.bool_(True)
        weights = state.weights
        state, found = advance(state, data, its_rates, np.uint32(0), *when)
        moved = any((weights[name] != state.weights[name]).any() for name in weights)
        assert moved == (count > 0 and not frozen)
        for name, expected in alone(state.weights, data).items():
            assert found[name] == pytest.approx(float(expected), rel=1e-10), name
    stopped = state._replace(diverged_at=jnp.asarray(loop.NEVER, jnp.int32))
    assert np.isnan(list(advance(stopped, data, its_rates, np.uint32(0), *when)[1].values())).all()


def with_measures(program):
    return dataclasses.replace(program, recorded=recorded_measures(program.architecture, ()))


def test_a_dead_network_is_measured_without_nan_in_its_losses(plain):
    program = with_measures(plain.program_with())
    _, _, data = plain.random_data(program)
    zero = jax.tree.map(jnp.zeros_like, plain.random_weights(program))
    measured = jax.jit(partial(evaluate, program))(zero, data)
    assert np.isnan(measured["ipr"])
    assert all(np.isfinite(value) for name, value in measured.items() if "ipr" not in name)


VMAP_TOLERANCE = 1e-5
"""Largest relative difference in float32 between a run alone and the same run mapped over a batch, after 20 steps of
Adam: matrix products of different shapes add in a different order."""


def examples(task, train):
    answers = task.table.ravel()
    return Examples(grid(task.sizes), answers, answers, np.isin(np.arange(len(answers)), train))


def test_a_mapped_batch_is_its_runs_within_rounding(plain):
    """Four runs with their own splits, rates, scales and seeds, on the path of a GPU."""
    program = plain.program_with(modulus=7, width=16, scaling="adam", precision="float32", platform="gpu")
    with jax.enable_x64(False):
        task = plain.random_task(program)
        trains = [np.sort(np.random.default_rng(seed).permutation(49)[:30]) for seed in range(4)]
        shapes = [kernel_for(program).padded_shape(lambda train=train: grid((7, 7))[train], 30) for train in trains]
        padded = PaddedShape(*map(max, zip(*shapes, strict=True)))
        data = [run_data(program, task, examples(task, train), padded) for train in trains]
        its_rates = [rates("float32", lr=0.01 * (1 + i), decoupled_decay=0.1 * i) for i in range(4)]
        seeds = [np.uint32(i) for i in range(4)]
        begin = jax.jit(partial(loop.start_randomly, program))
        states = [begin(seeds[i], np.float32(1 + i), its_rates[i]) for i in range(4)]
        runs = list(zip(states, data, its_rates, seeds, strict=True))

        when = (np.int32(0), np.int32(20), np.bool_(True))
        alone = jax.jit(partial(loop.advance, program))
        mapped = jax.jit(jax.vmap(partial(loop.advance, program), in_axes=(0,) * 4 + (None,) * 3))
        together = unstack(mapped(*stack(runs, jax.devices()[0]), *when), range(4), 4)
        for run, in_batch in zip(runs, together, strict=True):
            for one, other in zip(jax.tree.leaves(alone(*run, *when)), jax.tree.leaves(in_batch), strict=True):
                np.testing.assert_allclose(one, other, rtol=VMAP_TOLERANCE, atol=VMAP_TOLERANCE * np.abs(one).max())
