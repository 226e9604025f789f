"""What the loop records of a network agrees with what the network itself says."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.networks import as_numpy, grid, score
from modgrok.tasks import Split, task
from modgrok.training.evaluation import measure
from modgrok.training.examples import run_data
from modgrok.training.program import Program
from modgrok.training.weights import Weights, as_network, initial_weights

PROGRAM = Program(11, 2, 24, "quadratic", "mean-field", "mse", "sgd", False, None, False, False, "float32", "cpu")
TASK = task("n + m", 11)
TRAIN, TEST = Split(0.6).divide(TASK)


@pytest.fixture(scope="module")
def data():
    return jax.tree.map(jnp.asarray, run_data(PROGRAM, TASK, TRAIN, len(TRAIN), 0))


def random_weights(scale: float) -> Weights:
    return initial_weights(jax.random.key(0), 11, 2, 24, "mean-field", jnp.float32(scale), "float32")


def test_losses_and_accuracies_are_those_of_the_network(data):
    weights = random_weights(5.0)
    found = measure(PROGRAM, weights, data)
    network = as_numpy(as_network(weights, PROGRAM.activation, PROGRAM.parametrization), np.float64)
    inputs, answers = grid(11, 2), TASK.table.reshape(-1)
    for chosen, loss, accuracy in (
        (TRAIN, found.train_loss, found.train_accuracy),
        (TEST, found.test_loss, found.test_accuracy),
    ):
        expected = score(network, inputs[chosen], answers[chosen])
        assert expected.accuracy > 0
        np.testing.assert_allclose(loss, expected.loss, rtol=1e-4)
        np.testing.assert_allclose(accuracy, expected.accuracy, rtol=1e-6)


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_a_network_that_says_nothing_is_never_right(data, value):
    """Equal outputs, and outputs that are no numbers, name no answer."""
    found = measure(PROGRAM, jax.tree.map(lambda w: jnp.full_like(w, value), random_weights(1.0)), data)
    assert (float(found.train_accuracy), float(found.test_accuracy)) == (0, 0)
    assert np.isnan(found.ipr)
