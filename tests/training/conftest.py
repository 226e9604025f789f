"""Training written down as plainly as possible, with one-hot matrices: what the fast paths must agree with.

Everything here is in double precision, so that formulas agree to the last digits.
"""

from functools import partial
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.networks.activation import activation
from modgrok.networks.two_layer import scales
from modgrok.tasks import Task
from modgrok.training.examples import capacity, run_data, slots
from modgrok.training.program import Program
from modgrok.training.weights import Weights

SETTINGS = {
    "modulus": 5,
    "arity": 2,
    "width": 6,
    "activation": "quadratic",
    "parametrization": "mean-field",
    "loss": "mse",
    "family": "sgd",
    "nesterov": False,
    "batch_size": None,
    "dropout": False,
    "batch_norm": False,
    "precision": "float64",
    "platform": "cpu",
}


jit = partial(
    jax.jit, compiler_options={"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
)
"""For formulas, which are tested faster where the compiler does not try hard."""


def program_with(**changes):
    return Program(**(SETTINGS | changes))


def random_task(program, seed=0):
    """A table without structure."""
    shape = (program.modulus,) * program.arity
    return Task.from_table(np.random.default_rng(seed).integers(0, program.modulus, shape))


def random_weights(program, seed=0):
    rng = np.random.default_rng(seed)
    shapes = (program.arity, program.modulus, program.width), (program.modulus, program.width)
    return Weights(*(jnp.asarray(rng.normal(size=shape).astype(program.precision)) for shape in shapes))


def random_data(program, fraction=0.6, seed=0, extra=0):
    """Data of a random split, with `extra` more rows of padding than it needs."""
    task = random_task(program, seed)
    size = task.table.size
    train = np.sort(np.random.default_rng(seed).permutation(size)[: round(fraction * size)])
    rows = (capacity(len(train)) if program.gathers else len(train)) + extra
    data = run_data(program, task, train, rows, slots(task, train) if program.gathers else 0)
    return task, train, jax.tree.map(jnp.asarray, data)


def plain_loss(program, weights, inputs, answers, mask=None):
    """Mean loss over inputs by one-hot matrix products; batch norm over exactly these inputs; a mask for dropout."""
    factors = scales(program.parametrization, program.arity * program.modulus, program.width)
    h = jnp.zeros((len(inputs), program.width), program.precision)
    for s in range(program.arity):
        h = h + jax.nn.one_hot(inputs[:, s], program.modulus, dtype=program.precision) @ weights.columns[s]
    h = h * factors.hidden
    if program.batch_norm:
        h = (h - h.mean(axis=0, keepdims=True)) / jnp.sqrt(h.var(axis=0, keepdims=True) + 1e-10)
    z = activation(program.activation)(h)
    if mask is not None:
        z = z * mask
    out = z @ weights.readout.T * factors.output
    target = jax.nn.one_hot(answers, program.modulus, dtype=program.precision)
    if program.loss == "mse":
        return ((out - target) ** 2).mean()
    return -(jax.nn.log_softmax(out, axis=1) * target).sum(axis=1).mean()


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="session")
def plain():
    """The functions of this file, by name."""
    functions = (program_with, random_task, random_weights, random_data, plain_loss)
    return SimpleNamespace(**{function.__name__: function for function in functions}, jit=jit)
