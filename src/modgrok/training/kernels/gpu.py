"""The paper's network on a GPU: products of 16-bit operands with 32-bit sums, small kernels around them.

It knows full batches in single precision. A run that needs more asks for precision `highest`; it, minibatches and batch
normalization take the plain way, which is also what this one is checked against.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from modgrok.networks import Noise
from modgrok.networks.activation import activation
from modgrok.networks.architecture import Parameters
from modgrok.shapes import Array, Float, Float16, Float32, Int32
from modgrok.training.data import Batch, PaddedShape
from modgrok.training.kernels import pallas_kernels as pallas
from modgrok.training.kernels.generic import LossAndGrad
from modgrok.training.kernels.pallas_kernels import HALF, SINGLE, Scaled, Tile, ValueRows
from modgrok.training.kernels.plain_xla import TwoLayerKernel
from modgrok.training.program import Program


@dataclass(frozen=True)
class Tiles:
    """The tiles of every kernel."""

    sizes: Tile = Tile(16, 128)
    operands: Tile = Tile(8, 128)
    look_up: Tile = Tile(8, 128, warps=1, repeats=4)
    residuals: Tile = Tile(64, 64, stages=2)
    sums: Tile = Tile(4, 128, warps=1)


TILES = {
    "NVIDIA H200": (
        Tiles(
            sizes=Tile(32, 32),
            look_up=Tile(32, 64),
            residuals=Tile(64, 64, warps=8, stages=3),
            sums=Tile(8, 128),
        ),
        Tiles(
            sizes=Tile(32, 128, warps=8),
            operands=Tile(128, 128, warps=8),
            look_up=Tile(8, 128, warps=1, repeats=8),
            residuals=Tile(128, 64, stages=2),
        ),
    )
}
"""Measured, by kind of device: many small programs for little work, large ones for much."""
OTHER_TILES = Tiles(), Tiles()
MUCH = 1 << 23
"""Number of activations of all runs from which the larger tiles are used."""
D_Z = {"mse": HALF}
"""Storage type of the activation derivatives, by loss; 32 bits by default, since in 16 bits a softmax's gradient would
be up to 1.8 times less exact than with TF32."""
PROGRAMS = 128
"""Number of 128 × 128 tiles that a product should have; with fewer, its sum is split into parts."""


class Tables(NamedTuple):
    """Index arrays besides the examples."""

    by_value: ValueRows
    share: Float32[Any, ""]
    """The weight of an example."""


class Dropout(NamedTuple):
    """Which activations are kept, and their scale."""

    mask: Float16[Array, "row width"]
    growth: Float32[Array, ""]
    """1 / (1 − rate), by which kept activations are multiplied."""


class Gpu(TwoLayerKernel):
    """Falls back to plain XLA for examples that have no tables of its own."""

    guards = True

    @classmethod
    def applies(cls, program: Program) -> bool:
        plain = program.batch_norm or program.codes or program.precision != "float32"
        return program.platform == "gpu" and not plain and cls(program).gathers

    def padded_shape(self, inputs: Callable[[], np.ndarray], rows: int) -> PaddedShape:
        """Coarser than in plain XLA, so that more training sets share a compilation; empty slots cost nothing."""
        plain = super().padded_shape(inputs, rows)
        return PaddedShape(pallas.round_up(plain.rows, 128), pallas.round_up(plain.slots, 16))

    def tables(self, inputs: np.ndarray, padded: PaddedShape) -> Any:
        rows = super().tables(inputs, padded)
        size = rows.shape[1]
        there = np.concatenate([inputs, np.zeros_like(inputs[:1])])  # slots that are not filled name the row beyond
        variables = range(len(rows))
        # A single variable has no others, and stands in for them.
        others = [[there[slots, o] for o in variables if o != s or len(rows) == 1] for s, slots in enumerate(rows)]
        counts = np.stack([np.bincount(values, minlength=size) for values in inputs.T])
        by_value = ValueRows(rows, np.array(others, np.int32), counts.astype(np.int32))
        return Tables(by_value, np.asarray(1 / max(1, len(inputs)), np.float32))

    def extra_floats(self, padded: PaddedShape) -> int:
        return 0

    def loss_and_grad(
        self, parameters: Parameters, batch: Batch, codes: Any, noise: Noise | None, count_correct: Any = None
    ) -> LossAndGrad:
        """The loss is not a number where the gradient is not finite."""
        if not isinstance(batch.tables, Tables):
            return super().loss_and_grad(parameters, batch, codes, noise, count_correct)
        program, dropout = self.program, None
        if noise is not None and noise.rate is not None:
            width = self.network.width
            rows = jnp.arange(batch.labels.size, dtype=jnp.int32)
            mask = noise._replace(row=rows).mask((width,), program.dtype)
            padded = jnp.pad(mask > 0, ((0, 0), (0, pallas.padded_width(width) - width)))
            dropout = Dropout(padded.astype(HALF), jnp.asarray(1 / (1 - noise.rate)))
        return *_step(self, parameters, batch, dropout), jnp.zeros((), program.dtype)

    def outputs(self, parameters: Parameters, inputs: Int32[Array, "row S"]) -> Float32[Array, "row outputs"]:
        network, columns, readout = self.network, parameters["columns"], parameters["readout"]
        layers = _function(network.activation), network.scales(self.program.signature)[:2]
        tiles = _tiles(self.program.runs * len(inputs) * network.width)
        scaled = pallas.scale_operands(
            *layers, columns, readout, jnp.float32(1), (1, 1.0, True), (tiles.sizes, tiles.operands)
        )
        z = pallas.look_up_activate(*layers, columns, inputs, scaled.of_z, tiles.look_up)
        return _multiply(z, scaled)[:, : self.program.signature.outputs]


KERNEL = Gpu


@partial(jax.jit, static_argnums=0)  # Traced and lowered once, wherever a program takes a gradient.
def _step(
    kernel: Gpu, parameters: Parameters, batch: Batch, dropout: Dropout | None
) -> tuple[Float[Array, ""], Parameters]:
    program, network, outputs = kernel.program, kernel.network, kernel.program.signature.outputs
    layers = _function(network.activation), network.scales(program.signature)[:2]
    columns, readout = parameters["columns"], parameters["readout"]
    inputs, labels, weight = batch.inputs.reshape(-1, len(columns)), batch.labels.reshape(-1), batch.weight.reshape(-1)
    by_value, share = batch.tables
    tiles = _tiles(program.runs * len(labels) * network.width)
    counts = 2 / outputs if program.loss == "mse" else 1.0
    grown = readout if dropout is None else readout * dropout.growth
    bounds = len(labels), counts, program.loss != "mse"
    scaled = pallas.scale_operands(*layers, columns, grown, share, bounds, (tiles.sizes, tiles.operands))
    z = pallas.look_up_activate(*layers, columns, inputs, scaled.of_z, tiles.look_up)
    z = z if dropout is None else z * dropout.mask
    if program.loss in pallas.LOSSES and program.loss_precision == "float32" and outputs <= pallas.MOST_OUTPUTS:
        losses, left = pallas.residuals(program.loss, outputs, z, scaled, labels, weight, tiles.residuals)
    else:
        losses, left = _residuals(program, z, scaled, labels, weight, share * counts)
    d_z = jax.lax.dot_general(
        left, scaled.backwards, (((1,), (0,)), ((), ())), preferred_element_type=D_Z.get(program.loss, SINGLE)
    )
    d_z = d_z if dropout is None else d_z * dropout.mask.astype(d_z.dtype)
    of_readout = _outer_product(left, z, program.runs)[:outputs, : network.width] * scaled.of_readout[None, :]
    return jnp.where(jnp.isfinite(scaled.of_run[2]), losses.sum(), jnp.nan), {
        "columns": pallas.column_sums(*layers, columns, d_z, by_value, scaled.of_columns, tiles.sums),
        "readout": of_readout if dropout is None else of_readout * dropout.growth,
    }


def _multiply(z: Float16[Array, "row width"], scaled: Scaled) -> Float32[Array, "row outputs"]:
    dimensions = (((1,), (1,)), ((), ()))
    return jax.lax.dot_general(z, scaled.inwards, dimensions, preferred_element_type=SINGLE) * scaled.of_run[0]


def _residuals(
    program: Program, z: Float16[Array, "row width"], scaled: Scaled, labels: Any, weight: Any, share: Any
) -> tuple[Float[Array, "row"], Float16[Array, "row outputs"]]:
    """`pallas.residuals` in plain XLA, for every loss and any number of outputs."""

    def weighted(out: Any) -> Any:
        losses = program.objective.losses(out, labels, None, program.signature.outputs)
        return weight.astype(losses.dtype) * losses

    losses, pull_back = jax.vjp(weighted, _multiply(z, scaled))
    (d_out,) = pull_back(jnp.ones_like(losses))
    return losses, pallas.to_half(d_out * (scaled.of_run[1] / share))


def _outer_product(
    left: Float16[Array, "row outputs"], z: Float16[Array, "row width"], runs: int
) -> Float32[Array, "outputs width"]:
    """The sum over examples of residuals times activations, split into parts if that keeps more of the GPU busy."""
    rows, parts = len(z), 1
    programs = runs * -(-left.shape[1] // 128) * -(-z.shape[1] // 128)
    while programs * parts < PROGRAMS and rows % (16 * parts) == 0:
        parts *= 2
    left, z = (part.reshape(parts, rows // parts, -1) for part in (left, z))
    dimensions = (((1,), (1,)), ((0,), (0,)))
    return jax.lax.dot_general(left, z, dimensions, preferred_element_type=SINGLE).sum(axis=0)


def _tiles(activations: int) -> Tiles:
    little, much = TILES.get(jax.local_devices()[0].device_kind, OTHER_TILES)
    return much if activations >= MUCH else little


def _function(name: str) -> pallas.Function:
    """An activation in terms that Triton supports; it has no error function."""
    return _gelu if name == "gelu" else activation(name)


def _gelu(x: Any) -> Any:
    """With the error function to 1.5e-7 (Abramowitz and Stegun, 7.1.26)."""
    size = jnp.abs(x) * 0.5**0.5
    t = 1 / (1 + 0.3275911 * size)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    tail = series * jnp.exp(-size * size)
    return x * jnp.where(x > 0, 1 - 0.5 * tail, 0.5 * tail)
