"""Every architecture against a forward pass in plain NumPy, one example at a time; and networks as pytrees."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from modgrok import load
from modgrok.errors import ModgrokError
from modgrok.networks import (
    ARCHITECTURES,
    Network,
    TwoLayer,
    architecture_named,
    as_numpy,
    grid,
    outputs,
    predictions,
    score_table,
    two_layer,
)
from modgrok.networks.activation import ACTIVATIONS, Activation
from modgrok.networks.embedding_mlp import EmbeddingMLP
from modgrok.networks.mlp import MLP
from modgrok.networks.transformer import Transformer
from modgrok.tasks import Signature

TOKENS = Signature((5, 4), 6)
SQUARE = Signature((5, 5), 5)
VECTORS = Signature((), 3, 4)
BITS = Signature((2,) * 6, 1, 0, True)

POWER = {"positions": "sinusoidal", "layer_norm": "post", "biases": False, "framed": True, "initialization": "torch"}
CASES = {
    "two-layer": (TwoLayer(7), SQUARE),
    "mlp": (MLP(7), TOKENS),
    "deep mlp without biases": (MLP(7, 3, "tanh", False), TOKENS),
    "mlp on vectors": (MLP(7, 2), VECTORS),
    "mlp on signs": (MLP(7), BITS),
    "embedding-mlp": (EmbeddingMLP(7, embedding=3), TOKENS),
    "embedding-mlp, side by side": (EmbeddingMLP(7, 1, "silu", 3, "concat", False), TOKENS),
    "embedding-mlp, multiplied": (EmbeddingMLP(7, 1, "tanh", 4, "product"), TOKENS),
    "transformer": (Transformer(8, heads=2), SQUARE),
    "transformer as Power et al.": (Transformer(8, 2, 4, 6, vocabulary=20, **POWER), SQUARE),
    "transformer with pre-LayerNorm, tied": (Transformer(8, 2, 1, layer_norm="pre", tied=True), TOKENS),
}
PHI = {"relu": lambda x: np.where(x > 0, x, 0), "tanh": np.tanh, "silu": lambda x: x / (1 + np.exp(-x))}


def random_network(architecture, signature, seed=0):
    """Weights and biases that are all different from zero."""
    random = np.random.default_rng(seed)
    shapes = architecture.shapes(signature)
    return Network(architecture, signature, {name: random.normal(size=shape) for name, shape in shapes.items()})


def some_inputs(signature, count=20, seed=0):
    random = np.random.default_rng(seed)
    if not signature.sizes:
        return random.normal(size=(count, signature.dimension))
    return np.stack([random.integers(0, size, count) for size in signature.sizes], axis=1)


def layer(w, name, x):
    return w[f"{name}.weight"] @ x + w.get(f"{name}.bias", 0)


def perceptron(w, name, depth, phi, x):
    for i in range(depth):
        x = phi(layer(w, f"{name}.{i}", x))
    return layer(w, f"{name}.{depth}", x)


def one_hot(signature, row):
    return np.concatenate([np.eye(size)[value] for size, value in zip(signature.sizes, row, strict=True)])


def plain_two_layer(a, signature, w, row):
    h = sum(w["columns"][s, value] for s, value in enumerate(row)) / np.sqrt(sum(signature.sizes))
    return w["readout"] @ h**2 / a.width


def plain_mlp(a, signature, w, row):
    x = row if not signature.sizes else 1 - 2 * row if signature.signs else one_hot(signature, row)
    return perceptron(w, "layers", a.depth, PHI[a.activation], x)


def plain_embedding_mlp(a, signature, w, row):
    vectors = [w["embedding"][value] for value in row]
    joined = {"sum": sum, "concat": np.concatenate, "product": matrix_product}[a.combine](vectors)
    return perceptron(w, "decoder", a.depth, PHI[a.activation], joined)


def matrix_product(vectors):
    """Of vectors of length four, as matrices of two rows."""
    (a, b, c, d), (e, f, g, h) = vectors
    return np.array([a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h])


def plain_transformer(a, signature, w, row):
    """All positions, head by head."""
    numbers = max(*signature.sizes, signature.outputs)
    equals, operator, frame = numbers, numbers + 1, numbers + 2
    tokens = [frame, row[0], operator, *row[1:], equals] if a.framed else [*row, equals]
    length, d = len(tokens), a.width
    angles = [[t / 10000 ** (2 * (i // 2) / d) for i in range(d)] for t in range(length)]
    waves = [[np.cos(x) if i % 2 else np.sin(x) for i, x in enumerate(at)] for at in angles]
    x = w["embedding"][tokens] + (w["positions"] if a.positions == "learned" else waves)

    def norm(i, x):
        mean, deviation = x.mean(axis=1, keepdims=True), np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
        return (x - mean) / deviation * w[f"norms.{i}.weight"] + w[f"norms.{i}.bias"]

    def attend(i, x):
        found, size = np.zeros((length, d)), d // a.heads
        for head in range(a.heads):
            part = slice(head * size, (head + 1) * size)
            q, k, v = (x @ w[f"blocks.attention.{i}.{name}.weight"][part].T for name in ("query", "key", "value"))
            for t in range(length):
                weights = np.exp(k[: t + 1] @ q[t] / np.sqrt(size))
                found[t, part] = weights @ v[: t + 1] / weights.sum()
        return found @ w[f"blocks.attention.{i}.output.weight"].T

    def mlp(i, x):
        return np.stack([layer(w, f"blocks.mlp.{i}.out", PHI["relu"](layer(w, f"blocks.mlp.{i}.in", y))) for y in x])

    for i in range(a.layers):
        if a.layer_norm == "post":
            x = norm(2 * i, x + attend(i, x))
            x = norm(2 * i + 1, x + mlp(i, x))
        elif a.layer_norm == "pre":
            x = x + attend(i, norm(2 * i, x))
            x = x + mlp(i, norm(2 * i + 1, x))
        else:
            x = x + attend(i, x)
            x = x + mlp(i, x)
    if a.layer_norm == "pre":
        x = norm(2 * a.layers, x)
    return x[-1] @ (w["embedding"].T if a.tied else w["unembedding.weight"].T)


PLAIN = {
    "two-layer": plain_two_layer,
    "mlp": plain_mlp,
    "embedding-mlp": plain_embedding_mlp,
    "transformer": plain_transformer,
}


@pytest.mark.parametrize(("architecture", "signature"), CASES.values(), ids=CASES)
def test_numpy_and_jax_compute_the_plain_forward_pass(architecture, signature):
    network, inputs = random_network(architecture, signature), some_inputs(signature)
    expected = np.stack([PLAIN[architecture.name](architecture, signature, network.parameters, row) for row in inputs])
    found = architecture.apply(network.parameters, inputs, signature)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(outputs(network, inputs), found[:, : signature.outputs])
    single = as_numpy(network, np.float32)
    on_jax = jax.tree.map(jnp.asarray, single)
    given = inputs.astype(np.int32 if signature.sizes else np.float32)
    low = outputs(on_jax, jnp.asarray(given))
    assert (outputs(single, given).dtype, low.dtype) == (np.float32, np.float32)
    expected = expected[:, : signature.outputs]
    np.testing.assert_allclose(low, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("name", [name for name in CASES if "transformer" in name])
def test_a_transformer_says_of_one_example_what_it_says_of_many(name):
    """Vectors that examples share are computed once; with fewer examples than values none are shared."""
    network = random_network(*CASES[name])
    inputs = some_inputs(network.signature)
    alone = np.concatenate([outputs(network, row[None]) for row in inputs])
    np.testing.assert_allclose(alone, outputs(network, inputs), rtol=1e-9, atol=1e-11)


def test_every_architecture_is_tested():
    assert {architecture.name for architecture, _ in CASES.values()} == set(ARCHITECTURES) == set(PLAIN)


@pytest.mark.parametrize(("architecture", "signature"), CASES.values(), ids=CASES)
def test_initial_parameters_have_the_shapes_and_the_cost_that_are_told(architecture, signature):
    made = architecture.init(jax.random.key(0), signature, 1.0, "float32")
    assert {name: w.shape for name, w in made.items()} == architecture.shapes(signature)
    assert all(w.dtype == jnp.float32 for w in made.values())
    small = architecture.init(jax.random.key(0), signature, 0.5, "float32")
    for name in made:
        if not name.startswith("norms."):
            np.testing.assert_allclose(small[name], 0.5 * made[name], rtol=1e-6)
    told = architecture.cost(signature)
    counted = sum(w.size for name, w in made.items() if "norms" not in name and name != "positions")
    assert told.parameters == pytest.approx(counted, rel=0.05)
    assert min(told) > 0


@pytest.mark.parametrize(("architecture", "signature"), CASES.values(), ids=CASES)
def test_networks_of_every_architecture_come_back_from_their_files(architecture, signature, tmp_path):
    network = random_network(architecture, signature)
    network.save(tmp_path / "network.safetensors")
    found = load(tmp_path / "network.safetensors")
    assert (found.architecture, found.signature) == (architecture, signature)
    assert found.parameters.keys() == network.parameters.keys()
    for name, w in network.parameters.items():
        np.testing.assert_array_equal(found.parameters[name], w)


def test_a_network_says_what_it_has():
    network = random_network(*CASES["transformer"])
    assert (network.width, network.heads, network.arity, network.modulus) == (8, 2, 2, 5)
    with pytest.raises(
        ModgrokError, match=r"transformer network has no w_in; it has .*embedding, .*and the settings width, "
    ):
        _ = network.w_in
    with pytest.raises(ModgrokError, match="A network is one of"):
        architecture_named("rnn")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Transformer(10, heads=4), "must be divisible by heads"),
        (lambda: Transformer(8, vocabulary=5).check(SQUARE), "less than 6"),
        (lambda: Transformer(8).check(VECTORS), "real vectors; use mlp"),
        (lambda: EmbeddingMLP(8).check(VECTORS), "real vectors; use mlp"),
        (lambda: TwoLayer(8).check(VECTORS), "real vectors; use mlp"),
        (lambda: EmbeddingMLP(8, combine="max"), "sum or concat"),
        (lambda: EmbeddingMLP(8, embedding=8, combine="product"), "embedding must be 4, 9, 16, …, not 8"),
        (lambda: MLP(8, activation="swish"), "activation is one of"),
    ],
)
def test_what_cannot_be_is_a_sentence(make, says, monkeypatch):
    with pytest.raises(Exception, match=says if "concat" not in says else "sum or concat|combine"):
        make()


# Networks as pytrees.


@pytest.mark.parametrize(("architecture", "signature"), CASES.values(), ids=CASES)
def test_a_gradient_over_a_network_is_its_finite_difference(architecture, signature):
    """Along a random direction, with NumPy's own forward pass on the other side."""
    network, direction = random_network(architecture, signature), random_network(architecture, signature, seed=1)
    inputs = some_inputs(signature)

    def loss(network):
        return (outputs(network, inputs) ** 2).mean()

    with jax.enable_x64(True):
        gradient = jax.jit(jax.grad(loss))(jax.tree.map(jnp.asarray, network))
        assert isinstance(gradient, Network)
        along = sum((gradient.parameters[name] * d).sum() for name, d in direction.parameters.items())
        moved = [
            jax.tree.map(lambda w, d, step=step: np.asarray(w + step * d), network, direction) for step in (1e-6, -1e-6)
        ]
    expected = (loss(moved[0]) - loss(moved[1])) / 2e-6
    assert float(along) == pytest.approx(expected, rel=1e-5)


