"""Loss and gradient of the kernels against automatic differentiation of the plain network, and against each other."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modgrok.networks import Noise, grid
from modgrok.training import program as program_module
from modgrok.training.data import deal
from modgrok.training.kernels import generic, kernel_for
from modgrok.training.kernels.generic import row_numbers
from modgrok.training.kernels.plain_xla import TwoLayerKernel
from modgrok.training.program import EXAMPLES

CASES = {
    "the paper's network": {},
    "one variable": {"arity": 1, "modulus": 11},
    "three variables": {"arity": 3, "modulus": 3, "activation": "x^3"},
    "cross-entropy": {"loss": "cross_entropy"},
    "standard parametrization": {"parametrization": "standard"},
    "relu": {"activation": "relu"},
    "gelu": {"activation": "gelu", "parametrization": "standard"},
    "tanh and cross-entropy": {"activation": "tanh", "loss": "cross_entropy"},
    "batch norm": {"batch_norm": True},
    "batch norm and cross-entropy": {"batch_norm": True, "loss": "cross_entropy", "activation": "abs"},
    "two answers": {"modulus": 2, "arity": 3},
    "more answers than values": {"answers": 11},
    "a width that is padded": {"width": 130},
    "a width that is padded, batch norm": {"width": 130, "batch_norm": True, "activation": "gelu"},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_gradient_is_the_derivative_of_the_loss(plain, case, monkeypatch):
    reference = plain.program_with(**case)
    task, train, _ = plain.random_data(reference)
    weights = plain.random_weights(reference)
    inputs, answers = grid(task.sizes)[train], task.table.ravel()[train]
    expected = jax.jit(jax.value_and_grad(lambda w: plain.plain_loss(reference, w, inputs, answers)))(weights)

    def check(extra_rows=0, **changes):
        program = plain.program_with(**case, **changes)
        _, _, data = plain.random_data(program, extra=extra_rows)
        assert_close(fast(plain, program, weights, data.batch, None, None), expected)

    check()
    check(platform="gpu")
    if case in (CASES["the paper's network"], CASES["batch norm and cross-entropy"]):
        check(extra_rows=5)
        check(platform="gpu", batch_size=4)
    if not reference.batch_norm:
        monkeypatch.setattr(program_module.Program, "blocks", four_blocks)
        check()


SETTINGS = st.fixed_dictionaries(
    {
        "arity": st.integers(1, 3),
        "modulus": st.integers(2, 4),
        "answers": st.integers(2, 9),
        "width": st.sampled_from([1, 5, 133]),
        "activation": st.sampled_from(["quadratic", "relu", "silu", "leaky-relu", "sin", "x^5"]),
        "parametrization": st.sampled_from(["mean-field", "standard"]),
        "loss": st.sampled_from(["mse", "cross_entropy", "hinge", "stablemax"]),
        "batch_norm": st.booleans(),
        "platform": st.sampled_from(["cpu", "gpu"]),
        "precision": st.sampled_from(["float32", "highest", "float64"]),
    }
)


@settings(max_examples=8)
@given(SETTINGS, st.integers(0, 99), st.sampled_from([None, 0.4]))
def test_the_kernel_agrees_with_the_generic_step(plain, changes, seed, rate):
    program = plain.program_with(**changes, features=frozenset() if rate is None else frozenset({"dropout"}))
    weights = plain.random_weights(program, seed)
    _, _, data = plain.random_data(program, fraction=0.7, seed=seed)
    noise = None
    if rate is not None:
        noise = Noise(jax.random.key(seed), jnp.asarray(rate, program.dtype), data.batch.weight[0], None)
    mine, theirs = (
        jax.jit(kernel.loss_and_grad)(weights, data.batch, None, noise)[:2]
        for kernel in (kernel_for(program), generic.Kernel(program))
    )
    assert kernel_for(program) != generic.Kernel(program)
    shorter = program.platform == "gpu" and program.precision == "float32"  # A GPU's products may round their factors.
    assert_close(mine, theirs, 1e-9 if program.precision == "float64" else 1e-2 if shorter else 1e-4)


def assert_close(found, expected, tolerance=1e-11):
    (loss, gradient), (expected_loss, expected) = found, expected
    np.testing.assert_allclose(loss, expected_loss, rtol=tolerance)
    assert gradient.keys() == expected.keys()
    largest = {name: np.abs(expected[name]).max() for name in expected}
    for name in expected:
        assert gradient[name].dtype == expected[name].dtype
        # Where batch norm makes a gradient vanish, only the rounding of the others is left.
        rounding = 10 * np.finfo(expected[name].dtype).eps * max(largest.values())
        atol = max(tolerance * largest[name], rounding)
        np.testing.assert_allclose(gradient[name], expected[name], rtol=tolerance, atol=atol)


def fast(plain, program, *values):
    return jax.jit(kernel_for(program).loss_and_grad)(*values)[:2]


def four_blocks(program, examples):
    return 4, -(-examples // 4)


def test_blocks_hold_all_examples_and_stay_in_the_cache(plain):
    program, found = plain.program_with(modulus=97, width=500), set()
    for examples in (1, 63, 64, 523, 524, 525, 4704, 9409):
        count, rows = dataclasses.replace(program, block_rows=program.counted_block(examples)).blocks(examples)
        assert examples <= count * rows < examples + 2 * rows
        assert rows * program.architecture.width <= program.on.block_floats
        found.add(rows)
    assert found == {128, 262}  # so that training sets of all lengths need two compilations
    assert plain.program_with(platform="gpu").blocks(4704) == (1, 4704)


def test_rows_fill_cache_lines_where_that_wastes_little(plain):
    widths = {width: TwoLayerKernel(plain.program_with(width=width)).padded_width for width in (7, 127, 128, 129, 500)}
    assert widths == {7: 7, 127: 127, 128: 128, 129: 144, 500: 512}
    assert TwoLayerKernel(plain.program_with(width=500, platform="gpu")).padded_width == 500


@pytest.mark.parametrize(("platform", "width"), [("cpu", 7), ("cpu", 130), ("gpu", 7)])
def test_dropout_is_a_mask_on_the_hidden_units(plain, platform, width):
    program = plain.program_with(modulus=7, width=width, platform=platform, parametrization="standard")
    task, train, data = plain.random_data(program)
    noise = Noise(jax.random.key(3), jnp.asarray(0.4), data.batch.weight[0], None)
    mask = plain.plain_mask(noise.key, 0.4, len(train), width)
    assert set(np.unique(mask)) == {0.0, 1 / 0.6}

    weights = plain.random_weights(program)
    inputs, answers = grid(task.sizes)[train], task.table.ravel()[train]
    expected = jax.jit(jax.value_and_grad(lambda w: plain.plain_loss(program, w, inputs, answers, mask)))(weights)
    assert_close(fast(plain, program, weights, data.batch, None, noise), expected)


def test_dropout_keeps_the_mean_and_silences_its_share():
    rows = jnp.arange(400, dtype=jnp.int32)
    mask = np.asarray(Noise(jax.random.key(0), jnp.asarray(0.3), jnp.ones(400) / 400, rows).mask((500,), "float64"))
    tolerance = 4 / np.sqrt(mask.size)
    assert mask.mean() == pytest.approx(1, abs=tolerance)
    assert (mask == 0).mean() == pytest.approx(0.3, abs=tolerance)


def test_layers_are_silenced_independently():
    rows = jnp.arange(50, dtype=jnp.int32)
    noise = Noise(jax.random.key(0), jnp.asarray(0.5), jnp.ones(50) / 50, rows)
    first, second = (np.asarray(noise.mask((64,), "float64", layer)) > 0 for layer in (0, 1))
    assert (first & second).mean() == pytest.approx(0.25, abs=0.05)


def test_dropout_does_not_depend_on_blocks(plain, monkeypatch):
    program = plain.program_with()
    _, _, data = plain.random_data(program)
    weights = plain.random_weights(program)
    noise = Noise(jax.random.key(1), jnp.asarray(0.5), data.batch.weight[0], None)
    whole = fast(plain, program, weights, data.batch, None, noise)
    monkeypatch.setattr(program_module.Program, "blocks", four_blocks)
    _, _, data = plain.random_data(program)
    parts = fast(plain, program, weights, data.batch, None, noise)
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(parts), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-16)


@pytest.mark.parametrize("shared", [1, 2, 3, 6])
def test_dropout_does_not_depend_on_who_shares_a_run(plain, shared):
    """Rows are numbered as their examples are, so that each loses the same on any number of devices."""
    program = plain.program_with(modulus=29, shared=shared)
    _, train, data = plain.random_data(program)
    batch = jax.tree.map(lambda part: part.reshape(shared, -1, *part.shape[1:]), data.batch)
    number = partial(row_numbers, program)
    found = number(data.batch) if shared == 1 else jax.vmap(number, axis_name=EXAMPLES)(batch)
    present = np.asarray(data.batch.weight).ravel() > 0
    np.testing.assert_array_equal(np.asarray(found).ravel()[present], np.arange(len(train)))


@settings(max_examples=60, deadline=None)
@given(rows=st.integers(0, 900), more=st.integers(0, 900), length=st.integers(1, 200), shared=st.integers(1, 4))
def test_dealt_rows_fill_the_first_blocks_of_every_part(plain, rows, more, length, shared):
    """Each part has as many as the others, or one more; with more room the same rows meet in the same blocks."""
    program = plain.program_with(shared=shared)
    parts = program.parts
    blocks = []
    for room in (rows, rows + more):
        count = max(parts, program.blocks_of(length, room))
        places, used = deal(program, rows, count, length)
        part, slot = np.divmod(places // length, count // parts)
        assert len(np.unique(places)) == rows
        assert used.sum() == -(-rows // length)
        assert used.max() - used.min() <= 1
        assert (slot < used[part]).all()
        blocks.append((part, slot, places % length))
    np.testing.assert_array_equal(*blocks)
