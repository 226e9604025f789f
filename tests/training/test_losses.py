"""Losses of single examples, and what counts as right, against NumPy."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.training.losses import LOSSES, Objective, cross_entropy, mse

RNG = np.random.default_rng(0)


def numpy_mse(out, y):
    return np.array([np.mean((row - np.eye(len(row))[a]) ** 2) for row, a in zip(out, y, strict=True)])


def numpy_cross_entropy(out, y):
    return np.array([np.log(np.exp(row - row.max()).sum()) + row.max() - row[a] for row, a in zip(out, y, strict=True)])


def numpy_hinge(out, y):
    return np.array([max(0, 1 + max(np.delete(row, a)) - row[a]) for row, a in zip(out, y, strict=True)])


def numpy_stablemax(out, y):
    s = np.array([[x + 1 if x >= 0 else 1 / (1 - x) for x in row] for row in out])
    return np.array([-np.log(row[a] / row.sum()) for row, a in zip(s, y, strict=True)])


PLAIN = {"mse": numpy_mse, "cross_entropy": numpy_cross_entropy, "hinge": numpy_hinge, "stablemax": numpy_stablemax}


def test_losses_of_single_examples(plain):
    out, answers = jnp.array([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]]), jnp.array([1, 2], jnp.int32)
    of_mse, of_entropy = (jax.jit(loss, static_argnums=2) for loss in (mse, cross_entropy))
    entropies = [np.log(np.e + 2) - 1, np.log(np.exp(2) + 2)]
    np.testing.assert_allclose(of_mse(out, answers, 3), [0, 5 / 3])
    np.testing.assert_allclose(of_entropy(out, answers, 3), entropies)
    np.testing.assert_allclose(of_entropy(out + 1e4, answers, 3), entropies, atol=1e-10)
    padded = jnp.pad(out, ((0, 0), (0, 5)))
    np.testing.assert_allclose(of_mse(padded, answers, 3), [0, 5 / 3])
    np.testing.assert_allclose(of_entropy(padded, answers, 3), entropies)


def test_every_loss_is_tested():
    assert PLAIN.keys() == LOSSES.keys()


@pytest.mark.parametrize("name", LOSSES)
@given(st.integers(0, 2**32), st.floats(0.1, 100))
def test_losses_are_their_formulas(name, seed, size):
    random = np.random.default_rng(seed)
    out, answers = size * random.normal(size=(9, 4)), random.integers(0, 4, 9)
    given_answers = jnp.asarray(answers, jnp.int32)
    expected = PLAIN[name](out, answers)
    found = Objective(name, "float64").losses(jnp.asarray(out), given_answers, None)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)
    padded = jnp.asarray(np.pad(out, ((0, 0), (0, 3))))
    np.testing.assert_allclose(
        Objective(name, "float64").losses(padded, given_answers, None, 4), expected, rtol=1e-9, atol=1e-10
    )


def test_the_loss_has_a_precision_of_its_own():
    """Outputs in single precision, cross-entropy in double: what is tiny is not rounded to zero."""
    out, answers = jnp.array([[40.0, 0.0]], jnp.float32), jnp.zeros(1, jnp.int32)
    single = Objective("cross_entropy", "float32").losses(out, answers, None)
    double = Objective("cross_entropy", "float64").losses(out, answers, None)
    assert (single.dtype, double.dtype) == (jnp.float32, jnp.float64)
    assert float(single[0]) == 0
    assert float(Objective("stablemax", "float64").losses(out, answers, None)[0]) == pytest.approx(np.log(42 / 41))
    assert 0 <= float(double[0]) < 1e-14


CODES = RNG.normal(size=(4, 3))


def numpy_scores(out, codes):
    """Half the distance to each code, up to what all have in common, so that the nearest has the largest."""
    return np.array([[-np.sum((row - code) ** 2) / 4 + np.sum(row**2) / 4 for code in codes] for row in out])


@pytest.mark.parametrize("name", LOSSES)
def test_codes_stand_for_answers(name):
    out, answers = RNG.normal(size=(50, 3)), RNG.integers(0, 4, 50)
    given_answers, codes = jnp.asarray(answers, jnp.int32), jnp.asarray(CODES)
    objective = Objective(name, "float64")
    found = objective.losses(jnp.asarray(out), given_answers, codes)
    if name == "mse":
        expected = np.mean((out - CODES[answers]) ** 2, axis=1)
    else:
        expected = PLAIN[name](numpy_scores(out, CODES), answers)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    nearest = np.argmin([[np.sum((row - code) ** 2) for code in CODES] for row in out], axis=1)
    np.testing.assert_array_equal(objective.right(jnp.asarray(out), given_answers, codes), nearest == answers)


def test_signs_give_the_usual_losses_of_one_output():
    """Codes ±1: the hinge loss is max(0, 1 − y f), cross-entropy is log(1 + exp(−y f))."""
    f, answers = np.array([[0.3], [-2.0], [5.0]]), np.array([0, 1, 1])
    y = np.where(answers == 0, 1.0, -1.0)
    codes, given_answers = jnp.array([[1.0], [-1.0]]), jnp.asarray(answers, jnp.int32)
    losses = {
        name: Objective(name, "float64").losses(jnp.asarray(f), given_answers, codes)
        for name in ("hinge", "cross_entropy")
    }
    np.testing.assert_allclose(losses["hinge"], np.maximum(0, 1 - y * f[:, 0]))
    np.testing.assert_allclose(losses["cross_entropy"], np.log1p(np.exp(-y * f[:, 0])))


def test_a_tolerance_decides_what_is_right():
    answers = RNG.integers(0, 4, 40)
    out = CODES[answers] + RNG.normal(size=(40, 3)) * 0.5
    objective = Objective("mse", "float64", tolerance=0.2)
    right = objective.right(jnp.asarray(out), jnp.asarray(answers, jnp.int32), jnp.asarray(CODES))
    expected = np.mean((out - CODES[answers]) ** 2, axis=1) < 0.2
    assert 0 < expected.sum() < 40
    np.testing.assert_array_equal(right, expected)


@given(st.integers(0, 2**32))
def test_the_largest_output_is_the_answer(seed):
    random = np.random.default_rng(seed)
    out, answers = random.normal(size=(30, 3)), random.integers(0, 3, 30)
    right = partial(Objective("mse", "float64").right, codes=None)
    np.testing.assert_array_equal(
        right(jnp.asarray(out), jnp.asarray(answers, jnp.int32)), out.argmax(axis=1) == answers
    )
