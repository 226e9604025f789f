r"""Kernels in Pallas (Triton) for a step of a one-layer transformer.

Two take a tile of examples forward to the residuals and back to the attended values, so that between them only the
operands of the weights' gradients pass through memory; a third sums over the examples that share a value.

Operands have 16 bits, the mantissa of TF32 at half the bytes, and sums have 32. Powers of two that follow from the
largest weights keep operands in range without rounding. Every sum is made in a fixed order: there are no atomics.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from modgrok.shapes import Array, Float, Float32, Int32
from modgrok.training.kernels.pallas_tools import (
    HALF,
    SINGLE,
    Tile,
    array,
    both,
    cells,
    launch,
    loop,
    next_power,
    plus,
    power_below,
    span,
)

PARTS = 16
"""Programs that share the matrices of a run."""
WEIGHT, OPERAND, RESIDUAL = 8, 15, 14
"""Scaled numbers stay below two to the power of these."""
OUTPUT, IN, OUT, UNEMBEDDING, ATTENDED, MIDDLE, HIDDEN, LAST, LARGEST = range(9)
"""Places of the scales of the matrices and of what they multiply; then come the largest entries of the matrices."""
D_MIDDLE, D_HIDDEN, D_LAST = range(3)
"""Places of the scales of the derivatives before the MLP, in it and after it; then comes that of the residuals."""


class Tables(NamedTuple):
    """Index arrays besides the examples."""

    rows: Int32[Any, "2 p slot"]
    """The examples with a given value of a variable."""
    others: Int32[Any, "2 p slot"]
    """The values of the other variable in these examples, so that no load depends on two others."""
    counts: Int32[Any, "2 p"]
    """Number of slots in use."""
    share: Float32[Any, ""]
    """The weight of an example."""


class Seen(NamedTuple):
    """What is attended to: the last position's own vector, and every token's value and scores, the last position's
    after those of both variables."""

    last: Float32[Any, "d"]
    values: Float32[Any, "token d"]
    scores: Float32[Any, "token head"]


class Operands(NamedTuple):
    """The weights in 16 bits, scaled into range."""

    output: Float[Any, "d d"]
    into: Float[Any, "hidden d"]
    out: Float[Any, "d hidden"]
    unembedding: Float[Any, "q d"]
    scales: Float32[Any, "12"]


def scale_operands(matrices: list[Float32[Array, "_ _"]], others: list[Float32[Array, "..."]]) -> Operands:
    """`others`: the last position's vector, the values, the biases of the MLP."""
    width, hidden = matrices[OUT].shape
    arrays = [*matrices, *(x.reshape(-1, width) for x in others)]
    heights = [next_power(-(-len(x) // PARTS)) if len(x) > 1 else 1 for x in arrays]

    def part(ref: Any, height: int) -> tuple[Any, Any]:
        """What a program takes of an array, and what of that there is."""
        row, column = pl.program_id(0) * height + span(height), span(ref.shape[1])
        return ref.at[cells(row, column)], both(row < ref.shape[0], column >= 0)

    def find_largest(*refs: Any) -> None:
        *inputs, sizes = refs
        for n, (ref, height) in enumerate(zip(inputs, heights, strict=True)):
            at, inside = part(ref, height)
            sizes[pl.program_id(0), n] = jnp.abs(triton.load(at, mask=inside, other=0.0)).max()

    def scale_matrices(*refs: Any) -> None:
        inputs, sizes, outputs, scales = refs[:4], refs[4], refs[5:9], refs[9]
        most = [triton.load(sizes.at[span(PARTS), n]).max() for n in range(8)]
        of_output, of_in, of_out, _, last, value, in_bias, out_bias = most
        middle = last + width * of_output * value
        z = in_bias + width * of_in * middle
        found = _scales([*most[:4], value], WEIGHT)
        found += _scales([middle, z, middle + out_bias + hidden * of_out * z], OPERAND)
        for n, fact in enumerate((*found, *most[:4])):
            scales[n] = fact
        for ref, output, height, scale in zip(inputs, outputs, heights, found, strict=False):
            (at, inside), (to, room) = part(ref, height), part(output, height)
            triton.store(to, (triton.load(at, mask=inside, other=0.0) * scale).astype(HALF), mask=room)

    sizes = launch(find_largest, array((PARTS, 8)), (PARTS,), Tile(1, 1))(*arrays)
    shapes = [*(array(x.shape, HALF) for x in matrices[:3]), array((next_power(len(matrices[3])), width), HALF)]
    return Operands(*launch(scale_matrices, [*shapes, array((12,))], (PARTS,), Tile(1, 1))(*matrices, sizes))


def forward(
    seen: Seen,
    operands: Operands,
    biases: tuple[Float32[Array, "hidden"], Float32[Array, "d"]],
    examples: tuple[Int32[Array, "row 2"], Int32[Array, "row"], Float32[Array, "row"]],
    bounds: tuple[int, int],
    tile: Tile,
) -> tuple[tuple[Float[Array, "_ _"], ...], Float32[Array, "tile"], Float[Array, "row q"], Float32[Array, "tile"]]:
    """What every matrix multiplies; the weighted losses of every tile; the residuals softmax − δ, zero where the weight
    is; and the largest of every tile. `bounds`: the values of the first variable, and the outputs."""
    (rows, _), (every, width), hidden = examples[0].shape, operands.unembedding.shape, len(biases[0])
    (tokens, heads), (size, outputs) = seen.scores.shape, bounds
    head, columns, tiles = width // heads, min(tile.columns, hidden), rows // tile.rows

    def forward_tile(*refs: Any) -> None:
        last, values, scores, output, into, out, unembedding, scales, in_bias, out_bias, *more = refs
        inputs, labels, weight, attended, middle, neurons, final, left, losses, tops = more
        scale = [scales[n] for n in range(8)]
        row, at, q = pl.program_id(0) * tile.rows + span(tile.rows), span(width), span(every)
        token = [triton.load(inputs.at[row, s]) + s * size for s in range(2)]

        def attend(h: Any, total: Any) -> Any:
            c = h * head + span(head)
            vectors = [*(_load(values, t, c) for t in token), triton.load(values.at[tokens - 1, c])[None, :]]
            _, mean = _attend([*(triton.load(scores.at[t, h]) for t in token), scores[tokens - 1, h]], vectors)
            part = _store(attended, row, c, mean, scale[ATTENDED])
            return plus(part, _load(output, at, c), total, trans_b=True)

        total = loop(heads, attend, jnp.zeros((tile.rows, width), SINGLE))
        x = total * (1 / (scale[ATTENDED] * scale[OUTPUT])) + triton.load(last.at[at])[None, :]
        operand = _store(middle, row, at, x, scale[MIDDLE])
        growth, of_z = scale[HIDDEN] * scale[OUT], 1 / (scale[MIDDLE] * scale[IN])

        def activate(j: Any, total: Any) -> Any:
            c = j * columns + span(columns)
            z = triton.dot(operand, _load(into, c, at), trans_b=True) * of_z + triton.load(in_bias.at[c])[None, :]
            part = _store(neurons, row, c, jnp.maximum(z, 0.0), scale[HIDDEN])
            return plus(part, _load(out, at, c), total, trans_b=True)

        x = loop(hidden // columns, activate, (x + triton.load(out_bias.at[at])[None, :]) * growth)
        operand = _store(final, row, at, x, scale[LAST] * (1 / growth))
        logits = triton.dot(operand, _load(unembedding, q, at), trans_b=True)
        logits = jnp.where((q < outputs)[None, :], logits * (1 / (scale[LAST] * scale[UNEMBEDDING])), -jnp.inf)
        own, counts = q[None, :] == triton.load(labels.at[row])[:, None], triton.load(weight.at[row])
        top = logits.max(axis=1)
        right = jnp.where(own, logits, 0.0).sum(axis=1)
        # Not softmax − 1 nor log(1 + x), of which 32 bits leave nothing where an example is all but certain.
        powers = jnp.where(own, 0.0, jnp.exp(logits - top[:, None]))
        wrong = powers.sum(axis=1)
        beyond = wrong + jnp.expm1(right - top)
        losses[pl.program_id(0)] = (counts * (jnp.log1p(beyond) + (top - right))).sum()
        rest = jnp.where(own, -wrong[:, None], powers) / (1 + beyond)[:, None]
        rest = jnp.where(counts[:, None] > 0, rest, 0.0)
        tops[pl.program_id(0)] = jnp.abs(rest).max()
        _store(left, row, q, rest, 2.0**RESIDUAL)

    shapes = [array((rows, n), HALF) for n in (width, width, hidden, width, every)] + [array((tiles,))] * 2
    call = launch(forward_tile, shapes, (tiles,), tile)
    *read, left, losses, tops = call(*seen, *operands, *biases, *examples)
    return tuple(read), losses, left, tops


def backward(
    left: Float[Array, "row q"],
    tops: Float32[Array, "tile"],
    neurons: Float[Array, "row hidden"],
    operands: Operands,
    tile: Tile,
) -> tuple[tuple[Float[Array, "row _"], ...], Float32[Array, "row d"], Float32[Array, "tile _"], Float32[Array, "4"]]:
    """The scaled derivatives before the MLP, in it and after it; those of what was attended to; the sums of the first
    three over every tile, after the MLP first; and the scales."""
    (rows, every), (width, hidden), many = left.shape, operands.out.shape, len(tops)
    columns, answers, narrow = (min(tile.columns, most) for most in (hidden, every, width))

    def backward_tile(*refs: Any) -> None:
        left, tops, neurons, output, into, out, unembedding, scales, *more = refs
        d_middle, d_hidden, d_last, d_attended, sums, of_d = more
        scale, largest = [scales[n] for n in range(4)], [scales[LARGEST + n] for n in range(4)]
        program, n = pl.program_id(0), span(next_power(many))
        row, at = program * tile.rows + span(tile.rows), span(width)
        of_last = 2 * triton.load(tops.at[n], mask=n < many, other=0.0).max() * largest[UNEMBEDDING]
        of_hidden = width * largest[OUT] * of_last
        of_middle = of_last + hidden * largest[IN] * of_hidden
        found = _scales([of_middle, of_hidden, of_last], OPERAND)
        for place, factor in enumerate((*found, 2.0**RESIDUAL)):
            of_d[place] = jnp.asarray(factor, SINGLE)

        def unembed(j: Any, total: Any) -> Any:
            q = j * answers + span(answers)
            return plus(_load(left, row, q), _load(unembedding, q, at), total)

        d = loop(every // answers, unembed, jnp.zeros((tile.rows, width), SINGLE))
        d = d * (2.0**-RESIDUAL / scale[UNEMBEDDING])
        triton.store(sums.at[program, at], d.sum(axis=0))
        operand = _store(d_last, row, at, d, found[D_LAST])
        growth, of_z = found[D_HIDDEN] * scale[IN], 1 / (found[D_LAST] * scale[OUT])

        def activate(j: Any, total: Any) -> Any:
            c = j * columns + span(columns)
            z = triton.dot(operand, _load(out, at, c)) * of_z
            z = jnp.where(_load(neurons, row, c) > 0, z, 0.0)
            triton.store(sums.at[program, width + c], z.sum(axis=0))
            return plus(_store(d_hidden, row, c, z, found[D_HIDDEN]), _load(into, c, at), total)

        d = loop(hidden // columns, activate, d * growth) * (1 / growth)
        triton.store(sums.at[program, width + hidden + at], d.sum(axis=0))
        operand = _store(d_middle, row, at, d, found[D_MIDDLE])
        of_value = 1 / (found[D_MIDDLE] * scale[OUTPUT])

        def attend(j: Any, _: Any) -> Any:
            c = j * narrow + span(narrow)
            triton.store(d_attended.at[cells(row, c)], triton.dot(operand, _load(output, at, c)) * of_value)
            return 0

        loop(width // narrow, attend, 0)

    shapes = [array((rows, n), HALF) for n in (width, hidden, width)]
    shapes += [array((rows, width)), array((rows // tile.rows, hidden + 2 * width)), array((4,))]
    call = launch(backward_tile, shapes, (rows // tile.rows,), tile)
    *d, d_attended, sums, scales = call(left, tops, neurons, *operands)
    return tuple(d), d_attended, sums, scales


def value_sums(
    seen: Seen, d_attended: Float32[Array, "row d"], tables: Tables, size: int, tile: Tile
) -> tuple[Float32[Array, "token d"], Float32[Array, "token head"]]:
    """Derivatives of the values and of the scores, from those of what was attended to; `size` as in `bounds`."""
    (tokens, width), heads = seen.values.shape, seen.scores.shape[1]
    head, most = width // heads, tables.rows.shape[1]

    def value_sum(*refs: Any) -> None:
        values, scores, d_attended, rows, others, counts, of_own, of_last, of_scores = refs
        value, s, h = (pl.program_id(n) for n in range(3))
        c, count, last = h * head + span(head), counts[s, value], tokens - 1
        own, shift = jnp.minimum(value + s * size, last), (1 - s) * size
        here, there = triton.load(values.at[own, c])[None, :], triton.load(values.at[last, c])[None, :]

        def body(n: Any, carry: Any) -> Any:
            slot = n * tile.rows + span(tile.rows)
            filled = slot < count
            row = triton.load(rows.at[s, value, slot], mask=filled, other=0)
            other = triton.load(others.at[s, value, slot], mask=filled, other=0) + shift
            mask = both(filled, c >= 0)
            score = triton.load(scores.at[other, h], mask=filled, other=0.0)
            x = triton.load(values.at[cells(other, c)], mask=mask, other=0.0)
            d = triton.load(d_attended.at[cells(row, c)], mask=mask, other=0.0)
            shares, mean = _attend([score, scores[own, h], scores[last, h]], [x, here, there])
            found = shares[1] * d, shares[2] * d, shares[1] * d * (here - mean)
            return tuple(before + more for before, more in zip(carry, found, strict=True))

        nothing = jnp.zeros((tile.rows, head), SINGLE)
        found = loop((count + tile.rows - 1) // tile.rows, body, (nothing,) * 3)
        triton.store(of_own.at[s, value, c], found[0].sum(axis=0))
        triton.store(of_last.at[s, value, c], found[1].sum(axis=0))
        of_scores[s, value, h] = found[2].sum()

    shapes = [array((2, most, n)) for n in (width, width, heads)]
    call = launch(value_sum, shapes, (most, 2, heads), tile)
    of_own, of_last, of_scores = call(seen.values, seen.scores, d_attended, *tables[:3])
    second = tokens - 1 - size
    # Scores of an example change nothing together, so those of the last position follow from the others.
    d_values = jnp.concatenate([of_own[0, :size], of_own[1, :second], of_last[0].sum(axis=0)[None]])
    return d_values, jnp.concatenate([of_scores[0, :size], of_scores[1, :second], -of_scores.sum(axis=(0, 1))[None]])


def _scales(bounds: list[Any], exponent: int) -> list[Any]:
    """For numbers up to these bounds; those of very small ones stay far from overflow in products of two."""
    return [jnp.minimum(power_below(bound, exponent), 2.0**50) for bound in bounds]


def _attend(scores: list[Any], vectors: list[Any]) -> tuple[list[Any], Any]:
    """The softmax over positions, row by row, and the mean of their vectors."""
    most = jnp.maximum(jnp.maximum(scores[0], scores[1]), scores[2])
    powers = [jnp.exp(score - most) for score in scores]
    shares = [(power / sum(powers))[:, None] for power in powers]
    return shares, sum(share * x for share, x in zip(shares, vectors, strict=True))


def _load(ref: Any, rows: Any, columns: Any) -> Any:
    return triton.load(ref.at[cells(rows, columns)])


def _store(ref: Any, rows: Any, columns: Any, x: Any, scale: Any) -> Any:
    """Scales and rounds to 16 bits; these are also returned."""
    part = (x * scale).astype(HALF)
    triton.store(ref.at[cells(rows, columns)], part)
    return part
