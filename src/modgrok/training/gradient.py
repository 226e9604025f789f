r"""Loss and gradient over the training set, written so that the three matrix products are nearly all of the work.

Prefactors are folded into the weights before the first example and into the gradients after the last. The first layer
is a look-up and its gradient a sum over the examples that share a value, so no one-hot matrix is multiplied. On a CPU
the examples pass in blocks whose activations stay in the cache, in rows of whole cache lines. On a GPU the sum is a
look-up too, through the list of examples of each value: an ordinary scatter adds in an order that differs from run to
run.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int32

from modgrok.networks.activation import activation
from modgrok.networks.parametrization import scales
from modgrok.training.examples import Examples
from modgrok.training.loss import loss_function
from modgrok.training.program import EXAMPLES, Program
from modgrok.training.weights import Weights

VARIANCE_FLOOR = 1e-10
"""Added to the variance of a preactivation before it is divided by: far below the 1/p of random weights."""


class Noise(NamedTuple):
    """What dropout needs: a key for this step and the share of hidden units it silences."""

    key: Any
    rate: Float[Array, ""]


def loss_and_gradient(
    program: Program, weights: Weights, examples: Examples, noise: Noise | None
) -> tuple[Float[Array, ""], Weights]:
    """The weighted loss over the examples and its derivative with respect to both weight matrices."""
    factors = scales(program.parametrization, program.arity * program.modulus, program.width)
    more_answers, more_width = program.padded_answers - program.modulus, program.padded_width - program.width
    columns = jnp.pad(weights.columns * factors.hidden, ((0, 0), (0, 0), (0, more_width)))
    readout = jnp.pad(weights.readout * factors.output, ((0, more_answers), (0, more_width)))
    objective = loss_function(program.loss)

    def add_block(total: Any, block: tuple[Examples, Array]) -> tuple[Any, None]:
        loss_before, of_columns, of_readout = total
        (inputs, answers, weight, places), rows = block
        z, through_statistics = jax.vjp(lambda h: _activate(program, h, weight), look_up(columns, inputs))
        mask = None if noise is None else _dropout_mask(program, noise, rows)
        z = z if mask is None else z * mask
        out = z @ readout.T
        loss, pull_out = jax.vjp(lambda out: (weight * objective(out, answers, program.modulus)).sum(), out)
        (d_out,) = pull_out(jnp.ones_like(loss))
        d_z = d_out @ readout
        d_z = d_z if mask is None else d_z * mask
        if program.batch_norm:
            sums = _sums(program, through_statistics(d_z)[0], inputs, places, of_columns)
        elif places is None:
            # Looked up again behind a barrier: kept from the way in, h costs a CPU a third of its step.
            table, values = jax.lax.optimization_barrier((columns, inputs))
            sums = _sums(program, _through_activation(program, table, values, d_z), inputs, None, of_columns)
        else:
            sums = _gathered_sums(program, columns, inputs, d_z, places)
        return (loss_before + loss, sums, of_readout + d_out.T @ z), None

    nothing = (jnp.zeros((), columns.dtype), jnp.zeros_like(columns), jnp.zeros_like(readout))
    block_count, row_count = examples.answers.shape
    rows = jnp.arange(block_count * row_count, dtype=jnp.int32).reshape(block_count, row_count)
    if block_count == 1 and program.shared == 1:
        first = Examples(examples.inputs[0], examples.answers[0], examples.weight[0], examples.places)
        (loss, of_columns, of_readout), _ = add_block(nothing, (first, rows[0]))
    else:
        if program.shared > 1:
            rows = rows + jax.lax.axis_index(EXAMPLES) * rows.size
        loss, of_columns, of_readout = sum_parts(program, add_block, nothing, (examples, rows))
    return loss, Weights(
        of_columns[:, :, : program.width] * factors.hidden,
        of_readout[: program.modulus, : program.width] * factors.output,
    )


def sum_parts(program: Program, add_block: Callable[..., Any], nothing: Any, blocks: Any) -> Any:
    """What `add_block` adds up over all parts of the blocks: two here, or one on each device."""

    def sum_part(blocks: Any) -> Any:
        return jax.lax.scan(add_block, nothing, blocks)[0]

    if program.shared > 1:
        flat, unflatten = ravel_pytree(sum_part(blocks))  # one sum over devices, not one for each array
        total = unflatten(jax.lax.psum(flat, EXAMPLES))
    else:
        halves = jax.tree.map(lambda part: part.reshape(2, -1, *part.shape[1:]), blocks)
        total = jax.tree.map(lambda part: part[0] + part[1], jax.lax.map(sum_part, halves))
    return jax.lax.optimization_barrier(total)  # what follows is compiled, and rounds, alike


def look_up(columns: Float[Array, "S p N"], inputs: Int32[Array, "row S"]) -> Float[Array, "row N"]:
    r"""$W^{(1)} x$ for inputs given as integers: the sum of one looked-up row for each variable."""
    h = columns[0].at[inputs[:, 0]].get(mode="promise_in_bounds")
    for s in range(1, columns.shape[0]):
        h = h + columns[s].at[inputs[:, s]].get(mode="promise_in_bounds")
    return h


def batch_statistics(h: Float[Array, "row N"], weight: Float[Array, "row"]) -> tuple[Array, Array]:
    """Weighted mean and standard deviation of every preactivation."""
    mean = (weight[:, None] * h).sum(axis=0)
    variance = (weight[:, None] * (h - mean[None, :]) ** 2).sum(axis=0)
    return mean, jnp.sqrt(variance + VARIANCE_FLOOR)


def _activate(program: Program, h: Float[Array, "row N"], weight: Float[Array, "row"]) -> Float[Array, "row N"]:
    if program.batch_norm:
        mean, deviation = batch_statistics(h, weight)
        h = (h - mean[None, :]) / deviation[None, :]
    return activation(program.activation)(h)


def _dropout_mask(program: Program, noise: Noise, rows: Int32[Array, "row"]) -> Float[Array, "row N"]:
    """Zero with probability `rate`, otherwise 1/(1 − rate); a row's mask depends on its number, not on its block."""
    keys = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(noise.key, rows)
    bits = jax.vmap(lambda key: jax.random.bits(key, (program.width,), jnp.uint16))(keys)
    kept = (bits.astype(program.precision) >= noise.rate * 65536).astype(program.precision) / (1 - noise.rate)
    return jnp.pad(kept, ((0, 0), (0, program.padded_width - program.width)))


