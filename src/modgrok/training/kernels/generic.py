"""The generic step: `value_and_grad` of an architecture's `apply`, in blocks. Every kernel is checked against it."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from modgrok.networks import Noise
from modgrok.networks.architecture import Parameters
from modgrok.training.blocks import correct_in_block, row_numbers, sum_parts
from modgrok.training.data import Batch, PaddedShape
from modgrok.training.losses import Objective
from modgrok.training.program import Program


class Generic:
    """Serves every architecture on every platform."""

    guards = False

    def applies(self, program: Program) -> bool:
        return True

    def padded_shape(self, program: Program, inputs: Callable[[], Any], rows: int) -> PaddedShape:
        return PaddedShape(rows)

    def tables(self, program: Program, inputs: Any, padded: PaddedShape) -> None:
        return None

    def extra_floats(self, program: Program, padded: PaddedShape) -> int:
        return 0

    def loss_and_grad(
        self,
        program: Program,
        parameters: Parameters,
        batch: Batch,
        codes: Any,
        noise: Noise | None,
        count_correct: Any = None,
    ) -> tuple[Any, Parameters, Any]:
        objective = Objective(program.loss, program.loss_precision, settings=program.loss_settings)

        def loss_and_right(parameters: Parameters, block: tuple[Any, ...]) -> tuple[Any, Any]:
            inputs, labels, weight, row = block
            key, rate = (None, None) if noise is None else (noise.key, noise.rate)
            out = program.architecture.apply(parameters, inputs, program.signature, Noise(key, rate, weight, row))
            losses = objective.losses(out, labels, codes)
            right = correct_in_block(program, jax.lax.stop_gradient(out), labels, weight, codes, count_correct)
            return (weight.astype(losses.dtype) * losses).sum(), right

        def of_block(block: tuple[Any, ...]) -> tuple[Any, Parameters, Any]:
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

    def outputs(self, program: Program, parameters: Parameters, inputs: Any) -> Any:
        return program.architecture.apply(parameters, inputs, program.signature)


KERNEL = Generic()
