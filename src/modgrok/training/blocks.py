"""Sums over blocks of examples: in two parts on a single device, or one part on each device that shares a run."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from modgrok.training.data import Batch
from modgrok.training.program import EXAMPLES, Program


def sum_parts(program: Program, add_block: Callable[..., Any], nothing: Any, blocks: Any, used: Any) -> Any:
    """Sums `add_block` over all parts of the blocks: two parts here, or one on each device. `used` is the number of
    blocks in use of each part; None means all."""

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


def correct_in_block(program: Program, out: Any, labels: Any, weight: Any, codes: Any, count_correct: Any) -> Any:
    """Number of correct answers in a block, without padding; 0 if `count_correct`, which may be traced, is false or
    None."""
    nobody = jnp.zeros((), program.dtype)
    if count_correct is None:
        return nobody

    def correct() -> Any:
        right = program.objective.right(out, labels, codes, program.signature.outputs) & (weight > 0)
        return right.astype(program.dtype).sum()

    return jax.lax.cond(count_correct, correct, lambda: nobody)


def row_numbers(program: Program, batch: Batch) -> Any:
    """Index of every row's example in the training set, independent of how many devices share the run."""
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
