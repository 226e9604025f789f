"""The transformer's kernel, interpreted, against automatic differentiation in double precision."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.networks.transformer import Transformer
from modgrok.tasks import Split, Task
from modgrok.training.data import run_data
from modgrok.training.kernels import fused_transformer, generic, kernel_for, pallas_tools, transformer_kernels
from modgrok.training.program import Program

SMALL = Transformer(32, heads=2, hidden=64)
WITHIN = 1e-2
"""Of a gradient's norm: operands of eleven bits, and neurons that they turn on or off."""
ROUNDING = 1e-4
"""Likewise of 32 bits, where derivatives of scores cancel."""


@pytest.fixture(autouse=True)
def _single_precision():
    with jax.enable_x64(False):
        yield


@pytest.fixture
def exact(monkeypatch):
    """Operands of 32 bits, so that nothing but the order of sums differs."""
    monkeypatch.setattr(transformer_kernels, "HALF", jnp.float32)


def a_case(sizes=(7, 7), answers=7, network=SMALL, seed=0, scale=1.0, share=0.6, **changes):
    """Program, weights and data of a random task."""
    table = np.random.default_rng(seed).integers(0, answers, sizes)
    task = Task("random", sizes, answers, table)
    settings = {"features": frozenset(), "batch_size": None, "precision": "float32", "loss_precision": "float32"}
    settings |= {"platform": "gpu", "loss": "cross_entropy"}
    program = Program(network, task.signature, scaling="adam", **settings | changes)
    random = np.random.default_rng(seed + 1)
    shapes = network.shapes(task.signature)
    weights = {name: scale * shape[-1] ** -0.5 * random.normal(size=shape) for name, shape in shapes.items()}
    examples = Split(share, seed=seed).examples_of(task)
    inputs = examples.inputs[examples.trained]
    data = run_data(program, task, examples, kernel_for(program).padded_shape(lambda: inputs, len(inputs)))
    return program, {name: w.astype(np.float32) for name, w in weights.items()}, data.batch


def gradient(kernel, weights, batch):
    return jax.jit(lambda weights, batch: kernel.loss_and_grad(weights, batch, None, None)[:2])(weights, batch)


def exactly(program, weights, batch):
    with jax.enable_x64(True):
        wide = {name: jnp.asarray(w, jnp.float64) for name, w in weights.items()}
        batch = batch._replace(weight=jnp.asarray(batch.weight, jnp.float64), tables=None)
        precise = dataclasses.replace(program, precision="float64", loss_precision="float64")
        return jax.tree.map(np.asarray, gradient(generic.Kernel(precise), wide, batch))


def assert_near(found, expected, within=ROUNDING):
    assert found[1].keys() == expected[1].keys()
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert one.dtype == np.float32
        assert np.linalg.norm(np.asarray(one, np.float64) - other) < within * np.linalg.norm(other)


