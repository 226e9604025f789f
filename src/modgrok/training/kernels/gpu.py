"""The paper's network on a GPU: kernels that take the gradient, products of 16-bit operands with 32-bit sums.

They know full batches in single precision without dropout, losses and activations whose size is known, and up to 256
outputs. A run that needs more bits asks for precision `highest`; it and all others take the plain way, which is also
what this one is checked against.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from modgrok.networks import Noise, TwoLayer
from modgrok.networks.activation import MONOMIAL, OWN_ACTIVATIONS, activation, degree
from modgrok.networks.architecture import Parameters
from modgrok.networks.two_layer import look_up
from modgrok.shapes import Array, Float, Float16, Float32, Int32
from modgrok.training.data import Batch, PaddedShape
from modgrok.training.kernels import cuda, quadratic
from modgrok.training.kernels import pallas_kernels as pallas
from modgrok.training.kernels.generic import LossAndGrad
from modgrok.training.kernels.pallas_kernels import Scaled
from modgrok.training.kernels.pallas_tools import HALF, SINGLE, Tile, next_power, round_up, to_half
from modgrok.training.kernels.plain_xla import TwoLayerKernel
from modgrok.training.kernels.quadratic import Geometry
from modgrok.training.kernels.value_lists import Lists, lists_for, lists_of, tiles_for
from modgrok.training.kernels.windows import NOBODY, ROWS, Rows, Windows
from modgrok.training.losses import OWN_LOSSES
from modgrok.training.program import Program


@dataclass(frozen=True)
class Sizes:
    """The tiles of every kernel."""

    sizes: Tile = Tile(16, 128)
    operands: Tile = Tile(8, 128)
    residuals: Tile = Tile(64, 32)
    gradients: Tile = Tile(32, 64)
    wide: tuple[Tile, Tile] = (Tile(64, 16), Tile(16, 32))
    """The last two where there are more than 128 outputs."""
    whole: Tile | None = None
    """The last for networks that fit into it, if they have at most 64 outputs and a simple activation: it makes the
    residuals too."""

    def of_step(self, outputs: int, width: int, simple: bool, columns: int) -> tuple[Tile | None, Tile]:
        """The tiles of residuals, if they have a kernel of their own, and of gradients; `columns` of one-hot matrices.
        Where these are large, loading ahead would take more shared memory than there is."""
        residuals, gradients = self._of_network(outputs, width, simple)
        if columns * (2 if outputs > 128 else 1) > 64:
            gradients = replace(gradients, stages=1)
            residuals = residuals and replace(residuals, stages=1)
        return residuals, gradients

    def _of_network(self, outputs: int, width: int, simple: bool) -> tuple[Tile | None, Tile]:
        if outputs > 128:
            return self.wide
        if self.whole is not None and simple and outputs <= 64 and width <= self.whole.columns:
            return None, self.whole
        return self.residuals, self.gradients


WHOLE = Tile(128, 128, warps=8)
TILES = {
    "NVIDIA H200": (
        Sizes(
            sizes=Tile(64, 32),
            residuals=Tile(64, 128, stages=3),
            gradients=Tile(64, 64, stages=2),
            wide=(Tile(64, 32, stages=2), Tile(32, 64, warps=8, stages=2)),
            whole=WHOLE,
        ),
        Sizes(
            sizes=Tile(32, 128, warps=8),
            operands=Tile(32, 128),
            residuals=Tile(128, 64, stages=3),
            gradients=Tile(64, 128, warps=8, stages=2),
            wide=(Tile(128, 32, warps=8, stages=2), Tile(32, 64, warps=8, stages=2)),
            whole=WHOLE,
        ),
    )
}
"""Measured, by kind of device: many small programs for little work, large ones for much."""
OTHER_TILES = Sizes(), Sizes()
MUCH = 1 << 23
"""Number of activations of all runs from which the larger tiles are used."""
PROGRAMS = 128
"""Number of programs that keep a GPU busy; where there would be fewer, sums are made in parts."""


class Tables(NamedTuple):
    """Index arrays besides the examples."""

    rows: Rows
    lists: Lists | None
    share: Float32[Any, ""]
    """The weight of an example."""


class Gpu(TwoLayerKernel):
    """Falls back to plain XLA where the examples are too sparse in their table to fill tiles."""

    guards = True

    @classmethod
    def applies(cls, program: Program) -> bool:
        plain = program.batch_norm or program.codes or program.precision != "float32" or "dropout" in program.features
        if program.platform != "gpu" or plain:
            return False
        network = program.architecture
        assert isinstance(network, TwoLayer)
        known = network.activation in OWN_ACTIVATIONS or MONOMIAL.fullmatch(network.activation) is not None
        fits = program.loss in OWN_LOSSES and program.signature.outputs <= pallas.MOST_OUTPUTS
        return cls(program).gathers and known and fits

    def windows(self, examples: int) -> Windows | None:
        sizes = self.program.signature.sizes
        return Windows.for_density(sizes, examples / math.prod(sizes))

    def padded_shape(self, inputs: Callable[[], np.ndarray], rows: int) -> PaddedShape:
        """Coarse, so that many training sets share a compilation."""
        padded = round_up(rows + 1, 128)
        if (windows := self.windows(padded)) is None:
            return super().padded_shape(inputs, rows)._replace(rows=padded)
        examples = inputs()
        most = max(1, len(windows.tiles(examples).starts))
        # Whatever this process runs on: batches may be planned elsewhere.
        takes = quadratic.applies(self.program)
        lists = lists_for(examples, max(self.program.signature.sizes)) if takes else 0
        return PaddedShape(padded, round_up(most, 4 if most > 16 else 2) * ROWS, lists)

    def tables(self, inputs: np.ndarray, labels: np.ndarray, padded: PaddedShape) -> Any:
        if (windows := self.windows(padded.rows)) is None:
            return super().tables(inputs, labels, padded)
        lists = None
        if padded.lists and cuda.usable(self.program.platform):
            tiles = tiles_for(padded.rows, max(self.program.signature.sizes))
            kernels = Geometry.of(self.program, tiles, padded.lists, 1)
            lists = lists_of(inputs, labels, kernels.size, tiles, padded.lists, kernels.pitch)
        rows = windows.rows(inputs, labels, padded.slots)
        return Tables(rows, lists, np.asarray(1 / max(1, len(inputs)), np.float32))

    def extra_floats(self, padded: PaddedShape) -> int:
        if (windows := self.windows(padded.rows)) is None:
            return super().extra_floats(padded)
        return padded.slots * (windows.width + 2 * next_power(self.program.signature.outputs))

    def loss_and_grad(
        self, parameters: Parameters, batch: Batch, codes: Any, noise: Noise | None, count_correct: Any = None
    ) -> LossAndGrad:
        """The loss is not a number where the gradient is not finite."""
        if not isinstance(batch.tables, Tables):
            loss, gradient, right = super().loss_and_grad(parameters, batch, codes, noise, count_correct)
            finite = jnp.isfinite(sum(part.sum() for part in jax.tree.leaves(gradient)))
            return jnp.where(finite, loss, jnp.nan), gradient, right
        return *_step(self, parameters, batch), jnp.zeros((), self.program.dtype)

    def outputs(self, parameters: Parameters, inputs: Int32[Array, "row S"]) -> Float32[Array, "row outputs"]:
        network, signature, columns = self.network, self.program.signature, parameters["columns"]
        function, prefactors = _function(network.activation), network.scales(signature)[:2]
        tiles = _tiles(self.program.runs * len(inputs) * network.width)
        scaled = _scaled(function, prefactors, columns, parameters["readout"], jnp.float32(1), (1, 1.0, True), tiles)
        z = function.of(look_up(columns * prefactors[0], inputs)) * scaled.of_neuron[1, : network.width][None, :]
        z = jnp.pad(z.astype(HALF), ((0, 0), (0, scaled.inwards.shape[1] - network.width)))
        dimensions = (((1,), (1,)), ((), ()))
        out = jax.lax.dot_general(z, scaled.inwards, dimensions, preferred_element_type=SINGLE)
        return out[:, : signature.outputs] * scaled.of_run[0]


KERNEL = Gpu


@partial(jax.jit, static_argnums=0)  # Traced and lowered once, wherever a program takes a gradient.
def _step(kernel: Gpu, parameters: Parameters, batch: Batch) -> tuple[Float[Array, ""], Parameters]:
    program, network, outputs = kernel.program, kernel.network, kernel.program.signature.outputs
    function, prefactors = _function(network.activation), network.scales(program.signature)[:2]
    columns, readout, (rows, lists, share) = parameters["columns"], parameters["readout"], batch.tables
    if lists is not None and program.runs * len(rows.labels) * network.width >= quadratic.ENOUGH:
        total, *found = quadratic.gradients(program, columns, readout, lists, share)
        return total, dict(zip(("columns", "readout"), found, strict=True))
    windows = Windows(columns.shape[0], columns.shape[1], rows.one_hot.shape[1] // 2)
    tiles = _tiles(program.runs * len(rows.labels) * network.width)
    of_residuals, of_gradients = tiles.of_step(outputs, network.width, function.degree is not None, windows.width)
    mse, counts = program.loss == "mse", 2 / outputs if program.loss == "mse" else 1.0
    scaled = _scaled(function, prefactors, columns, readout, share, (len(rows.labels), counts, not mse), tiles)
    known = program.loss in pallas.LOSSES and program.loss_precision == "float32"
    loss = program.loss if known else None
    losses: Any = None
    left: Any = None
    if of_residuals is not None or not known:
        tile = of_residuals or replace(tiles.residuals, stages=1)
        losses, left = pallas.residuals(loss, function, outputs, windows, rows, scaled, share, tile)
    if not known:
        losses, left = _residuals(program, left, scaled, rows.labels, share, counts)
    programs = program.runs * -(-network.width // of_gradients.columns)
    parts = max(1, min(rows.bases.shape[1], PROGRAMS // programs))
    made, *found = pallas.gradients(loss, function, outputs, windows, rows, left, scaled, share, of_gradients, parts)
    of_columns, of_readout = (part[0] if parts == 1 else part.sum(axis=0) for part in found)
    total = (made if losses is None else losses).sum()
    gradient = {"columns": of_columns.reshape(columns.shape), "readout": of_readout}
    return jnp.where(jnp.isfinite(scaled.of_run[2]), total, jnp.nan), gradient


def _scaled(
    function: Any, prefactors: Any, columns: Any, readout: Any, share: Any, bounds: Any, tiles: Sizes
) -> Scaled:
    return pallas.scale_operands(function, prefactors, columns, readout, share, bounds, (tiles.sizes, tiles.operands))


def _residuals(
    program: Program, out: Float32[Array, "row every"], scaled: Scaled, labels: Any, share: Any, counts: float
) -> tuple[Float[Array, "row"], Float16[Array, "row every"]]:
    """`pallas.residuals` in plain XLA, for every loss, from the outputs."""
    weight = jnp.where(labels == NOBODY, 0.0, share)

    def weighted(out: Any) -> Any:
        losses = program.objective.losses(out, jnp.maximum(labels, 0), None, program.signature.outputs)
        return weight.astype(losses.dtype) * losses

    losses, pull_back = jax.vjp(weighted, out)
    (d_out,) = pull_back(jnp.ones_like(losses))
    return losses, to_half(d_out * (scaled.of_run[1] / (share * counts)))


def _tiles(activations: int) -> Sizes:
    little, much = TILES.get(jax.local_devices()[0].device_kind, OTHER_TILES)
    return much if activations >= MUCH else little


def _function(name: str) -> pallas.Function:
    """Triton has no error function."""
    of = degree(name)
    return pallas.Function(_gelu if name == "gelu" else activation(name), of if of in (1, 2) else None)


def _gelu(x: Any) -> Any:
    """With the error function to 1.5e-7 (Abramowitz and Stegun, 7.1.26)."""
    size = jnp.abs(x) * 0.5**0.5
    t = 1 / (1 + 0.3275911 * size)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    tail = series * jnp.exp(-size * size)
    return x * jnp.where(x > 0, 1 - 0.5 * tail, 0.5 * tail)
