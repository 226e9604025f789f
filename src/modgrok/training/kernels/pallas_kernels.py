r"""Four small kernels in Pallas (Triton) that take a step of the paper's network on a GPU.

All sums run on the matrix units, the look-ups and the sums over the examples that share a value too: as products with
the one-hot matrix of the inputs, tile by tile, while activations and their derivatives never leave the registers. The
examples of a tile agree in all variables up to a few values, so that its matrix has few columns.

Operands of the products have 16 bits: the mantissa of TF32 at half the bytes. Sums have 32. What is looked up, and what
is summed by value, is split into two such numbers, which loses nothing. Powers of two that follow the weights keep
everything in range without rounding: $\tau_k$ for the columns of neuron k, $\zeta_k$ for its activations, $\omega_k$
for its readout and $\chi_k$ for its derivatives, so that a neuron with small weights loses no digits beside one with
large ones; for the whole run $\gamma$ for the readout on the way in and $\rho$ for the residual.

Every sum is made in one program, always in the same order: there are no atomics.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from modgrok.shapes import Array, Float16, Float32, Int32

HALF, SINGLE, INTEGER = jnp.float16, jnp.float32, jnp.int32
HALF_MAX = 65504.0
TABLE_EXPONENT, Z_EXPONENT, READOUT_EXPONENT, RESIDUAL_EXPONENT, D_Z_EXPONENT = 8, 6, 10, 8, 15
"""Scaled numbers stay below two to the power of these."""
TAU_MOST = 2.0**60
r"""The most that $\tau$ may be, so that its square is a number."""
SAMPLES = (1.0, 0.62, 0.38, 0.24)
"""Points at which an activation is evaluated to bound it, in units of the largest preactivation."""
MOST_OUTPUTS = 256
"""The most outputs that a program can hold."""
ROWS = 128
"""The rows of a tile of examples."""
WIDTHS = (32, 64, 128, 256)
"""Possible numbers of columns of the one-hot matrix."""

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

    def within(self, columns: int) -> "Tile":
        """The same tile, no wider than this many columns need."""
        return Tile(self.rows, min(self.columns, next_power(columns)), self.warps, self.stages)


@dataclass(frozen=True)
class Windows:
    """The columns of the one-hot matrix: a window of the values of each variable."""

    variables: int
    size: int
    """Number of values of a variable."""
    width: int
    """Number of columns."""

    @classmethod
    def for_density(cls, variables: int, size: int, density: float) -> "Windows":
        """The narrowest whose windows hold nearly enough examples for a tile, if a share `density` of the table occurs."""
        for width in WIDTHS:
            found = cls(variables, size, width)
            holds = found.lengths[0] * found.lengths[-1] ** (variables - 1) * density
            if holds >= 0.75 * ROWS or found.lengths == (size,) * variables:
                break
        return found

    @property
    def lengths(self) -> tuple[int, ...]:
        """Number of values in the window of each variable."""
        blocks = -(-self.size // (self.width // self.variables))
        other = -(-self.size // blocks)
        return min(self.size, self.width - (self.variables - 1) * other), *(other,) * (self.variables - 1)

    def tiles(self, inputs: Int32[np.ndarray, "example S"]) -> "Tiles":
        """Examples in tiles: sorted by the block of the others' values, then by the first variable."""
        blocks = inputs[:, 1:] // np.array(self.lengths[1:], np.int32)
        block = np.ravel_multi_index(tuple(blocks.T), (self.size,) * blocks.shape[1]) if blocks.size else 0 * inputs[:, 0]
        order = np.lexsort((inputs[:, 0], block))
        first, block = inputs[order, 0], block[order]
        begins: list[int] = []
        for here in np.split(np.arange(len(order)), np.flatnonzero(np.diff(block)) + 1):
            begins += [int(here[0]) + cut for cut in self._cut(first[here])]
        starts = np.array(begins, np.int64)
        others = blocks[order[starts]] * np.array(self.lengths[1:], np.int32)
        return Tiles(order, starts, np.concatenate([first[starts, None], others], axis=1))

    def _cut(self, first: Int32[np.ndarray, "example"]) -> list[int]:
        """Where the tiles of examples begin whose first variable rises and keeps to a window."""
        begins, begin = [], 0
        while begin < len(first):
            begins.append(begin)
            begin = min(begin + ROWS, int(np.searchsorted(first, first[begin] + self.lengths[0])))
        return begins

    def rows(self, inputs: Int32[np.ndarray, "example S"], count: int) -> "Rows":
        """Index arrays of `count` rows."""
        order, starts, bases = self.tiles(inputs)
        tile = np.searchsorted(starts, np.arange(len(order)), side="right") - 1
        at = tile * ROWS + np.arange(len(order)) - starts[tile]
        source = np.full(count, len(inputs), np.int32)
        source[at] = order
        one_hot = np.zeros((count, self.width), np.float16)
        for s, column in enumerate(self._first_columns):
            one_hot[at, column + inputs[order, s] - bases[tile, s]] = 1
        padded = np.zeros((self.variables, count // ROWS), np.int32)
        padded[:, : len(starts)] = bases.T
        one_hot = np.concatenate([one_hot, one_hot], axis=1)
        return Rows(source, one_hot, padded, np.array([len(starts)], np.int32))

    def in_table(self, bases: Any, column: Any) -> tuple[Any, Any]:
        """Of columns the row of the table of all values, by variable, and whether there is one; the columns beyond are
        the same again in a second table."""
        second, column = column // self.width, column % self.width
        row, there = jnp.zeros_like(column), column < 0
        for s, (first, length) in enumerate(zip(self._first_columns, self.lengths, strict=True)):
            value = bases[s] + column - first
            own = (column >= first) & (column < first + length) & (value < self.size)
            row, there = jnp.where(own, s * self.size + value, row), there | own
        return row + second * self.variables * self.size, there

    @property
    def _first_columns(self) -> list[int]:
        return [sum(self.lengths[:s]) for s in range(self.variables)]


class Tiles(NamedTuple):
    """Examples in tiles of at most `ROWS`."""

    order: np.ndarray
    """Index of each example, tile after tile."""
    starts: np.ndarray
    """Where each tile begins."""
    bases: Int32[np.ndarray, "tile S"]
    """The first value of each variable's window."""


class Rows(NamedTuple):
    """The examples in the order in which the kernels take them."""

    source: Int32[Any, "row"]
    """The example in each row; rows that are not used name the one beyond, whose weight is zero."""
    one_hot: Float16[Any, "row column"]
    bases: Int32[Any, "S tile"]
    """The first value of each variable's window."""
    used: Int32[Any, "1"]
    """Number of tiles in use."""


@dataclass(frozen=True)
class Function:
    """An activation in terms that Triton supports."""

    of: Callable[[Any], Any]
    degree: int | None
    r"""The degree of homogeneity, if it is 1 or 2: then activations scale with preactivations, and $\zeta = \tau^d$."""

    @property
    def exponent(self) -> int:
        """Scaled preactivations stay below two to the power of this."""
        return TABLE_EXPONENT if self.degree is None else Z_EXPONENT // self.degree

    @property
    def slope_exponent(self) -> int:
        """The same for the slope at them."""
        return self.exponent + 1 if self.degree == 2 else 0


class Scaled(NamedTuple):
    """The operands of a step, scaled into range, and the factors that undo the scaling."""

    table: Float16[Array, "values2 width"]
    r"""What the columns of all variables add to preactivations times $\tau$, then what is left of it by rounding."""
    inwards: Float16[Array, "outputs width"]
    r"""The readout times $\gamma/\zeta$."""
    backwards: Float16[Array, "outputs width"]
    r"""The readout times $\omega$."""
    of_neuron: Float32[Array, "3 width"]
    r"""$1/\tau$, $\zeta$ and $\chi$."""
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
    of_neuron, sizes = _sizes(function, prefactors, columns, readout, tiles[0])
    columns = columns.reshape(-1, columns.shape[2])
    (count, width), values = readout.shape, len(columns)
    padded = next_power(count), padded_width(width)
    every, tile = next_power(width), tiles[1].within(padded[1])

    def operands_kernel(columns: Any, readout: Any, of_neuron: Any, sizes: Any, share: Any, *out: Any) -> None:
        table, inwards, backwards, of_run, of_columns, of_readout = out
        neuron = _range(every)
        known = neuron < width
        of_z, of_d_h = (triton.load(of_neuron.at[n, neuron], mask=known, other=1.0) for n in (1, 2))
        of_w, contribution = (triton.load(sizes.at[n, neuron], mask=known, other=float(n == 0)) for n in range(2))
        gamma = power_below(contribution.max() / 2 ** (Z_EXPONENT - 1), READOUT_EXPONENT)
        rho = 2.0 ** (RESIDUAL_EXPONENT - 1) if bounded else power_below(contribution.sum() + 1, RESIDUAL_EXPONENT)
        counts = share[0] * counted / rho
        to_columns, to_readout = prefactors[0] * counts / (of_w * of_d_h), prefactors[1] * counts / of_z
        row = pl.program_id(0) * tile.rows + _range(tile.rows)
        at = pl.program_id(1) * tile.columns + _range(tile.columns)
        index, inside = _grid(row, at), at < width
        zeta = triton.load(of_neuron.at[1, at], mask=inside, other=1.0)
        omega = triton.load(sizes.at[0, at], mask=inside, other=1.0)
        tau = prefactors[0] / triton.load(of_neuron.at[0, at], mask=inside, other=1.0)
        w = triton.load(readout.at[index], mask=_both(row < count, inside), other=0.0) * prefactors[1]
        for scaled, scale in ((inwards, gamma / zeta), (backwards, omega)):
            triton.store(scaled.at[index], to_half(w * scale[None, :]), mask=_both(row < padded[0], at < padded[1]))
        column = triton.load(columns.at[index], mask=_both(row < values, inside), other=0.0) * tau[None, :]
        high = to_half(column)
        for n, part in enumerate((high, to_half(column - high.astype(SINGLE)))):
            triton.store(table.at[_grid(n * values + row, at)], part, mask=_both(row < values, at < padded[1]))
        most = 2.0**D_Z_EXPONENT * to_columns + 2.0 ** (RESIDUAL_EXPONENT + Z_EXPONENT) * to_readout
        of_run[0] = 1 / gamma
        of_run[1] = jnp.asarray(rho, SINGLE)
        of_run[2] = jnp.where(known, rows * most, 0.0).sum()
        triton.store(of_columns.at[neuron], to_columns, mask=known)
        triton.store(of_readout.at[neuron], to_readout, mask=known)

    halves = _shape((2 * values, padded[1]), HALF), _shape(padded, HALF), _shape(padded, HALF)
    shapes = *halves, _shape((3,)), _shape((width,)), _shape((width,))
    grid = -(-max(values, padded[0]) // tile.rows), -(-padded[1] // tile.columns)
    found = _call(operands_kernel, shapes, grid, tile)(columns, readout, of_neuron, sizes, share[None])
    return Scaled(*found[:3], of_neuron, *found[3:])


def _sizes(
    function: Function,
    prefactors: Prefactors,
    columns: Float32[Array, "S p N"],
    readout: Float32[Array, "q N"],
    tile: Tile,
) -> tuple[Float32[Array, "3 width"], Float32[Array, "2 N"]]:
    r"""Of every neuron `Scaled.of_neuron`; $\omega$, and the most it contributes to an output."""
    width = columns.shape[2]
    padded = padded_width(width)
    tile = tile.within(padded)
    # A sum over all outputs of residuals times readout times slope must stay below the limit.
    exponent = D_Z_EXPONENT - RESIDUAL_EXPONENT - (len(readout) - 1).bit_length() - function.slope_exponent

    def sizes_kernel(columns: Any, readout: Any, of_neuron: Any, sizes: Any) -> None:
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
        tau = jnp.minimum(power_below(h, function.exponent), TAU_MOST)
        value, slope = jnp.zeros_like(h), jnp.zeros_like(h)
        for sample in (sign * size for size in SAMPLES for sign in (1, -1)):
            y, pull_back = jax.vjp(function.of, sample * h)
            value = jnp.maximum(value, jnp.abs(y))
            slope = jnp.maximum(slope, jnp.abs(pull_back(jnp.ones_like(h))[0]))
        zeta, chi = power_below(value, Z_EXPONENT), power_below(slope, 0)
        if function.degree is not None:
            zeta, chi = tau**function.degree, tau ** (function.degree - 1)
        of_output = largest(readout) * prefactors[1]
        for n, scale in enumerate((1 / tau, zeta, chi)):
            triton.store(of_neuron.at[n, at], scale, mask=at < padded)
        for n, fact in enumerate((power_below(of_output, exponent), value * of_output)):
            triton.store(sizes.at[n, at], fact, mask=at < width)

    shapes = _shape((3, padded)), _shape((2, width))
    return tuple(_call(sizes_kernel, shapes, (-(-padded // tile.columns),), tile)(columns, readout))


LOSSES = ("mse", "cross_entropy")
"""Losses that `residuals` implements."""


def residuals(
    loss: str | None,
    function: Function,
    outputs: int,
    windows: Windows,
    rows: Rows,
    scaled: Scaled,
    labels: Int32[Array, "example"],
    weight: Float32[Array, "example"],
    tile: Tile,
) -> tuple[Float32[Array, "tile"], Array]:
    r"""The weighted losses of every tile's rows, and $\rho$ times what is left of the outputs in 16 bits, $f - \delta_y$
    or softmax$(f) - \delta_y$, zero where the weight is; without a loss the outputs themselves."""
    count, (every, width) = len(rows.one_hot), scaled.inwards.shape
    tile = tile.within(width)

    def residuals_kernel(*refs: Any) -> None:
        source, one_hot, bases, used, table, inwards, of_neuron, of_run, labels, weight, losses, left = refs
        number = pl.program_id(0) * tile.rows // ROWS
        row, q = pl.program_id(0) * tile.rows + _range(tile.rows), _range(every)
        column = _range(2 * windows.width)
        ones = triton.load(one_hot.at[_grid(row, column)])
        values, _ = windows.in_table([bases[s, number] for s in range(windows.variables)], column)

        def body(n: Any, out: Any) -> Any:
            at = n * tile.columns + _range(tile.columns)
            h = triton.dot(ones, triton.load(table.at[_grid(values, at)]))
            readout = triton.load(inwards.at[_grid(q, at)])
            if function.degree is None:
                of_h, of_z = (triton.load(of_neuron.at[n, at])[None, :] for n in range(2))
                z = function.of(h * of_h) * of_z
            else:
                z = function.of(h)
            return _plus(z.astype(HALF), readout, out, trans_b=True)

        steps = jnp.where(number < used[0], jnp.asarray(width // tile.columns, INTEGER), 0)
        out = _loop(steps, body, jnp.zeros((tile.rows, every), SINGLE)) * of_run[0]
        if loss is None:
            triton.store(left.at[_grid(row, q)], out)
            losses[pl.program_id(0)] = jnp.asarray(0, SINGLE)
            return
        example = triton.load(source.at[row])
        label, counts = triton.load(labels.at[example]), triton.load(weight.at[example])
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
        triton.store(left.at[_grid(row, q)], to_half(value))

    shapes = _shape((count // tile.rows,)), _shape((count, every), SINGLE if loss is None else HALF)
    call = _call(residuals_kernel, shapes, (count // tile.rows,), tile)
    return tuple(call(*rows, scaled.table, scaled.inwards, scaled.of_neuron, scaled.of_run, labels, weight))


def gradients(
    function: Function,
    outputs: int,
    windows: Windows,
    rows: Rows,
    left: Float16[Array, "row padded"],
    scaled: Scaled,
    tile: Tile,
    parts: int,
) -> tuple[Float32[Array, "part values N"], Float32[Array, "part outputs N"]]:
    """The gradients of the columns of all variables and of the readout, in parts of the examples, to be added up."""
    every, width, size = left.shape[1], scaled.of_columns.shape[0], windows.variables * windows.size
    tile = tile.within(scaled.table.shape[1])

    def gradients_kernel(*refs: Any) -> None:
        one_hot, bases, used, table, backwards, of_neuron, of_columns, of_readout, left, d_columns, d_readout = refs
        part, at = pl.program_id(0), pl.program_id(1) * tile.columns + _range(tile.columns)
        inside, q, column = at < width, _range(every), _range(windows.width)
        each = (used[0] + parts - 1) // parts
        start = part * each
        readout = triton.load(backwards.at[_grid(q, at)])
        of_h, of_z, of_d_h = (triton.load(of_neuron.at[n, at])[:, None] for n in range(3))
        to_columns, to_readout = (
            triton.load(factor.at[at], mask=inside, other=0.0)[None, :] for factor in (of_columns, of_readout)
        )

        def clear(n: Any, _: Any) -> Any:
            row = n * 16 + _range(16)
            nothing = jnp.zeros((16, tile.columns), SINGLE)
            triton.store(d_columns.at[(part, *_grid(row, at))], nothing, mask=_both(row < size, inside))
            return 0

        _loop(-(-size // 16), clear, 0)
        if not interpreted():
            triton.debug_barrier()

        def body(n: Any, of_outputs: Any) -> Any:
            number = start + n
            values, there = windows.in_table([bases[s, number] for s in range(windows.variables)], column)
            index, known = _grid(jnp.where(there, values, size + column), at), _both(there, inside)
            before = triton.load(d_columns.at[(part, *index)], mask=known, other=0.0)
            high, low = (triton.load(table.at[_grid(part * size + values, at)]) for part in range(2))
            by_value = jnp.zeros((tile.columns, windows.width), SINGLE)
            for piece in range(ROWS // tile.rows):
                row = number * ROWS + piece * tile.rows + _range(tile.rows)
                rest, ones = triton.load(left.at[_grid(row, q)]), triton.load(one_hot.at[_grid(row, column)])
                h = _plus(high, ones, triton.dot(low, ones, trans_a=True, trans_b=True), True, True)
                d_z = triton.dot(readout, rest, trans_a=True, trans_b=True)
                z, pull_back = jax.vjp(function.of, h * of_h if function.degree is None else h)
                d_h = pull_back(d_z)[0]
                if function.degree is None:
                    z, d_h = z * of_z, d_h * of_d_h
                # First, so that the matrix units go on with it while the sums by value are waited for.
                of_outputs = _plus(z.astype(HALF), rest, of_outputs)
                rounded = d_h.astype(HALF)
                by_value = _plus((d_h - rounded.astype(SINGLE)).astype(HALF), ones, _plus(rounded, ones, by_value))
            triton.store(d_columns.at[(part, *index)], before + by_value.T * to_columns, mask=known)
            return of_outputs

        found = _loop(jnp.minimum(each, used[0] - start), body, jnp.zeros((tile.columns, every), SINGLE))
        triton.store(d_readout.at[(part, *_grid(q, at))], found.T * to_readout, mask=_both(q < outputs, inside))

    shapes = _shape((parts, size, width)), _shape((parts, outputs, width))
    call = _call(gradients_kernel, shapes, (parts, -(-width // tile.columns)), tile)
    of = scaled.table, scaled.backwards, scaled.of_neuron, scaled.of_columns, scaled.of_readout
    return tuple(call(*rows[1:], *of, left))


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
    """Number of neurons, padded to whole tiles."""
    return round_up(width, 128) if width > 128 else next_power(width)


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


def _plus(a: Any, b: Any, total: Any, trans_a: bool = False, trans_b: bool = False) -> Any:
    """A product added to a sum, which the matrix units do in one."""
    return triton.dot(a, b, trans_a=trans_a, trans_b=trans_b) + total


def interpreted() -> bool:
    """Whether the kernels run in Pallas's interpreter, as they do without a GPU."""
    return jax.default_backend() == "cpu"


def _call(kernel: Callable[..., None], shapes: Any, grid: tuple[int, ...], tile: Tile) -> Any:
    parameters = triton.CompilerParams(num_warps=tile.warps, num_stages=tile.stages)
    return pl.pallas_call(kernel, out_shape=shapes, grid=grid, compiler_params=parameters, interpret=interpreted())
