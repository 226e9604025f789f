"""The network against its definition: explicit one-hot vectors and plain matrix products."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.errors import ModgrokError
from modgrok.networks import Normalization, as_numpy, grid, outputs, two_layer
from modgrok.networks.activation import activation, degree

PHI = {
    "quadratic": lambda x: x**2,
    "relu": lambda x: np.where(x > 0, x, 0),
    "gelu": lambda x: x * np.vectorize(lambda t: (1 + math.erf(t / math.sqrt(2))) / 2)(x),
    "abs": np.abs,
    "tanh": np.tanh,
    "silu": lambda x: x / (1 + np.exp(-x)),
    "x^1": lambda x: x,
    "x^3": lambda x: x**3,
}


@st.composite
def networks(draw, activations=tuple(PHI), dtype=np.float64):
    arity = draw(st.integers(1, 3))
    p, width = draw(st.integers(2, 7 if arity < 3 else 4)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    weights = rng.normal(size=(width, arity, p)), rng.normal(size=(p, width))
    kind = draw(st.sampled_from(activations))
    return two_layer(*(w.astype(dtype) for w in weights), kind, draw(st.sampled_from(["mean-field", "standard"])))


def hidden(network, inputs):
    return network.architecture.hidden(network.parameters, inputs, network.signature)


def one_hot_outputs(network, inputs):
    """The paper's `eq_h1` and `eq_h2` on one-hot vectors x of length D = S·p."""
    p, arity, width = network.modulus, network.arity, network.width
    x = np.concatenate([np.eye(p)[inputs[:, s]] for s in range(arity)], axis=1)
    h = x @ network.w_in.reshape(width, arity * p).T
    if network.parametrization == "mean-field":
        h = h / np.sqrt(arity * p)
    if network.normalization is not None:
        h = (h - network.normalization.mean) / network.normalization.std
    out = PHI[network.activation](h) @ network.w_out.T
    return out / width if network.parametrization == "mean-field" else out


@given(networks())
def test_outputs_are_those_of_one_hot_vectors(network):
    inputs = grid(network.signature.sizes)
    np.testing.assert_allclose(outputs(network, inputs), one_hot_outputs(network, inputs), rtol=1e-10, atol=1e-12)


@given(networks(), st.integers(0, 99))
def test_batch_statistics_standardize_the_first_preactivations(network, seed):
    rng = np.random.default_rng(seed)
    norm = Normalization(rng.normal(size=network.width), rng.uniform(0.5, 2, network.width))
    normalized = two_layer(network.w_in, network.w_out, network.activation, network.parametrization, norm)
    inputs = grid(network.signature.sizes)
    np.testing.assert_allclose(hidden(normalized, inputs), (hidden(network, inputs) - norm.mean) / norm.std)
    np.testing.assert_allclose(outputs(normalized, inputs), one_hot_outputs(normalized, inputs), rtol=1e-9, atol=1e-11)


@given(networks(dtype=np.float32))
def test_precision_is_that_of_the_weights(network):
    inputs = grid(network.signature.sizes)
    single, double = outputs(network, inputs), outputs(as_numpy(network, np.float64), inputs)
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(single, double, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", PHI)
def test_jax_arrays_give_the_same_outputs(name):
    import jax.numpy as jnp

    rng = np.random.default_rng(1)
    w_in, w_out = (rng.normal(size=shape).astype(np.float32) for shape in ((6, 2, 5), (5, 6)))
    on_numpy, on_jax = two_layer(w_in, w_out, name), two_layer(jnp.asarray(w_in), jnp.asarray(w_out), name)
    np.testing.assert_allclose(outputs(on_jax, grid((5, 5))), outputs(on_numpy, grid((5, 5))), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["softplus", "x^0", "x^33", "x^", "", "Quadratic"])
def test_unknown_activations_are_refused(name):
    with pytest.raises(ModgrokError, match="activation is one of"):
        activation(name)


@pytest.mark.parametrize("name", PHI)
def test_degree_is_that_of_homogeneity(name):
    x, d = np.linspace(-2, 2, 9), degree(name)
    if d is None:
        assert not any(np.allclose(activation(name)(3 * x), 3**k * activation(name)(x)) for k in range(4))
    else:
        np.testing.assert_allclose(activation(name)(3 * x), 3**d * activation(name)(x))


def test_silu_and_tanh_survive_large_arguments():
    x = np.array([-1e30, 1e30])
    np.testing.assert_array_equal(activation("silu")(x), [0, 1e30])
    np.testing.assert_array_equal(activation("tanh")(x), [-1, 1])


def test_the_grid_is_the_raveled_table():
    table = np.arange(27).reshape(3, 3, 3)
    np.testing.assert_array_equal(table[tuple(grid((3, 3, 3)).T)], np.arange(27))
    np.testing.assert_array_equal(grid((3, 3, 3), 5, 11), grid((3, 3, 3))[5:11])