def test_a_score_can_be_differentiated():
    network = random_network(*CASES["two-layer"])
    table = np.add.outer(np.arange(5), np.arange(5)) % 5
    on_jax = jax.tree.map(lambda w: jnp.asarray(w, jnp.float32), network)
    assert float(score_table(on_jax, table).loss) == pytest.approx(score_table(network, table).loss, rel=1e-4)
    assert float(score_table(on_jax, table).accuracy) == pytest.approx(score_table(network, table).accuracy)
    np.testing.assert_array_equal(predictions(on_jax), predictions(network))
    gradient = jax.grad(lambda network: score_table(network, table).loss)(on_jax)
    assert gradient.w_in.shape == (7, 2, 5)
    assert float(jnp.abs(gradient.w_in).max()) > 0


def test_jax_may_be_imported_after_modgrok():
    script = """
import sys, numpy as np
from modgrok.networks import two_layer, outputs, grid
network = two_layer(np.ones((3, 2, 4), np.float32), np.ones((4, 3), np.float32))
assert "jax" not in sys.modules
import jax
gradient = jax.grad(lambda network: outputs(network, grid((4, 4))).sum())(network)
assert gradient.w_in.shape == (3, 2, 4)
assert sum(type(finder).__name__ == "_JaxWatcher" for finder in sys.meta_path) == 0
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_adding_an_activation_is_one_entry(monkeypatch):
    monkeypatch.setitem(ACTIVATIONS, "cube", Activation(lambda x: x * x * x, 3))
    random = np.random.default_rng(0)
    weights = random.normal(size=(6, 2, 5)), random.normal(size=(5, 6))
    np.testing.assert_allclose(
        outputs(two_layer(*weights, "cube"), grid((5, 5))), outputs(two_layer(*weights, "x^3"), grid((5, 5)))
    )
    assert MLP(8, activation="cube").activation == "cube"
