"""Minibatches of a training set, in an order that is drawn anew for every epoch."""

from typing import Any

import jax
import jax.numpy as jnp

from modgrok.shapes import Array, Bool, Int32
from modgrok.training.data import Batch

Order = Int32[Array, "example"]


class Epochs:
    """The epochs of one run. Its training set may be padded, and how long it is without that is data, so that runs
    with training sets of many lengths share a program."""

    def __init__(self, size: int, batch: Batch, key: Any) -> None:
        self.size, self.batch, self.key = size, batch, key
        self.length = (batch.weight > 0).sum(dtype=jnp.int32)
        self.batches = -(-self.length // size)
        """In an epoch; the last of them may be smaller."""

    def order(self, step: Int32[Any, ""]) -> Order:
        """The order of the examples in the epoch of a step."""
        key = jax.random.fold_in(jax.random.fold_in(self.key, step // self.batches), 1)
        return shuffled(key, self.length, self.batch.labels.size)

    def renewed(self, order: Order, step: Int32[Any, ""]) -> Order:
        """The order at a step, from that at the step before."""
        return jax.lax.cond(in_any_run(step % self.batches == 0), lambda: self.order(step), lambda: order)

    def minibatch(self, order: Order, step: Int32[Any, ""]) -> Batch:
        """The examples of a step."""
        position = (step % self.batches) * self.size + jnp.arange(self.size, dtype=jnp.int32)
        row = order[jnp.minimum(position, self.length - 1)]
        present = (position < self.length).astype(self.batch.weight.dtype)
        inputs, labels = self.batch.inputs[0, row], self.batch.labels[0, row]
        return Batch(inputs[None], labels[None], (present / present.sum())[None], None, None)


@jax.custom_batching.custom_vmap
def in_any_run(flag: Bool[Array, ""]) -> Bool[Array, ""]:
    """Whether it is set in any run of a batch that takes steps together, so that not all runs take a branch always."""
    return flag


@in_any_run.def_vmap
def _in_any_run(runs: int, batched: Any, flag: Bool[Array, "run"]) -> tuple[Bool[Array, ""], bool]:
    return flag.any(), False


def shuffled(key: Any, length: Int32[Any, ""], size: int) -> Order:
    """The numbers below `size`, of which those below `length`, which may be traced, come first and are permuted as
    `jax.random.permutation(key, length)` permutes them: sorted by random numbers, again and again if there are many."""
    position = order = jnp.arange(size, dtype=jnp.int32)
    most, sorts, least = jnp.iinfo(jnp.uint32).max, 0, 1
    while size > least:
        key, own = jax.random.split(key)
        numbers = jnp.where(position < length, jax.random.bits(own, (size,), jnp.uint32), jnp.uint32(most))
        order = jnp.where(length > least, jax.lax.sort_key_val(numbers, order)[1], order)
        sorts, least = sorts + 1, int(most ** ((sorts + 1) / 3))
    return order
