"""The generic kernel: `value_and_grad` of an architecture's `apply`, in blocks. All others are checked against it.

Sums over blocks of examples have two parts on a single device, or one part on each device that shares a run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from modgrok.networks import Noise
from modgrok.networks.architecture import Parameters
from modgrok.shapes import Array, Float, Shaped
from modgrok.training.data import Batch, PaddedShape
from modgrok.training.program import EXAMPLES, Program

LossAndGrad = tuple[Float[Array, ""], Parameters, Float[Array, ""]]
"""The weighted loss over the examples, its gradient, and the number of correct answers; 0 if they are not counted."""


@dataclass(frozen=True)
class Kernel:
    """Loss and gradient of one program, whatever its architecture and platform; faster kernels override it."""

    program: Program
    guards: ClassVar[bool] = False
    """Whether the loss is not a number wherever the gradient is not finite."""

    @classmethod
    def applies(cls, program: Program) -> bool:
        """Whether it can run this program, whose architecture and platform are its own."""
        return True

    def padded_shape(self, inputs: Callable[[], np.ndarray], rows: int) -> PaddedShape:
        """The padded lengths of a run's arrays, from the number of training inputs and, if they matter, the inputs."""
        return PaddedShape(rows)

    def tables(self, inputs: np.ndarray, labels: np.ndarray, padded: PaddedShape) -> Any:
        """Index arrays that the kernel needs besides the examples, built on the host; None if there are none."""
        return None

    def extra_floats(self, padded: PaddedShape) -> int:
        """Floats that one run needs in memory besides weights and activations."""
        return 0

    def outputs(self, parameters: Parameters, inputs: Shaped[Array, "row width"]) -> Float[Array, "row outputs"]:
        """The network's outputs, without noise."""
        return self.program.architecture.apply(parameters, inputs, self.program.signature)

    def loss_and_grad(
        self, parameters: Parameters, batch: Batch, codes: Any, noise: Noise | None, count_correct: Any = None
    ) -> LossAndGrad:
        """Over the examples of a batch; answers are counted in the same pass if `count_correct`, which may be traced,
        is true and the platform counts them there."""
        program = self.program

        def loss_and_right(parameters: Parameters, block: tuple[Any, ...]) -> tuple[Any, Any]:
            inputs, labels, weight, row = block
            key, rate = (None, None) if noise is None else (noise.key, noise.rate)
            out = program.architecture.apply(parameters, inputs, program.signature, Noise(key, rate, weight, row))
            losses = program.objective.losses(out, labels, codes)
            right = correct_in_block(program, jax.lax.stop_gradient(out), labels, weight, codes, count_correct)
            return (weight.astype(losses.dtype) * losses).sum(), right

        def of_block(block: tuple[Any, ...]) -> LossAndGrad:
            (loss, right), gradient = jax.value_and_grad(loss_and_right, has_aux=True)(parameters, block)
            return loss, gradient, right

        def add_block(total: Any, block: Any) -> tuple[Any, None]:
            return jax.tree.map(jnp.add, total, of_block(block)), None

        blocks = (batch.inputs, batch.labels, batch.weight, row_numbers(program, batch))
        if len(batch.labels) == 1 and program.shared == 1 and batch.used is None:
            return of_block(jax.tree.map(lambda part: part[0], blocks))
        nobody = jnp.zeros((), program.dtype)
        nothing = (jnp.zeros((), program.loss_precision), jax.tree.map(jnp.zeros_like, parameters), nobody)
        return sum_parts(program, add_block, nothing, blocks, batch.used)


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
    """Number of correct answers in a block, without padding; 0 unless `count_correct`, which may be traced."""
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
