r"""Loss and gradient over the training set, written so that the three matrix products are nearly all of the work.

Prefactors are folded into the weights before the first example and into the gradients after the last. The first layer
is a look-up and its gradient a sum over the examples that share a value, so no one-hot matrix is multiplied. On a CPU
the examples pass in blocks whose activations stay in the cache, in rows of whole cache lines. On a GPU the sum is a
look-up too, through the list of examples of each value: an ordinary scatter adds in an order that differs from run to
run.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from modgrok.networks import Noise, TwoLayer
from modgrok.networks.activation import activation
from modgrok.networks.architecture import Parameters
from modgrok.networks.two_layer import batch_statistics, look_up
from modgrok.shapes import Array, Float, Int32
from modgrok.training.data import Batch, PaddedShape
from modgrok.training.kernels.generic import Kernel, LossAndGrad, correct_in_block, row_numbers, sum_parts
from modgrok.training.program import Program

WIDE = 256
"""From this width on, transposing the output derivatives in memory is free; at 128 it costs a sixtieth of a step."""


class TwoLayerKernel(Kernel):
    """The paper's network in plain XLA, on a CPU and on a GPU."""

    @classmethod
    def applies(cls, program: Program) -> bool:
        return not program.codes

    @property
    def network(self) -> TwoLayer:
        assert isinstance(self.program.architecture, TwoLayer)
        return self.program.architecture

    @property
    def gathers(self) -> bool:
        """Whether gradients are summed by gathers, which are fast and deterministic on a GPU; scatters are neither."""
        return self.program.platform != "cpu" and self.program.batch_size is None and self.program.rule is None

    @property
    def padded_answers(self) -> int:
        """Width of the output products: a multiple of 8 lets a GPU use its matrix units."""
        outputs = self.program.signature.outputs
        return outputs if self.program.platform == "cpu" else -(-outputs // 8) * 8

    @property
    def padded_width(self) -> int:
        """Padded width of the hidden layer: rows of whole cache lines, if that wastes little."""
        width = self.network.width
        return width if self.program.platform != "cpu" or width < 128 else -(-width // 16) * 16

    def padded_shape(self, inputs: Callable[[], np.ndarray], rows: int) -> PaddedShape:
        """On a GPU, rows are padded to a multiple of 32 with at least one row to spare, slots to a multiple of 2."""
        if not self.gathers:
            return PaddedShape(rows)
        most = max(int(np.bincount(values).max()) for values in inputs().T)
        return PaddedShape(-(-(rows + 1) // 32) * 32, -(-most // 2) * 2)

    def tables(self, inputs: np.ndarray, labels: np.ndarray, padded: PaddedShape) -> Any:
        """For every variable and value, the rows that have it, padded with a row of weight 0."""
        if not self.gathers:
            return None
        size = max(self.program.signature.sizes)
        return np.stack([rows_by_value(values, size, padded.slots) for values in inputs.T])

    def extra_floats(self, padded: PaddedShape) -> int:
        sizes = self.program.signature.sizes
        return len(sizes) * max(sizes) * padded.slots * self.network.width

    def loss_and_grad(
        self, parameters: Parameters, batch: Batch, codes: Any, noise: Noise | None, count_correct: Any = None
    ) -> LossAndGrad:
        program, network, outputs = self.program, self.network, self.program.signature.outputs
        factors = network.scales(program.signature)
        more_answers, more_width = self.padded_answers - outputs, self.padded_width - network.width
        columns = jnp.pad(parameters["columns"] * factors.hidden, ((0, 0), (0, 0), (0, more_width)))
        readout = jnp.pad(parameters["readout"] * factors.output, ((0, more_answers), (0, more_width)))

        def add_block(total: Any, block: tuple[Any, ...]) -> tuple[Any, None]:
            loss_before, right_before, of_columns, of_readout = total
            inputs, labels, weight, rows = block
            z, through_statistics = jax.vjp(lambda h: _activate(network, h, weight), look_up(columns, inputs))
            mask = None if noise is None else self._dropout_mask(noise, rows)
            z = z if mask is None else z * mask
            out = z @ readout.T
            right = correct_in_block(program, out, labels, weight, None, count_correct)

            def mean_loss(out: Any) -> Any:
                losses = program.objective.losses(out, labels, None, outputs)
                return (weight.astype(losses.dtype) * losses).sum()

            loss, pull_out = jax.vjp(mean_loss, out)
            (d_out,) = pull_out(jnp.ones_like(loss))
            d_z = d_out @ readout
            d_z = d_z if mask is None else d_z * mask
            if network.batch_norm:
                sums = _sums(program, through_statistics(d_z)[0], inputs, batch.tables, of_columns)
            elif batch.tables is None:
                # Looked up again behind a barrier: kept from the forward pass, h costs a CPU a third of its step.
                table, values = jax.lax.optimization_barrier((columns, inputs))
                sums = _sums(program, _through_activation(network, table, values, d_z), inputs, None, of_columns)
            else:
                sums = _gathered_sums(network, columns, inputs, d_z, batch.tables)
            return (loss_before + loss, right_before + right, sums, of_readout + self._transposed(d_out) @ z), None

        none = jnp.zeros((), program.loss_precision), jnp.zeros((), program.dtype)
        nothing = (*none, jnp.zeros_like(columns), jnp.zeros_like(readout))
        blocks = (batch.inputs, batch.labels, batch.weight, row_numbers(program, batch))
        if len(batch.labels) == 1 and program.shared == 1 and batch.used is None:
            (loss, right, of_columns, of_readout), _ = add_block(nothing, tuple(part[0] for part in blocks))
        else:
            loss, right, of_columns, of_readout = sum_parts(program, add_block, nothing, blocks, batch.used)
        gradient = {
            "columns": of_columns[:, :, : network.width] * factors.hidden,
            "readout": of_readout[:outputs, : network.width] * factors.output,
        }
        return loss, gradient, right

    def _transposed(self, d_out: Float[Array, "row outputs"]) -> Float[Array, "outputs row"]:
        """The transpose, for a wide hidden layer on a CPU materialized in memory: then all products use one of XLA's
        two libraries, and the other generates no code."""
        wide = self.program.platform == "cpu" and self.network.width >= WIDE
        return jax.lax.optimization_barrier(d_out.T) if wide else d_out.T

    def _dropout_mask(self, noise: Noise, rows: Int32[Array, "row"]) -> Float[Array, "row N"]:
        mask = noise._replace(row=rows).mask((self.network.width,), self.program.dtype)
        return jnp.pad(mask, ((0, 0), (0, self.padded_width - self.network.width)))


KERNEL = TwoLayerKernel


def _activate(network: TwoLayer, h: Float[Array, "row N"], weight: Float[Array, "row"]) -> Float[Array, "row N"]:
    if network.batch_norm:
        mean, deviation = batch_statistics(h, weight)
        h = (h - mean[None, :]) / deviation[None, :]
    return activation(network.activation)(h)


def _through_activation(
    network: TwoLayer, columns: Float[Array, "S p N"], inputs: Int32[Array, "row S"], d_z: Float[Array, "row N"]
) -> Float[Array, "row N"]:
    """Derivatives with respect to preactivations, from those with respect to activations."""
    _, pull_back = jax.vjp(activation(network.activation), look_up(columns, inputs))
    return pull_back(d_z)[0]


def _gathered_sums(
    network: TwoLayer,
    columns: Float[Array, "S p N"],
    inputs: Int32[Array, "row S"],
    d_z: Float[Array, "row N"],
    slots: Int32[Array, "S p slot"],
) -> Float[Array, "S p N"]:
    """`_sums` of derivatives that are recomputed where they are added up: on a GPU, looking up preactivations in a
    small table is faster than storing their derivatives and reading them once per variable."""

    def of_value(rows: Int32[Array, "slot"]) -> Float[Array, "N"]:
        chosen = (table.at[rows].get(mode="promise_in_bounds") for table in (inputs, d_z))
        return _through_activation(network, columns, *chosen).sum(axis=0)

    sums = [jax.vmap(of_value)(rows)[None] for rows in slots]
    # Padded and added, not stacked: a GPU then makes all of them in one kernel.
    padded = (jnp.pad(part, ((s, len(sums) - 1 - s), (0, 0), (0, 0))) for s, part in enumerate(sums))
    return reduce(jnp.add, padded)


def _sums(
    program: Program,
    d_h: Float[Array, "row N"],
    inputs: Int32[Array, "row S"],
    slots: Any,
    before: Float[Array, "S p N"],
) -> Float[Array, "S p N"]:
    """For every value of every variable, the sum of derivatives over the examples that have it, added to `before`."""
    variables, size = before.shape[:2]
    if slots is not None:
        sums = [d_h.at[rows].get(mode="promise_in_bounds").sum(axis=1) for rows in slots]  # (p, slot, N) -> (p, N)
    elif program.platform == "cpu":
        table = before.reshape(-1, before.shape[2])
        for s in range(variables):
            table = table.at[inputs[:, s] + s * size].add(d_h, mode="promise_in_bounds")
        return table.reshape(before.shape)
    else:
        numbers = jnp.arange(size, dtype=inputs.dtype)[:, None]
        sums = [jnp.matmul((numbers == v[None, :]).astype(d_h.dtype), d_h, precision="highest") for v in inputs.T]
    return before + jnp.stack(sums)


def rows_by_value(values: np.ndarray, size: int, slot_count: int) -> np.ndarray:
    """For every value the examples that have it, padded with the one beyond."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    rank = np.arange(len(values)) - np.searchsorted(ordered, ordered)
    rows = np.full((size, slot_count), len(values), dtype=np.int32)
    rows[ordered, rank] = order
    return rows
