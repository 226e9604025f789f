"""Loss and gradient of the fast paths against automatic differentiation of the plain one."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.networks import grid
from modgrok.training import program as program_module
from modgrok.training.gradient import Noise, loss_and_gradient
from modgrok.training.loss import cross_entropy, mse

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
    "a width that is padded": {"width": 130},
    "a width that is padded, batch norm": {"width": 130, "batch_norm": True, "activation": "gelu"},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_gradient_is_the_derivative_of_the_loss(plain, case, monkeypatch):
    reference = plain.program_with(**case)
    task, train, _ = plain.random_data(reference)
    weights = plain.random_weights(reference)
    inputs, answers = grid(reference.modulus, reference.arity)[train], task.table.ravel()[train]
    expected = plain.jit(jax.value_and_grad(lambda w: plain.plain_loss(reference, w, inputs, answers)))(weights)

    def check(extra_rows=0, **changes):
        program = plain.program_with(**case, **changes)
        _, _, data = plain.random_data(program, extra=extra_rows)
        assert_close(fast(plain, program, weights, data.examples, None), expected)

    check()
    check(platform="gpu")
    if case in (CASES["the paper's network"], CASES["batch norm and cross-entropy"]):
        check(extra_rows=5)
        check(platform="gpu", batch_size=4)
    if not reference.batch_norm:
        monkeypatch.setattr(program_module.Program, "blocks", four_blocks)
        check()


def assert_close(found, expected):
    (loss, gradient), (expected_loss, expected) = found, expected
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-12)
    np.testing.assert_allclose(gradient.columns, expected.columns, rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(gradient.readout, expected.readout, rtol=1e-8, atol=1e-14)


def fast(plain, program, *values):
    return plain.jit(partial(loss_and_gradient, program))(*values)


def four_blocks(program, examples):
    return 4, -(-examples // 4)


def test_blocks_hold_all_examples_and_stay_in_the_cache(plain):
    program = plain.program_with(modulus=97, width=500)
    for examples in (1, 63, 64, 523, 524, 525, 4704, 9409):
        count, rows = program.blocks(examples)
        assert examples <= count * rows < examples + count
        assert rows * program.width <= program_module.CACHE_FLOATS
    assert plain.program_with(platform="gpu").blocks(4704) == (1, 4704)


def test_rows_fill_cache_lines_where_that_wastes_little(plain):
    widths = {width: plain.program_with(width=width).padded_width for width in (7, 127, 128, 129, 500)}
    assert widths == {7: 7, 127: 127, 128: 128, 129: 144, 500: 512}
    assert plain.program_with(width=500, platform="gpu").padded_width == 500


@pytest.mark.parametrize(("platform", "width"), [("cpu", 7), ("cpu", 130), ("gpu", 7)])
def test_dropout_is_a_mask_on_the_hidden_units(plain, platform, width):
    program = plain.program_with(modulus=7, width=width, dropout=True, platform=platform, parametrization="standard")
    task, train, data = plain.random_data(program)
    noise = Noise(jax.random.key(3), jnp.asarray(0.4))
    mask = dropout_mask(program, noise, len(train))
    assert set(np.unique(mask)) == {0.0, 1 / 0.6}

    weights = plain.random_weights(program)
    inputs, answers = grid(program.modulus, program.arity)[train], task.table.ravel()[train]
    expected = plain.jit(jax.value_and_grad(lambda w: plain.plain_loss(program, w, inputs, answers, mask)))(weights)
    assert_close(fast(plain, program, weights, data.examples, noise), expected)


def dropout_mask(program, noise, rows):
    from modgrok.training.gradient import _dropout_mask

    return np.asarray(_dropout_mask(program, noise, jnp.arange(rows, dtype=jnp.int32)))[:, : program.width]


def test_dropout_keeps_the_mean_and_silences_its_share(plain):
    program = plain.program_with(width=500)
    mask = dropout_mask(program, Noise(jax.random.key(0), jnp.asarray(0.3)), 400)
    tolerance = 4 / np.sqrt(mask.size)
    assert mask.mean() == pytest.approx(1, abs=tolerance)
    assert (mask == 0).mean() == pytest.approx(0.3, abs=tolerance)


def test_dropout_does_not_depend_on_blocks(plain, monkeypatch):
    program = plain.program_with(dropout=True)
    weights, noise = plain.random_weights(program), Noise(jax.random.key(1), jnp.asarray(0.5))
    _, _, data = plain.random_data(program)
    whole = fast(plain, program, weights, data.examples, noise)
    monkeypatch.setattr(program_module.Program, "blocks", four_blocks)
    _, _, data = plain.random_data(program)
    parts = fast(plain, program, weights, data.examples, noise)
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(parts), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-16)


def test_losses_of_single_examples(plain):
    out, answers = jnp.array([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]]), jnp.array([1, 2], jnp.int32)
    of_mse, of_entropy = (plain.jit(loss, static_argnums=2) for loss in (mse, cross_entropy))
    entropies = [np.log(np.e + 2) - 1, np.log(np.exp(2) + 2)]
    np.testing.assert_allclose(of_mse(out, answers, 3), [0, 5 / 3])
    np.testing.assert_allclose(of_entropy(out, answers, 3), entropies)
    np.testing.assert_allclose(of_entropy(out + 1e4, answers, 3), entropies, atol=1e-10)
    padded = jnp.pad(out, ((0, 0), (0, 5)))
    np.testing.assert_allclose(of_mse(padded, answers, 3), [0, 5 / 3])
    np.testing.assert_allclose(of_entropy(padded, answers, 3), entropies)