def _through_activation(
    program: Program, columns: Float[Array, "S p N"], inputs: Int32[Array, "row S"], d_z: Float[Array, "row N"]
) -> Float[Array, "row N"]:
    """Derivatives by the preactivations from those by the activations."""
    _, pull_back = jax.vjp(activation(program.activation), look_up(columns, inputs))
    return pull_back(d_z)[0]


def _gathered_sums(
    program: Program,
    columns: Float[Array, "S p N"],
    inputs: Int32[Array, "row S"],
    d_z: Float[Array, "row N"],
    places: Int32[Array, "S p slot"],
) -> Float[Array, "S p N"]:
    """`_sums` of derivatives that are made where they are added up, and never stored: a GPU looks up preactivations,
    which come from a small table, faster than it writes their derivatives and reads them once for each variable."""

    def of_value(place: Int32[Array, "slot"]) -> Float[Array, "N"]:
        chosen = (table.at[place].get(mode="promise_in_bounds") for table in (inputs, d_z))
        return _through_activation(program, columns, *chosen).sum(axis=0)

    sums = [jax.vmap(of_value)(place)[None] for place in places]
    # Padded and added, not stacked: a GPU then makes all of them in one kernel.
    padded = (jnp.pad(part, ((s, len(sums) - 1 - s), (0, 0), (0, 0))) for s, part in enumerate(sums))
    return reduce(jnp.add, padded)


def _sums(
    program: Program,
    d_h: Float[Array, "row N"],
    inputs: Int32[Array, "row S"],
    places: Any,
    before: Float[Array, "S p N"],
) -> Float[Array, "S p N"]:
    """For every value of every variable the sum of the derivatives of the examples that have it, added to `before`."""
    if places is not None:
        sums = [d_h.at[place].get(mode="promise_in_bounds").sum(axis=1) for place in places]  # (p, slot, N) -> (p, N)
    elif program.platform == "cpu":
        table = before.reshape(-1, before.shape[2])
        for s in range(program.arity):
            table = table.at[inputs[:, s] + s * program.modulus].add(d_h, mode="promise_in_bounds")
        return table.reshape(before.shape)
    else:
        numbers = jnp.arange(program.modulus, dtype=inputs.dtype)[:, None]
        sums = [jnp.matmul((numbers == v[None, :]).astype(d_h.dtype), d_h, precision="highest") for v in inputs.T]
    return before + jnp.stack(sums)
