r"""Kernels in Pallas (Triton) that take a step of the paper's network on a GPU.

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
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from modgrok.shapes import Array, Float16, Float32
from modgrok.training.kernels.pallas_tools import (
    HALF,
    INTEGER,
    SINGLE,
    Tile,
    array,
    both,
    cells,
    interpreted,
    launch,
    loop,
    next_power,
    padded_width,
    plus,
    power_below,
    span,
    to_half,
)
from modgrok.training.kernels.windows import NOBODY, ROWS, Rows, Windows

TABLE_EXPONENT, Z_EXPONENT, READOUT_EXPONENT, RESIDUAL_EXPONENT, D_Z_EXPONENT = 8, 6, 10, 8, 15
"""Scaled numbers stay below two to the power of these."""
TAU_MOST = 2.0**60
r"""The most that $\tau$ may be, so that its square is a number."""
SAMPLES = (1.0, 0.62, 0.38, 0.24, 0.0)
"""Points at which an activation is evaluated to bound it, in units of the largest preactivation."""
MOST_OUTPUTS = 256
"""The most outputs that a program can hold."""
Prefactors = tuple[float, float]
"""Of the first layer's preactivations and of the second's."""


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
        """Scaled slopes stay below two to the power of this."""
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
        neuron = span(every)
        known = neuron < width
        of_z, of_d_h = (triton.load(of_neuron.at[n, neuron], mask=known, other=1.0) for n in (1, 2))
        of_w, contribution = (triton.load(sizes.at[n, neuron], mask=known, other=float(n == 0)) for n in range(2))
        gamma = power_below(contribution.max() / 2 ** (Z_EXPONENT - 1), READOUT_EXPONENT)
        rho = 2.0 ** (RESIDUAL_EXPONENT - 1) if bounded else power_below(contribution.sum() + 1, RESIDUAL_EXPONENT)
        counts = share[0] * counted / rho
        to_columns, to_readout = prefactors[0] * counts / (of_w * of_d_h), prefactors[1] * counts / of_z
        row = pl.program_id(0) * tile.rows + span(tile.rows)
        at = pl.program_id(1) * tile.columns + span(tile.columns)
        index, inside = cells(row, at), at < width
        zeta = triton.load(of_neuron.at[1, at], mask=inside, other=1.0)
        omega = triton.load(sizes.at[0, at], mask=inside, other=1.0)
        tau = prefactors[0] / triton.load(of_neuron.at[0, at], mask=inside, other=1.0)
        w = triton.load(readout.at[index], mask=both(row < count, inside), other=0.0) * prefactors[1]
        for scaled, scale in ((inwards, gamma / zeta), (backwards, omega)):
            triton.store(scaled.at[index], to_half(w * scale[None, :]), mask=both(row < padded[0], at < padded[1]))
        column = triton.load(columns.at[index], mask=both(row < values, inside), other=0.0) * tau[None, :]
        high = to_half(column)
        for n, part in enumerate((high, to_half(column - high.astype(SINGLE)))):
            triton.store(table.at[cells(n * values + row, at)], part, mask=both(row < values, at < padded[1]))
        most = 2.0**D_Z_EXPONENT * to_columns + 2.0 ** (RESIDUAL_EXPONENT + Z_EXPONENT) * to_readout
        of_run[0] = 1 / gamma
        of_run[1] = jnp.asarray(rho, SINGLE)
        of_run[2] = jnp.where(known, rows * most, 0.0).sum()
        triton.store(of_columns.at[neuron], to_columns, mask=known)
        triton.store(of_readout.at[neuron], to_readout, mask=known)

    halves = array((2 * values, padded[1]), HALF), array(padded, HALF), array(padded, HALF)
    shapes = *halves, array((3,)), array((width,)), array((width,))
    grid = -(-max(values, padded[0]) // tile.rows), -(-padded[1] // tile.columns)
    table, inwards, backwards, *rest = launch(operands_kernel, shapes, grid, tile)(
        columns, readout, of_neuron, sizes, share[None]
    )
    return Scaled(table, inwards, backwards, of_neuron, *rest)


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
        at = pl.program_id(0) * tile.columns + span(tile.columns)

        def largest(table: Any, *first: int) -> Any:
            length = table.shape[-2]

            def body(n: Any, found: Any) -> Any:
                row = n * tile.rows + span(tile.rows)
                index = (*first, *cells(row, at))
                part = triton.load(table.at[index], mask=both(row < length, at < width), other=0.0)
                return jnp.maximum(found, jnp.abs(part))

            nothing = jnp.zeros((tile.rows, tile.columns), SINGLE)
            return loop(-(-length // tile.rows), body, nothing).max(axis=0)

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

    shapes = array((3, padded)), array((2, width))
    return tuple(launch(sizes_kernel, shapes, (-(-padded // tile.columns),), tile)(columns, readout))


LOSSES = ("mse", "cross_entropy")
"""Losses that kernels implement."""


def residuals(
    loss: str | None,
    function: Function,
    outputs: int,
    windows: Windows,
    rows: Rows,
    scaled: Scaled,
    share: Float32[Array, ""],
    tile: Tile,
) -> tuple[Float32[Array, "tile"], Array]:
    r"""The weighted losses of every tile's rows, and $\rho$ times what is left of the outputs in 16 bits,
    $f - \delta_y$ or softmax$(f) - \delta_y$, zero where the weight is; without a loss the outputs themselves."""
    count, (every, width) = len(rows.one_hot), scaled.inwards.shape
    tile = tile.within(width)

    def residuals_kernel(*refs: Any) -> None:
        labels, one_hot, bases, used, table, inwards, of_neuron, of_run, share, losses, left = refs
        number = pl.program_id(0) * tile.rows // ROWS
        row, q = pl.program_id(0) * tile.rows + span(tile.rows), span(every)
        column = span(2 * windows.width)
        ones = triton.load(one_hot.at[cells(row, column)])
        values, _ = windows.in_table([bases[s, number] for s in range(windows.variables)], column)

        def body(n: Any, out: Any) -> Any:
            at = n * tile.columns + span(tile.columns)
            h = triton.dot(ones, triton.load(table.at[cells(values, at)]))
            readout = triton.load(inwards.at[cells(q, at)])
            if function.degree is None:
                of_h, of_z = (triton.load(of_neuron.at[n, at])[None, :] for n in range(2))
                z = function.of(h * of_h) * of_z
            else:
                z = function.of(h)
            return plus(z.astype(HALF), readout, out, trans_b=True)

        steps = jnp.where(number < used[0], jnp.asarray(width // tile.columns, INTEGER), 0)
        out = loop(steps, body, jnp.zeros((tile.rows, every), SINGLE)) * of_run[0]
        if loss is None:
            triton.store(left.at[cells(row, q)], out)
            losses[pl.program_id(0)] = jnp.asarray(0, SINGLE)
            return
        total, rest = _residual(loss, outputs, out, triton.load(labels.at[row]), share[0], of_run[1])
        losses[pl.program_id(0)] = total
        triton.store(left.at[cells(row, q)], rest)

    shapes = array((count // tile.rows,)), array((count, every), SINGLE if loss is None else HALF)
    call = launch(residuals_kernel, shapes, (count // tile.rows,), tile)
    return tuple(call(*rows, scaled.table, scaled.inwards, scaled.of_neuron, scaled.of_run, share[None]))


def _residual(loss: str | None, outputs: int, out: Any, label: Any, share: Any, rho: Any) -> tuple[Any, Any]:
    """Inside a kernel, the weighted loss of some rows and what `residuals` says is left of them."""
    q, counts = span(out.shape[1]), jnp.where(label == NOBODY, 0.0, share)
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
    return (counts * each).sum(), to_half(jnp.where(counts[:, None] > 0, rest * rho, 0.0))


def gradients(
    loss: str | None,
    function: Function,
    outputs: int,
    windows: Windows,
    rows: Rows,
    left: Float16[Array, "row every"] | None,
    scaled: Scaled,
    share: Float32[Array, ""],
    tile: Tile,
    parts: int,
) -> tuple[Float32[Array, "part"], Float32[Array, "part values N"], Float32[Array, "part outputs N"]]:
    """The losses and the gradients of the columns of all variables and of the readout, in parts of the examples, to be
    added up. Without residuals, of a network that fits into a tile, they are made here; otherwise losses are zero."""
    (every, length), width, size = scaled.inwards.shape, scaled.of_columns.shape[0], windows.variables * windows.size
    tile = tile.within(length)

    def gradients_kernel(*refs: Any) -> None:
        labels, one_hot, bases, used, table, inwards, backwards, of_neuron, of_run, of_columns, of_readout, share = (
            refs[:12]
        )
        *left, losses, d_columns, d_readout = refs[12:]
        part, at = pl.program_id(0), pl.program_id(1) * tile.columns + span(tile.columns)
        inside, q, column = at < width, span(every), span(windows.width)
        each = (used[0] + parts - 1) // parts
        start = part * each
        readout = triton.load(backwards.at[cells(q, at)])
        readout_in = None if left else triton.load(inwards.at[cells(q, at)])
        of_h, of_z, of_d_h = (triton.load(of_neuron.at[n, at])[:, None] for n in range(3))
        to_columns, to_readout = (
            triton.load(factor.at[at], mask=inside, other=0.0)[None, :] for factor in (of_columns, of_readout)
        )

        def clear(n: Any, _: Any) -> Any:
            row = n * 16 + span(16)
            nothing = jnp.zeros((16, tile.columns), SINGLE)
            triton.store(d_columns.at[(part, *cells(row, at))], nothing, mask=both(row < size, inside))
            return 0

        loop(-(-size // 16), clear, 0)
        if not interpreted():
            triton.debug_barrier()

        def body(n: Any, total: Any) -> Any:
            of_loss, of_outputs = total
            number = start + n
            values, there = windows.in_table([bases[s, number] for s in range(windows.variables)], column)
            index, known = cells(jnp.where(there, values, size + column), at), both(there, inside)
            high, low = (triton.load(table.at[cells(part * size + values, at)]) for part in range(2))
            by_value = jnp.zeros((tile.columns, windows.width), SINGLE)
            for piece in range(ROWS // tile.rows):
                row = number * ROWS + piece * tile.rows + span(tile.rows)
                ones = triton.load(one_hot.at[cells(row, column)])
                h = plus(high, ones, triton.dot(low, ones, trans_a=True, trans_b=True), True, True)
                if piece == 0:  # After the barrier that products wait at: other threads have written what is read.
                    before = triton.load(d_columns.at[(part, *index)], mask=known, other=0.0)
                z, pull_back = jax.vjp(function.of, h * of_h if function.degree is None else h)
                rounded_z = (z if function.degree else z * of_z).astype(HALF)
                if left:
                    rest = triton.load(left[0].at[cells(row, q)])
                else:
                    out = triton.dot(rounded_z, readout_in, trans_a=True, trans_b=True) * of_run[0]
                    more, rest = _residual(loss, outputs, out, triton.load(labels.at[row]), share[0], of_run[1])
                    of_loss = of_loss + more
                d_h = pull_back(triton.dot(readout, rest, trans_a=True, trans_b=True))[0]
                d_h = d_h if function.degree else d_h * of_d_h
                # First, so that the matrix units go on with it while the sums by value are waited for.
                of_outputs = plus(rounded_z, rest, of_outputs)
                rounded = d_h.astype(HALF)
                by_value = plus((d_h - rounded.astype(SINGLE)).astype(HALF), ones, plus(rounded, ones, by_value))
            triton.store(d_columns.at[(part, *index)], before + by_value.T * to_columns, mask=known)
            return of_loss, of_outputs

        nothing = jnp.asarray(0, SINGLE), jnp.zeros((tile.columns, every), SINGLE)
        of_loss, found = loop(jnp.minimum(each, used[0] - start), body, nothing)
        losses[part] = of_loss
        triton.store(d_readout.at[(part, *cells(q, at))], found.T * to_readout, mask=both(q < outputs, inside))

    shapes = array((parts,)), array((parts, size, width)), array((parts, outputs, width))
    call = launch(gradients_kernel, shapes, (parts, length // tile.columns), tile)
    return tuple(call(*rows, *scaled, share[None], *(() if left is None else (left,))))
