"""Training written down as plainly as possible, with one-hot matrices: what the fast paths must agree with.

Everything here is in double precision unless a test says otherwise, so that formulas agree to the last digits.
"""

import dataclasses
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.networks import TwoLayer, grid
from modgrok.tasks import Examples, Signature, Task
from modgrok.training.data import PaddedShape, run_data
from modgrok.training.kernels import kernel_for
from modgrok.training.program import Program

PHI = {
    "quadratic": lambda x: x**2,
    "relu": lambda x: jnp.where(x > 0, x, 0.0),
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "abs": lambda x: jnp.where(x > 0, x, -x),
    "tanh": jnp.tanh,
    "x^3": lambda x: x**3,
}


def program_with(architecture=None, modulus=5, arity=2, answers=None, **changes):
    """A program of the paper's network, small, or of another architecture."""
    own = {
        name: changes.pop(name) for name in ("width", "activation", "parametrization", "batch_norm") if name in changes
    }
    architecture = architecture or TwoLayer(**({"width": 6} | own))
    signature = changes.pop("signature", Signature((modulus,) * arity, answers or modulus))
    precision = changes.get("precision", "float64")
    settings = {
        "loss": "mse",
        "scaling": "trace",
        "features": frozenset(),
        "batch_size": None,
        "precision": precision,
        "loss_precision": "float64" if precision == "float64" else "float32",
        "platform": "cpu",
    }
    program = Program(architecture, signature, **(settings | changes))
    return dataclasses.replace(program, block_rows=program.counted_block(1))


def random_task(program, seed=0):
    """A table without structure."""
    signature, random = program.signature, np.random.default_rng(seed)
    return Task("table", signature.sizes, signature.outputs, random.integers(0, signature.outputs, signature.sizes))


def random_weights(program, seed=0):
    """Of ordinary sizes, biases included."""
    random = np.random.default_rng(seed)
    shapes = program.architecture.shapes(program.signature)
    return {name: jnp.asarray(random.normal(size=shape).astype(program.dtype)) for name, shape in shapes.items()}


def data_of(program, task, train, extra=0):
    """A run's data, with `extra` more rows of padding than it needs."""
    inputs, answers = grid(task.sizes), task.table.reshape(-1)
    trained = np.isin(np.arange(len(answers)), train)
    padded = kernel_for(program).padded_shape(lambda: inputs[train], len(train))
    padded = PaddedShape(padded.rows + extra, padded.slots)
    data = run_data(program, task, Examples(inputs, answers, answers, trained), padded)
    return jax.tree.map(jnp.asarray, data)


def random_data(program, fraction=0.6, seed=0, extra=0):
    """A task, a random split of it, and the data."""
    task = random_task(program, seed)
    size = task.table.size
    train = np.sort(np.random.default_rng(seed).permutation(size)[: round(fraction * size)])
    return task, train, data_of(program, task, train, extra)


def plain_loss(program, weights, inputs, answers, mask=None):
    """Mean loss over inputs by one-hot matrix products; batch norm over exactly these inputs; a mask for dropout."""
    network, (modulus, *_), arity = program.architecture, program.signature.sizes, len(program.signature.sizes)
    mean_field = network.parametrization == "mean-field"
    h = jnp.zeros((len(inputs), network.width), program.dtype)
    for s in range(arity):
        h = h + jax.nn.one_hot(inputs[:, s], modulus, dtype=program.dtype) @ weights["columns"][s]
    h = h / np.sqrt(arity * modulus) if mean_field else h
    if network.batch_norm:
        h = (h - h.mean(axis=0, keepdims=True)) / jnp.sqrt(h.var(axis=0, keepdims=True) + 1e-10)
    z = PHI[network.activation](h)
    if mask is not None:
        z = z * mask
    out = z @ weights["readout"].T / (network.width if mean_field else 1)
    target = jax.nn.one_hot(answers, program.signature.outputs, dtype=program.dtype)
    if program.loss == "mse":
        return ((out - target) ** 2).mean()
    return -(jax.nn.log_softmax(out, axis=1) * target).sum(axis=1).mean()


def plain_mask(key, rate, rows, width):
    """Dropout's mask, a row at a time: 16 random bits for each neuron, from the row's own key."""
    random = [np.asarray(jax.random.bits(jax.random.fold_in(key, row), (width,), "uint16")) for row in range(rows)]
    return np.where(np.stack(random) < rate * 2**16, 0.0, 1 / (1 - rate))


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="session")
def plain():
    """The functions of this file, by name."""
    functions = (program_with, random_task, random_weights, random_data, data_of, plain_loss, plain_mask)
    return SimpleNamespace(**{function.__name__: function for function in functions})
