r"""Five small kernels in Pallas (Triton) around the matrix products of the paper's network on a GPU.

Operands of the products have 16 bits: the mantissa of TF32 at half the bytes. Sums have 32. Powers of two that follow
the weights keep everything in range without rounding: $\zeta_k$ for the activations of neuron k and $\omega_k$ for its
readout, so that a neuron with small weights loses no digits beside one with large ones; for the whole run $\gamma$
for the readout on the way in and $\rho$ for the residual.

Every sum is made in one program, always in the same order: there are no atomics.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from modgrok.shapes import Array, Float, Float16, Float32, Int32

HALF, SINGLE, INTEGER = jnp.float16, jnp.float32, jnp.int32
HALF_MAX = 65504.0
Z_EXPONENT, READOUT_EXPONENT, RESIDUAL_EXPONENT, D_Z_EXPONENT = 6, 10, 8, 15
"""Scaled numbers stay below two to the power of these."""
SAMPLES = (1.0, 0.62, 0.38, 0.24)
"""Points at which an activation is evaluated to bound it, in units of the largest preactivation."""

Function = Callable[[Any], Any]
Prefactors = tuple[float, float]
"""Of the first layer's preactivations and of the second's."""


@dataclass(frozen=True)
class Tile:
    """The tile that a program processes at a time."""

    rows: int
    columns: int
    warps: int = 4
    stages: int = 1
    """Pipeline stages: how far a loop loads ahead."""
    repeats: int = 1
    """Tiles that a program processes in sequence."""

    def within(self, columns: int) -> "Tile":
        """The same tile, no wider than this many columns need."""
        return Tile(self.rows, min(self.columns, next_power(columns)), self.warps, self.stages, self.repeats)


class Scaled(NamedTuple):
    """The operands of a step, scaled into range, and the factors that undo the scaling."""

    of_z: Float32[Array, "N"]
    r"""$\zeta$."""
    inwards: Float16[Array, "outputs width"]
    r"""The readout times $\gamma/\zeta$."""
    backwards: Float16[Array, "outputs width"]
    r"""The readout times $\omega$."""
    of_run: Float32[Array, "3"]
    r"""$1/\gamma$, $\rho$, and a number that is finite only where all gradients are sure to be."""
    of_columns: Float32[Array, "N"]
    """Factor from the scaled sums to the gradient of the columns."""
    of_readout: Float32[Array, "N"]
    """The same for the readout."""


def scale_operands(
    function: Function,
    prefactors: Prefactors,
    columns: Float32[Array, "S p N"],
    readout: Float32[Array, "q N"],
    share: Float32[Array, ""],
    bounds: tuple[int, float, bool],
    tiles: tuple[Tile, Tile],
) -> Scaled:
    """`bounds`: the number of residuals, the weight of one in the gradient in units of `share`, and whether they are at
    most 1, as for a softmax."""
    rows, counted, bounded = bounds
    of_z, sizes = _sizes(function, prefactors, columns, readout, tiles[0])
    count, width = readout.shape
    padded = round_up(count, 8), padded_width(width)
    every, tile = next_power(width), tiles[1].within(padded[1])

    def kernel(readout: Any, of_z: Any, sizes: Any, share: Any, *out: Any) -> None:
        inwards, backwards, of_run, of_columns, of_readout = out
        neuron = _range(every)
        known = neuron < width
        of_neuron = triton.load(of_z.at[neuron], mask=known, other=1.0)
        of_w, contribution, slope = (
            triton.load(sizes.at[n, neuron], mask=known, other=float(n == 0)) for n in range(3)
        )
        gamma = power_below(contribution.max() / 2 ** (Z_EXPONENT - 1), READOUT_EXPONENT)
        rho = 2.0 ** (RESIDUAL_EXPONENT - 1) if bounded else power_below(contribution.sum() + 1, RESIDUAL_EXPONENT)
        counts = share[0] * counted / rho
        to_columns, to_readout = prefactors[0] * counts / of_w, prefactors[1] * counts / of_neuron
        q = pl.program_id(0) * tile.rows + _range(tile.rows)
        at = pl.program_id(1) * tile.columns + _range(tile.columns)
        w = triton.load(readout.at[_grid(q, at)], mask=_both(q < count, at < width), other=0.0) * prefactors[1]
        here = [triton.load(table, mask=at < width, other=1.0) for table in (of_z.at[at], sizes.at[0, at])]
        for table, scale in ((inwards, gamma / here[0]), (backwards, here[1])):
            triton.store(table.at[_grid(q, at)], to_half(w * scale[None, :]), mask=_both(q < padded[0], at < padded[1]))
        most = 2.0**D_Z_EXPONENT * slope * to_columns + 2.0 ** (RESIDUAL_EXPONENT + Z_EXPONENT) * to_readout
        of_run[0] = 1 / gamma
        of_run[1] = jnp.asarray(rho, SINGLE)
        of_run[2] = jnp.where(known, rows * most, 0.0).sum()
        triton.store(of_columns.at[neuron], to_columns, mask=known)
        triton.store(of_readout.at[neuron], to_readout, mask=known)

    shapes = _shape(padded, HALF), _shape(padded, HALF), _shape((3,)), _shape((width,)), _shape((width,))
    grid = -(-padded[0] // tile.rows), -(-padded[1] // tile.columns)
    return Scaled(of_z, *_call(kernel, shapes, grid, tile)(readout, of_z, sizes, share[None]))


def _sizes(
    function: Function,
    prefactors: Prefactors,
    columns: Float32[Array, "S p N"],
    readout: Float32[Array, "q N"],
    tile: Tile,
) -> tuple[Float32[Array, "N"], Float32[Array, "3 N"]]:
    r"""Of every neuron $\zeta$; $\omega$, the most it contributes to an output, and its activation's steepest slope."""
    width = columns.shape[2]
    tile = tile.within(width)
    # A sum over all outputs of residuals times readout must stay below the limit.
    exponent = D_Z_EXPONENT - RESIDUAL_EXPONENT - (len(readout) - 1).bit_length()

    def kernel(columns: Any, readout: Any, of_z: Any, sizes: Any) -> None:
        at = pl.program_id(0) * tile.columns + _range(tile.columns)

        def largest(table: Any, *first: int) -> Any:
            length = table.shape[-2]

            def body(n: Any, found: Any) -> Any:
                row = n * tile.rows + _range(tile.rows)
                index = (*first, *_grid(row, at))
                part = triton.load(table.at[index], mask=_both(row < length, at < width), other=0.0)
                return jnp.maximum(found, jnp.abs(part))

            nothing = jnp.zeros((tile.rows, tile.columns), SINGLE)
            return _loop(-(-length // tile.rows), body, nothing).max(axis=0)

        h = sum(largest(columns, s) for s in range(columns.shape[0])) * prefactors[0]
        value, slope = jnp.zeros_like(h), jnp.zeros_like(h)
        for sample in (sign * size for size in SAMPLES for sign in (1, -1)):
            y, pull_back = jax.vjp(function, sample * h)
            value = jnp.maximum(value, jnp.abs(y))
            slope = jnp.maximum(slope, jnp.abs(pull_back(jnp.ones_like(h))[0]))
        of_output = largest(readout) * prefactors[1]
        triton.store(of_z.at[at], power_below(value, Z_EXPONENT), mask=at < width)
        for n, fact in enumerate((power_below(of_output, exponent), value * of_output, slope)):
            triton.store(sizes.at[n, at], fact, mask=at < width)

    shapes = _shape((width,)), _shape((3, width))
    return tuple(_call(kernel, shapes, (-(-width // tile.columns),), tile)(columns, readout))


def look_up_activate(
    function: Function,
    prefactors: Prefactors,
    columns: Float32[Array, "S p N"],
    inputs: Int32[Array, "row S"],
    of_z: Float32[Array, "N"],
    tile: Tile,
) -> Float16[Array, "row width"]:
    r"""$\zeta\phi(W^{(1)}x)$, with columns of zeros beyond the network's width."""
    (rows, variables), width = inputs.shape, columns.shape[2]
    padded = padded_width(width)
    tile = tile.within(padded)

    def kernel(columns: Any, inputs: Any, of_z: Any, z: Any) -> None:
        first, at = pl.program_id(0) * tile.repeats, pl.program_id(1) * tile.columns + _range(tile.columns)
        inside = jnp.broadcast_to((at < width)[None, :], (tile.rows, tile.columns))
        scale = triton.load(of_z.at[at], mask=at < width, other=0.0)[None, :]

        def body(n: Any, _: Any) -> Any:
            row = (first + n) * tile.rows + _range(tile.rows)
            values = [triton.load(inputs.at[row, s], mask=row < rows, other=0) for s in range(variables)]
            h = sum(triton.load(columns.at[(s, *_grid(v, at))], mask=inside, other=0.0) for s, v in enumerate(values))
            y = jnp.where(inside, function(h * prefactors[0]) * scale, 0.0)
            triton.store(z.at[_grid(row, at)], to_half(y), mask=_both(row < rows, at < padded))
            return 0

        _loop(tile.repeats, body, 0)

    grid = -(-rows // (tile.rows * tile.repeats)), -(-padded // tile.columns)
    return _call(kernel, _shape((rows, padded), HALF), grid, tile)(columns, inputs, of_z)


LOSSES = ("mse", "cross_entropy")
"""Losses that `residuals` implements."""
MOST_OUTPUTS = 256
"""The most outputs that a program of `residuals` can hold."""


def residuals(
    loss: str,
    outputs: int,
    z: Float16[Array, "row width"],
    scaled: Scaled,
    labels: Int32[Array, "row"],
    weight: Float32[Array, "row"],
    tile: Tile,
) -> tuple[Float32[Array, "tile"], Float16[Array, "row outputs"]]:
    r"""The weighted losses of every tile's rows, and $\rho$ times what is left of the outputs, $f - \delta_y$ or
    softmax$(f) - \delta_y$; zero where the weight is."""
    (rows, width), padded = z.shape, scaled.inwards.shape[0]
    every = next_power(padded)
    height = min(tile.rows, max(16, tile.rows * 128 // every))

    def kernel(z: Any, readout: Any, of_run: Any, labels: Any, weight: Any, losses: Any, left: Any) -> None:
        row, q = pl.program_id(0) * height + _range(height), _range(every)

        def body(n: Any, out: Any) -> Any:
            at = n * tile.columns + _range(tile.columns)
            part = triton.load(z.at[_grid(row, at)], mask=_both(row < rows, at < width), other=0.0)
            table = triton.load(readout.at[_grid(q, at)], mask=_both(q < padded, at < width), other=0.0)
            return out + triton.dot(part, table, trans_b=True)

        out = _loop(-(-width // tile.columns), body, jnp.zeros((height, every), SINGLE)) * of_run[0]
        label = triton.load(labels.at[row], mask=row < rows, other=0)
        counts = triton.load(weight.at[row], mask=row < rows, other=0.0)
        own, real = (q[None, :] == label[:, None]).astype(SINGLE), (q < outputs)[None, :]
        if loss == "mse":
            rest = jnp.where(real, out - own, 0.0)
            each = (rest * rest).sum(axis=1) / outputs
        else:
            logits = jnp.where(real, out, -jnp.inf)
            top = logits.max(axis=1)
            powers = jnp.exp(logits - top[:, None])
            total = powers.sum(axis=1)
            rest = powers / total[:, None] - own
            each = jnp.log(total) + top - (out * own).sum(axis=1)
        losses[pl.program_id(0)] = (counts * each).sum()
        value = jnp.where(counts[:, None] > 0, rest * of_run[1], 0.0)
        triton.store(left.at[_grid(row, q)], to_half(value), mask=_both(row < rows, q < padded))

    shapes = _shape((-(-rows // height),)), _shape((rows, padded), HALF)
    call = _call(kernel, shapes, (-(-rows // height),), tile)
    return tuple(call(z, scaled.inwards, scaled.of_run, labels, weight))


class ValueRows(NamedTuple):
    """Index arrays by value of each variable, through which the gradient of the columns is summed."""

    rows: Int32[Any, "S p slot"]
    """The examples with a given value."""
    others: Int32[Any, "S others p slot"]
    """The values of the other variables in these examples, so that no load depends on two others."""
    counts: Int32[Any, "S p"]
    """Number of slots in use."""


def column_sums(
    function: Function,
    prefactors: Prefactors,
    columns: Float32[Array, "S p N"],
    d_z: Float[Array, "row width"],
    by_value: ValueRows,
    of_columns: Float32[Array, "N"],
    tile: Tile,
) -> Float32[Array, "S p N"]:
    """For every value of every variable, the sum of the preactivation derivatives over the examples that have it. The
    derivatives are computed on the fly and never stored."""
    variables, size, width = columns.shape
    tile = tile.within(width)

    def kernel(columns: Any, d_z: Any, rows: Any, others: Any, counts: Any, factor: Any, sums: Any) -> None:
        value, s = pl.program_id(0), pl.program_id(1)
        at = pl.program_id(2) * tile.columns + _range(tile.columns)
        inside = at < width
        own = triton.load(columns.at[s, value, at], mask=inside, other=0.0)[None, :]
        count = counts[s, value]

        def load_slots(n: Any) -> Any:
            slot = n * tile.rows + _range(tile.rows)
            filled = slot < count
            other = [triton.load(others.at[s, o, value, slot], mask=filled, other=0) for o in range(variables - 1)]
            return filled, triton.load(rows.at[s, value, slot], mask=filled, other=0), *other

        def body(n: Any, carry: Any) -> Any:
            total, (filled, row, *other) = carry
            mask = _both(filled, inside)
            d = triton.load(d_z.at[_grid(row, at)], mask=mask, other=0.0)
            h = jnp.broadcast_to(own, d.shape)
            for o, values in enumerate(other):
                variable = jnp.where(s > o, o, o + 1)
                h = h + triton.load(columns.at[(variable, *_grid(values, at))], mask=mask, other=0.0)
            _, pull_back = jax.vjp(function, h * prefactors[0])
            return total + pull_back(d.astype(SINGLE))[0], load_slots(n + 1)

        nothing = jnp.zeros((tile.rows, tile.columns), SINGLE)
        total, _ = _loop((count + tile.rows - 1) // tile.rows, body, (nothing, load_slots(0)))
        scale = triton.load(factor.at[at], mask=inside, other=0.0)
        triton.store(sums.at[s, value, at], total.sum(axis=0) * scale, mask=inside)

    grid = size, variables, -(-width // tile.columns)
    return _call(kernel, _shape((variables, size, width)), grid, tile)(columns, d_z, *by_value, of_columns)


def power_below(bound: Float32[Array, "*shape"], exponent: int) -> Float32[Array, "*shape"]:
    """The power of two that scales a positive number to between half of 2^exponent and it; 1 if it is 0 or infinite."""
    of_bound = (jax.lax.bitcast_convert_type(bound, INTEGER) >> 23) & 255
    usable = (of_bound > 0) & (of_bound < 255)
    scale = jnp.where(usable, jnp.clip(exponent + 253 - of_bound, 27, 227), 127)
    return jax.lax.bitcast_convert_type(scale << 23, SINGLE)


def to_half(x: Float32[Array, "*shape"]) -> Float16[Array, "*shape"]:
    """Rounds to 16 bits; finite numbers that would overflow become the largest one."""
    too_large = (jnp.abs(x) > HALF_MAX) & (jnp.abs(x) < jnp.inf)
    return jnp.where(too_large, jnp.where(x > 0, HALF_MAX, -HALF_MAX), x).astype(HALF)


def padded_width(width: int) -> int:
    """Number of neurons, padded to rows of 64 bytes."""
    return round_up(width, 32)


def round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def next_power(number: int) -> int:
    """The next power of two, at least 16, the size of a matrix unit."""
    return max(16, 1 << (number - 1).bit_length())


def _range(length: int) -> Any:
    return jnp.arange(length, dtype=INTEGER)


def _grid(rows: Any, columns: Any) -> tuple[Any, Any]:
    return rows[:, None], columns[None, :]


def _both(rows: Any, columns: Any) -> Any:
    return rows[:, None] & columns[None, :]


def _loop(count: Any, body: Callable[[Any, Any], Any], start: Any) -> Any:
    return jax.lax.fori_loop(0, count, lambda n, carry: body(jnp.asarray(n, INTEGER), carry), start)


def _shape(shape: tuple[int, ...], dtype: Any = SINGLE) -> Any:
    return jax.ShapeDtypeStruct(shape, dtype)


def interpreted() -> bool:
    """Whether the kernels run in Pallas's interpreter, as they do without a GPU."""
    return jax.default_backend() == "cpu"


def _call(kernel: Callable[..., None], shapes: Any, grid: tuple[int, ...], tile: Tile) -> Any:
    parameters = triton.CompilerParams(num_warps=tile.warps, num_stages=tile.stages)
    return pl.pallas_call(kernel, out_shape=shapes, grid=grid, compiler_params=parameters, interpret=interpreted())
