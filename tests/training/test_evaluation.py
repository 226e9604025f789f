"""What the loop records of a network agrees with what the network itself says."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.networks import Network, TwoLayer, as_numpy, grid, score
from modgrok.networks.transformer import Transformer
from modgrok.tasks import Split, task
from modgrok.training.data import PaddedShape, run_data
from modgrok.training.evaluation import evaluate, recorded_names
from modgrok.training.recording import recorded_measures

TASK = task("n + m", 11)
SPLIT = Split(0.6)
TRAIN, TEST = SPLIT.divide(TASK)


@pytest.fixture
def program(plain):
    network = TwoLayer(24)
    recorded = recorded_measures(network, ())
    return plain.program_with(network, signature=TASK.signature, precision="float32", recorded=recorded)


@pytest.fixture
def data(program):
    return jax.tree.map(jnp.asarray, run_data(program, TASK, SPLIT.examples_of(TASK), PaddedShape(len(TRAIN))))


def random_weights(scale):
    return TwoLayer(24).init(jax.random.key(0), TASK.signature, jnp.float32(scale), "float32")


def test_losses_and_accuracies_are_those_of_the_network(plain, program, data):
    weights = random_weights(5.0)
    found = jax.jit(partial(evaluate, program))(weights, data)
    network = as_numpy(Network(program.architecture, program.signature, weights), np.float64)
    inputs, answers = grid((11, 11)), TASK.table.reshape(-1)
    for name, chosen in (("train", TRAIN), ("test", TEST)):
        expected = score(network, inputs[chosen], answers[chosen])
        assert expected.accuracy > 0
        np.testing.assert_allclose(found[f"{name}_loss"], expected.loss, rtol=1e-4)
        np.testing.assert_allclose(found[f"{name}_accuracy"], expected.accuracy, rtol=1e-6)


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_a_network_that_says_nothing_is_never_right(plain, program, data, value):
    """Equal outputs, and outputs that are no numbers, name no answer."""
    found = jax.jit(partial(evaluate, program))(
        jax.tree.map(lambda w: jnp.full_like(w, value), random_weights(1.0)), data
    )
    assert (float(found["train_accuracy"]), float(found["test_accuracy"])) == (0, 0)
    assert np.isnan(found["ipr"])


def test_logits_of_marks_are_no_answers(plain):
    """They count in the loss; the accuracy is among the answers, as `score` has it."""
    program = plain.program_with(Transformer(8, heads=2), signature=TASK.signature, loss="cross_entropy")
    examples = SPLIT.examples_of(TASK)
    data = jax.tree.map(jnp.asarray, run_data(program, TASK, examples, PaddedShape(len(TRAIN))))
    weights = dict(plain.random_weights(program))
    loud = weights | {"unembedding.weight": weights["unembedding.weight"].at[-1].multiply(100)}
    found, louder = (jax.jit(partial(evaluate, program))(w, data) for w in (weights, loud))
    expected = score(
        as_numpy(Network(program.architecture, program.signature, weights)), grid((11, 11)), TASK.table.ravel()
    )
    shares = [float(found[f"{name}_accuracy"]) * len(chosen) for name, chosen in (("train", TRAIN), ("test", TEST))]
    assert sum(shares) / 121 == pytest.approx(expected.accuracy)
    assert float(louder["test_accuracy"]) == float(found["test_accuracy"])
    assert float(louder["test_loss"]) > float(found["test_loss"])


def test_names_of_what_is_recorded_cost_one_trace_for_a_program(plain, monkeypatch):
    network, traced = Transformer(width=8, heads=2), []
    program = plain.program_with(network, signature=TASK.signature, precision="float32", recorded=())
    shapes = Transformer.shapes
    monkeypatch.setattr(Transformer, "shapes", lambda self, signature: traced.append(1) or shapes(self, signature))
    recorded_names.cache_clear()
    assert len({recorded_names(program) for _ in range(1000)}) == len(traced) == 1
