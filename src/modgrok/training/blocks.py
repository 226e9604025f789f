"""Sums over examples, block after block: in two parts on one device, or one on each of those that share a run."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from modgrok.training.data import Batch
from modgrok.training.losses import Objective
from modgrok.training.program import EXAMPLES, Program


def sum_parts(program: Program, add_block: Callable[..., Any], nothing: Any, blocks: Any, used: Any) -> Any:
    """What `add_block` adds up over all parts of the blocks: two here, or one on each device. Of each part so many
    blocks are used, or all where `used` is None."""

    def sum_part(part: tuple[Any, Any]) -> Any:
        blocks, used = part
        if used is None:
            return jax.lax.scan(add_block, nothing, blocks)[0]
        block = lambda number: jax.tree.map(lambda rows: rows[number], blocks)  # noqa: E731
        return jax.lax.fori_loop(0, used, lambda number, total: add_block(total, block(number))[0], nothing)

    if program.shared > 1:
        own = (blocks, None if used is None else used[0])
        flat, unflatten = ravel_pytree(sum_part(own))  # one sum over devices, not one for each array
        total = unflatten(jax.lax.psum(flat, EXAMPLES))
    else:
        halves = jax.tree.map(lambda part: part.reshape(2, -1, *part.shape[1:]), blocks)
        total = jax.tree.map(lambda part: part[0] + part[1], jax.lax.map(sum_part, (halves, used)))
    return jax.lax.optimization_barrier(total)  # what follows is compiled, and rounds, alike


def count_right(program: Program, out: Any, labels: Any, weight: Any, codes: Any, judged: Any) -> Any:
    """How many examples of a block are answered right, padding aside; 0 where `judged`, which may be traced, is false
    or None."""
    nobody = jnp.zeros((), program.dtype)
    if judged is None:
        return nobody
    objective = Objective(program.loss, program.loss_precision, program.tolerance, settings=program.loss_settings)

    def judge() -> Any:
        right = objective.right(out, labels, codes, program.signature.outputs) & (weight > 0)
        return right.astype(program.dtype).sum()

    return jax.lax.cond(judged, judge, lambda: nobody)


def row_numbers(program: Program, batch: Batch) -> Any:
    """The number of every row's example in the training set, however many devices share the run."""
    count, length = batch.labels.shape
    block = jnp.arange(count, dtype=jnp.int32)
    if batch.used is not None:
        used = batch.used if program.shared == 1 else jax.lax.all_gather(batch.used, EXAMPLES, tiled=True)
        first = jnp.cumsum(used, dtype=jnp.int32) - used  # blocks of the parts before
        first = first if program.shared == 1 else first[jax.lax.axis_index(EXAMPLES)][None]
        each = jnp.arange(count // len(first), dtype=jnp.int32)
        block = (first[:, None] + each[None]).reshape(-1)
    elif program.shared > 1:
        block = block + jax.lax.axis_index(EXAMPLES) * count
    return block[:, None] * length + jnp.arange(length, dtype=jnp.int32)[None]