CASES = {
    "one answer for every value": {},
    "variables of two sizes": {"sizes": (7, 11), "answers": 5},
    "more answers than values": {"sizes": (11, 5), "answers": 13},
    "several tiles": {"sizes": (17, 17), "answers": 17, "share": 0.8},
    "another shape": {"network": Transformer(64, heads=4, hidden=128), "sizes": (5, 5), "answers": 5},
    "more tokens than needed": {"network": Transformer(32, heads=1, hidden=64, vocabulary=40)},
    "small weights": {"scale": 1e-3},
    "large weights": {"scale": 1.5},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_gradient_is_that_of_the_generic_kernel(case, exact):
    program, weights, batch = a_case(**case, code="exact")
    assert kernel_for(program) == fused_transformer.TransformerKernel(program)
    assert_near(gradient(kernel_for(program), weights, batch), exactly(program, weights, batch))


@pytest.mark.parametrize("scale", [1e-6, 0.1, 1.0, 1.5])
def test_operands_of_16_bits_stay_in_range(scale):
    program, weights, batch = a_case(scale=scale)
    found = gradient(kernel_for(program), weights, batch)
    assert all(np.isfinite(part).all() for part in jax.tree.leaves(found))
    expected = exactly(program, weights, batch)
    for name in ("unembedding.weight", "blocks.mlp.0.out.bias") if scale < 0.1 else expected[1]:
        error = np.linalg.norm(found[1][name] - expected[1][name])
        assert error < WITHIN * np.linalg.norm(expected[1][name]), name


def test_the_loss_of_a_certain_answer_is_not_rounded_to_zero():
    program, weights, batch = a_case()
    batch = batch._replace(labels=np.zeros_like(batch.labels))
    weights["unembedding.weight"][0] = 1.0
    weights["blocks.mlp.0.out.bias"][:] = 20 / SMALL.width
    weights["unembedding.weight"][1:] = 0.0
    found, expected = gradient(kernel_for(program), weights, batch), exactly(program, weights, batch)
    assert 0 < expected[0] < 1e-6
    np.testing.assert_allclose(found[0], expected[0], rtol=WITHIN)


def test_products_of_scores_and_of_their_derivatives_keep_all_bits():
    program, weights, _ = a_case()
    seen = lambda weights: fused_transformer._seen(program.architecture, program.signature, weights)  # noqa: E731

    def slope(weights):
        found, pull_back = jax.vjp(lambda weights: seen(weights).scores, weights)
        return pull_back(jnp.ones_like(found))

    products = str(jax.make_jaxpr(slope)(weights)).split("dot_general[")[1:]
    rounded = [text for text in products if "precision=(Precision.HIGHEST, Precision.HIGHEST)" not in text]
    assert len(products) > 6
    assert len(rounded) == 1, "that of the values"


def test_runs_are_mapped_over(exact):
    cases = [a_case(seed=seed, code="mapped") for seed in range(2)]
    program, stacked = cases[0][0], jax.tree.map(lambda *leaves: jnp.stack(leaves), *((w, b) for _, w, b in cases))
    kernel = kernel_for(program)
    losses, gradients = jax.jit(jax.vmap(lambda w, b: kernel.loss_and_grad(w, b, None, None)[:2]))(*stacked)
    for run, (_, weights, batch) in enumerate(cases):
        found = losses[run], {name: part[run] for name, part in gradients.items()}
        assert_near(found, exactly(program, weights, batch))


def test_padding_changes_nothing():
    program, weights, batch = a_case()
    padded = batch._replace(
        **{
            n: np.concatenate([getattr(batch, n), 0 * getattr(batch, n)], axis=1)
            for n in ("inputs", "labels", "weight")
        }
    )
    found, expected = (gradient(kernel_for(program), weights, b) for b in (padded, batch))
    assert_near(found, expected, 1e-6)


def test_it_can_be_compiled_for_a_gpu(monkeypatch):
    monkeypatch.setattr(pallas_tools, "interpreted", lambda: False)
    program, weights, batch = a_case(code="cuda")
    step = jax.jit(lambda w, batch: kernel_for(program).loss_and_grad(w, batch, None, None)[:2])
    assert "triton" in step.trace(weights, batch).lower(lowering_platforms=("cuda",)).as_text()


@pytest.mark.parametrize(
    "changes",
    [
        {"precision": "highest"},
        {"batch_size": 4},
        {"features": frozenset({"dropout"})},
        {"platform": "cpu"},
        {"loss": "stablemax"},
        {"sizes": (3, 3, 3), "answers": 3},
        *(
            {"network": Transformer(32, heads=2, hidden=64, **other)}
            for other in (
                {"layers": 2},
                {"layer_norm": "pre"},
                {"activation": "gelu"},
                {"positions": "sinusoidal"},
                {"biases": False},
                {"attention_biases": True},
                {"tied": True},
                {"framed": True},
                {"vocabulary": 300},
            )
        ),
        {"network": Transformer(48, heads=2)},
        {"network": Transformer(32, heads=4)},
    ],
)
def test_what_it_does_not_know_goes_the_generic_way(changes):
    program, _, batch = a_case(**changes)
    assert kernel_for(program) == generic.Kernel(program)
    assert batch.tables is None
