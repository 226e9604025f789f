"""The generic kernel: `value_and_grad` of an architecture's `apply`, in blocks. Every other kernel is checked against
it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from modgrok.networks import Noise
from modgrok.networks.architecture import Parameters
from modgrok.shapes import Array, Float, Shaped
from modgrok.training.blocks import correct_in_block, row_numbers, sum_parts
from modgrok.training.data import Batch, PaddedShape
from modgrok.training.program import Program

LossAndGrad = tuple[Float[Array, ""], Parameters, Float[Array, ""]]
"""The weighted loss over the examples, its gradient, and the number of correct answers; 0 if they are not counted."""


@dataclass(frozen=True)
class Kernel:
    """Loss and gradient of one program, whatever its architecture and platform. Faster kernels override what they do
    otherwise."""

    program: Program
    guards: ClassVar[bool] = False
    """Whether the loss is not a number wherever the gradient is not finite."""

    @classmethod
    def applies(cls, program: Program) -> bool:
        """Whether it can run this program, whose architecture and platform are its own."""
        return True

    def padded_shape(self, inputs: Callable[[], np.ndarray], rows: int) -> PaddedShape:
        """The padded lengths of a run's arrays, from the number of its training inputs and, where they matter, the
        inputs."""
        return PaddedShape(rows)

    def tables(self, inputs: np.ndarray, padded: PaddedShape) -> Any:
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
