"""The generic step on every architecture: platforms, blocks and precisions agree, and every optimizer can take it."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.networks import Network, Noise, TwoLayer, grid, outputs
from modgrok.networks.embedding_mlp import EmbeddingMLP
from modgrok.networks.mlp import MLP
from modgrok.networks.transformer import Transformer
from modgrok.tasks import Signature
from modgrok.training import loop
from modgrok.training import program as program_module
from modgrok.training.kernels import generic, kernel_for
from modgrok.training.optimizers import OPTIMIZERS

NETWORKS = {
    "mlp": MLP(7, 2, "tanh"),
    "embedding-mlp": EmbeddingMLP(7, embedding=3),
    "transformer": Transformer(8, 1, 2, 6, layer_norm="pre"),
}
SIGNATURE = Signature((4, 3), 5)
RATES = {
    "lr": 0.01,
    "coupled_decay": 0.0,
    "decoupled_decay": 0.1,
    "momentum": 0.9,
    "beta1": 0.9,
    "beta2": 0.98,
    "epsilon": 1e-8,
    "dropout": 0.2,
    "update_noise": 0.1,
    "weight_noise": 0.01,
}


@pytest.fixture(params=NETWORKS)
def network(request):
    return NETWORKS[request.param]


def test_platforms_blocks_and_precisions_agree(plain, network, monkeypatch):
    """And the loss is that of the network in NumPy, without a kernel."""
    settings = {"signature": SIGNATURE, "loss": "cross_entropy"}
    program = plain.program_with(network, **settings)
    assert kernel_for(program) == generic.Kernel(program)
    weights = plain.random_weights(program)
    task, train, data = plain.random_data(program, fraction=0.8)

    def gradient(weights, data, **changes):
        other = plain.program_with(network, **settings | changes)
        step = jax.jit(kernel_for(other).loss_and_grad)
        return step(weights, data.batch, None, None)[:2]

    whole = gradient(weights, data)
    on_numpy = Network(network, SIGNATURE, {name: np.asarray(w) for name, w in weights.items()})
    logits = network.apply(on_numpy.parameters, grid(task.sizes)[train], SIGNATURE)
    answers = task.table.ravel()[train]
    expected = np.mean(np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(train)), answers])
    assert float(whole[0]) == pytest.approx(expected, rel=1e-9)

    single = jax.tree.map(lambda w: w.astype(jnp.float32), weights)
    low = plain.program_with(network, **settings, precision="float32")
    monkeypatch.setattr(program_module.Program, "blocks", lambda program, examples: (4, -(-examples // 4)))
    parts = plain.random_data(program, fraction=0.8)[2]
    assert parts.batch.labels.shape[0] == 4
    found = {
        "gpu": (gradient(weights, data, platform="gpu"), 1e-10),
        "blocks": (gradient(weights, parts), 1e-10),
        "float32": (gradient(single, plain.random_data(low, fraction=0.8)[2], precision="float32"), 1e-3),
    }
    for name, ((loss, tree), tolerance) in found.items():
        np.testing.assert_allclose(loss, whole[0], rtol=tolerance, err_msg=name)
        for key, part in whole[1].items():
            largest = np.abs(part).max()
            np.testing.assert_allclose(tree[key], part, rtol=tolerance, atol=tolerance * largest, err_msg=name)
    assert {part.dtype for part in found["float32"][0][1].values()} == {np.dtype("float32")}


def test_the_gradient_is_a_finite_difference(plain, network):
    program = plain.program_with(network, signature=SIGNATURE, loss="stablemax")
    weights, direction = plain.random_weights(program), plain.random_weights(program, seed=1)
    _, _, data = plain.random_data(program)
    loss = jax.jit(lambda w: kernel_for(program).loss_and_grad(w, data.batch, None, None)[:2])
    gradient = loss(weights)[1]
    sides = [jax.tree.map(lambda w, d, step=step: w + step * d, weights, direction) for step in (1e-6, -1e-6)]
    expected = (loss(sides[0])[0] - loss(sides[1])[0]) / 2e-6
    found = sum((gradient[name] * direction[name]).sum() for name in gradient)
    assert float(found) == pytest.approx(float(expected), rel=1e-5)


def test_dropout_does_not_depend_on_blocks(plain, network, monkeypatch):
    program = plain.program_with(network, signature=SIGNATURE)
    weights = plain.random_weights(program)

    def gradient():
        _, _, data = plain.random_data(program)
        noise = Noise(jax.random.key(1), jnp.asarray(0.5), data.batch.weight[0], None)
        return jax.jit(generic.Kernel(program).loss_and_grad)(weights, data.batch, None, noise)[:2]

    whole = gradient()
    monkeypatch.setattr(program_module.Program, "blocks", lambda program, examples: (4, -(-examples // 4)))
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(gradient()), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-15)


PAIRS = [
    ("mlp", "muon", frozenset({"dropout"})),
    ("embedding-mlp", "lion", frozenset({"orthogonal", "hold_norm"})),
    ("transformer", "adamw", frozenset({"dropout", "decay_to_start", "update_noise", "weight_noise"})),
    ("embedding-mlp", "nesterov", frozenset()),
    ("mlp", "rmsprop", frozenset({"orthogonal"})),
    ("two-layer", "muon", frozenset()),
]


@pytest.mark.parametrize(
    ("name", "optimizer", "features"), PAIRS, ids=lambda x: x if isinstance(x, str) else "-".join(sorted(x))
)
def test_every_optimizer_takes_finite_steps(plain, name, optimizer, features):
    """On the path of a GPU, mapped over runs, in minibatches: what is different from what other tests run."""
    architecture = TwoLayer(6) if name == "two-layer" else NETWORKS[name]
    program = plain.program_with(
        architecture,
        signature=SIGNATURE if name != "two-layer" else Signature((4, 4), 4),
        loss="cross_entropy",
        scaling=OPTIMIZERS[optimizer].scaling,
        features=features,
        platform="gpu",
        batch_size=4,
        precision="float32",
    )
    with jax.enable_x64(False):
        _, _, data = plain.random_data(program, fraction=0.7)
        rates = {key: np.float32(value) for key, value in RATES.items()}

        @jax.vmap
        def three_steps(seed):
            state = loop.start_randomly(program, seed, np.float32(1), rates)
            moved, _ = loop.advance(program, state, data, rates, seed, np.int32(0), np.int32(3), np.bool_(False))
            return state.weights, moved

        before, state = jax.jit(three_steps)(jnp.arange(2, dtype=jnp.uint32))
    assert not state.frozen.any()
    for key, w in state.weights.items():
        assert np.isfinite(w).all(), key
    moved = [key for key, w in state.weights.items() if not np.array_equal(w, before[key])]
    assert len(moved) == len(before)


def test_a_network_that_learns_predicts(plain):
    """A transformer memorizes eight examples within a hundred steps."""
    program = plain.program_with(
        Transformer(16, heads=2), signature=Signature((3, 3), 3), loss="cross_entropy", scaling="adam"
    )
    task, train, data = plain.random_data(program, fraction=0.9)
    rates = {key: np.asarray(value, "float64") for key, value in RATES.items()} | {"decoupled_decay": np.asarray(0.0)}
    state = loop.start_randomly(program, np.uint32(0), np.asarray(1.0), rates)
    advance = jax.jit(partial(loop.advance, program))
    state, _ = advance(state, data, rates, np.uint32(0), np.int32(0), np.int32(100), np.bool_(False))
    network = Network(program.architecture, program.signature, jax.tree.map(np.asarray, state.weights))
    assert (outputs(network, grid(task.sizes)[train]).argmax(axis=1) == task.table.ravel()[train]).all()
