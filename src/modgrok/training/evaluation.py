"""What is recorded of a network while it trains: losses, accuracies, norms, and how localized its spectrum is."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from modgrok.measures import ipr
from modgrok.measures.spectrum import power_along
from modgrok.networks import Normalization, grid
from modgrok.networks.activation import activation
from modgrok.networks.parametrization import scales
from modgrok.training.examples import Examples, RunData
from modgrok.training.gradient import batch_statistics, look_up, loss_and_gradient, sum_parts
from modgrok.training.loss import loss_function, of_answers
from modgrok.training.program import CACHE_FLOATS, EXAMPLES, Program
from modgrok.training.weights import Weights


class Measurement(NamedTuple):
    """One point of every curve of a run."""

    train_loss: Any
    test_loss: Any
    train_accuracy: Any
    test_accuracy: Any
    norm_in: Any
    r"""Frobenius norm of $W^{(1)}$."""
    norm_out: Any
    r"""Frobenius norm of $W^{(2)}$."""
    gradient_in: Any
    r"""Norm of the loss gradient with respect to $W^{(1)}$."""
    gradient_out: Any
    r"""Norm of the loss gradient with respect to $W^{(2)}$."""
    ipr: Any
    """Average inverse participation ratio in the raw index."""
    task_ipr: Any
    """The same in the task's own coordinate; NaN where it has none."""


def measure(program: Program, weights: Weights, data: RunData) -> Measurement:
    """All curves at these weights. Dropout is off, and batch statistics are those of the whole training set."""
    _, gradient = loss_and_gradient(program, weights, data.examples, None)
    train_loss, test_loss, train_accuracy, test_accuracy = _scores(program, weights, data)
    norm_in, norm_out, gradient_in, gradient_out = (jnp.sqrt((w**2).sum()) for w in (*weights, *gradient))
    w_in = weights.columns.transpose(2, 0, 1)
    raw = jnp.broadcast_to(jnp.arange(program.modulus, dtype=jnp.int32), data.index.shape)
    return Measurement(
        train_loss,
        test_loss,
        train_accuracy,
        test_accuracy,
        norm_in,
        norm_out,
        gradient_in,
        gradient_out,
        jnp.nanmean(ipr(power_along(w_in, raw, jnp.int32(program.modulus)))),
        jnp.nanmean(ipr(power_along(w_in, data.index, data.length))),
    )


def training_statistics(program: Program, weights: Weights, examples: Examples) -> Normalization | None:
    """Mean and deviation of the preactivations over the training set, where the program normalizes by them."""
    if not program.batch_norm:
        return None
    factors = scales(program.parametrization, program.arity * program.modulus, program.width)
    columns = jnp.asarray(weights.columns) * factors.hidden
    h = look_up(columns, jnp.asarray(examples.inputs).reshape(-1, program.arity))
    return Normalization(*batch_statistics(h, jnp.asarray(examples.weight).reshape(-1)))


def _scores(program: Program, weights: Weights, data: RunData) -> tuple[Array, Array, Array, Array]:
    factors = scales(program.parametrization, program.arity * program.modulus, program.width)
    columns, readout = weights.columns * factors.hidden, weights.readout * factors.output
    statistics = training_statistics(program, weights, data.examples)
    objective = loss_function(program.loss)
    dtype = columns.dtype
    total = program.modulus**program.arity
    # At least two blocks in each part: a loop of one is compiled, and rounds, as none.
    rows = min(-(-total // (2 * program.parts)), max(512, CACHE_FLOATS // program.width))
    blocks = program.blocks_of(rows, total)
    padding = (0, blocks * rows - total)
    inputs = jnp.asarray(grid(program.modulus, program.arity), jnp.int32)
    chosen = [data.trained.astype(dtype), (~data.trained).astype(dtype)]

    def add_block(sums: Any, block: Any) -> tuple[Any, None]:
        inputs, answers, *weights = block
        h = look_up(columns, inputs)
        if statistics is not None:
            h = (h - statistics.mean[None, :]) / statistics.std[None, :]
        out = activation(program.activation)(h) @ readout.T
        losses = objective(out, answers, program.modulus)
        # Right where every other output is smaller: several times faster than looking for the largest. The answer's own
        # output is left out, not compared with itself: a compiler may compute the product twice, and round it twice.
        own = jnp.arange(program.modulus, dtype=answers.dtype)[None, :] == answers[:, None]
        right = ((of_answers(out, answers)[:, None] > out) | own).all(axis=1).astype(dtype)
        now = [(values * weight).sum() for values in (losses, right) for weight in weights]
        return tuple(a + b for a, b in zip(sums, now, strict=True)), None

    stacked = (
        jnp.pad(inputs, (padding, (0, 0))).reshape(blocks, rows, program.arity),
        *(jnp.pad(x, padding).reshape(blocks, rows) for x in (data.table, *chosen)),
    )
    if program.shared > 1:
        share = blocks // program.shared
        first = jax.lax.axis_index(EXAMPLES) * share
        stacked = jax.tree.map(lambda part: jax.lax.dynamic_slice_in_dim(part, first, share), stacked)
    sums = sum_parts(program, add_block, (jnp.zeros((), dtype),) * 4, stacked)
    counts = [weight.sum() for weight in chosen]
    return tuple(total / count for total, count in zip(sums, counts * 2, strict=True))
