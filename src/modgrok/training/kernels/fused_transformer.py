r"""The transformer of Nanda et al. on a GPU: one block, two variables, relu, cross-entropy over full batches.

Keys and values are tables over the p values of a variable, and stay in plain XLA. Two kernels take a tile of examples
forward to the residuals and back to the attended values, so that between them only the operands of the weights'
gradients pass through memory; a third sums over the examples that share a value.

Operands have 16 bits, the mantissa of TF32 at half the bytes, and sums have 32. Powers of two that follow from the
largest weights keep operands in range without rounding. Every sum is made in a fixed order: there are no atomics.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from modgrok.networks import Noise
from modgrok.networks.architecture import Parameters
from modgrok.networks.transformer import Transformer
from modgrok.shapes import Array, Float, Float32, Int32
from modgrok.tasks import Signature
from modgrok.training.data import Batch, PaddedShape
from modgrok.training.kernels.generic import Kernel, LossAndGrad
from modgrok.training.kernels.pallas_kernels import (
    HALF,
    SINGLE,
    Tile,
    _both,
    _call,
    _grid,
    _loop,
    _range,
    _shape,
    next_power,
    power_below,
    round_up,
)
from modgrok.training.kernels.plain_xla import _rows_by_value
from modgrok.training.program import Program

FORWARD, BACKWARD = Tile(64, 64, stages=2), Tile(64, 64, stages=2)
"""Examples, and neurons of the MLP; small enough for two programs on a multiprocessor, one of which multiplies while
the other activates."""
SUMS = Tile(16, 32, warps=1)
ROWS = 128
"""Training sets are padded to a multiple of this, so that no tile needs a mask."""
PARTS = 16
"""Programs that share the matrices of a run."""
PROGRAMS = 128
"""Number of 128 × 128 tiles that a product should have; with fewer, its sum is split into parts."""
MATRICES = ("blocks.attention.0.output", "blocks.mlp.0.in", "blocks.mlp.0.out", "unembedding")
WEIGHT, VALUE, OPERAND, RESIDUAL = 8, 8, 15, 14
"""Scaled numbers stay below two to the power of these."""
OUTPUT, IN, OUT, UNEMBEDDING, ATTENDED, MIDDLE, HIDDEN, LAST = range(8)
"""Places of the scales: of the matrices, and of the operands on the way forward."""
D_LAST, D_HIDDEN, D_MIDDLE = range(3)
"""Places of the scales on the way back: of the derivatives after the MLP, in it and before it."""


class ValueRows(NamedTuple):
    """Index arrays by value of each variable, through which the gradient of the columns is summed."""

    rows: Int32[Any, "S p slot"]
    """The examples with a given value."""
    others: Int32[Any, "S others p slot"]
    """The values of the other variables in these examples, so that no load depends on two others."""
    counts: Int32[Any, "S p"]
    """Number of slots in use."""


class Tables(NamedTuple):
    """Index arrays besides the examples."""

    by_value: ValueRows
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

    matrices: tuple[Float[Any, "_ _"], ...]
    scales: Float32[Any, "8"]
    largest: Float32[Any, "4"]
    """The largest entry of each matrix."""

    @property
    def arrays(self) -> tuple[Any, ...]:
        return *self.matrices, self.scales, self.largest


class TransformerKernel(Kernel):
    """Falls back to the generic kernel for examples that have no tables of its own."""

    @classmethod
    def applies(cls, program: Program) -> bool:
        network, signature = program.architecture, program.signature
        assert isinstance(network, Transformer)
        free = "width heads hidden vocabulary bidirectional initialization".split()
        plain = network == Transformer(**{name: getattr(network, name) for name in free})
        plain &= len(signature.sizes) == 2 and signature.outputs > 1 and not program.codes
        plain &= (program.loss, program.precision, program.loss_precision) == ("cross_entropy", "float32", "float32")
        full = program.batch_size is None and program.rule is None and "dropout" not in program.features
        head, width, hidden = network.width // network.heads, network.width, network.hidden or 4 * network.width
        fits = width >= 32 and hidden >= max(64, width) and max(width, network._tokens(signature)) <= 256
        fits &= all(next_power(size) == size for size in (head, width, hidden))
        return program.platform == "gpu" and plain and full and fits

    def padded_shape(self, inputs: Callable[[], np.ndarray], rows: int) -> PaddedShape:
        most = max(int(np.bincount(values).max()) for values in inputs().T)
        return PaddedShape(round_up(rows, ROWS), round_up(most, 16))

    def tables(self, inputs: np.ndarray, padded: PaddedShape) -> Any:
        size = max(self.program.signature.sizes)
        rows = np.stack([_rows_by_value(values, size, padded.slots) for values in inputs.T])
        there = np.concatenate([inputs, np.zeros_like(inputs[:1])])  # slots that are not filled name the row beyond
        others = np.stack([there[slots, 1 - s][None] for s, slots in enumerate(rows)]).astype(np.int32)
        counts = np.stack([np.bincount(values, minlength=size) for values in inputs.T]).astype(np.int32)
        return Tables(ValueRows(rows, others, counts), np.asarray(1 / max(1, len(inputs)), np.float32))

    def loss_and_grad(
        self, parameters: Parameters, batch: Batch, codes: Any, noise: Noise | None, count_correct: Any = None
    ) -> LossAndGrad:
        if not isinstance(batch.tables, Tables):
            return super().loss_and_grad(parameters, batch, codes, noise, count_correct)
        return *_step(self, parameters, batch), jnp.zeros((), SINGLE)


KERNEL = TransformerKernel


@partial(jax.jit, static_argnums=0)  # Traced and lowered once, wherever a program takes a gradient.
def _step(kernel: TransformerKernel, parameters: Parameters, batch: Batch) -> tuple[Float[Array, ""], Parameters]:
    program, network = kernel.program, kernel.program.architecture
    assert isinstance(network, Transformer)
    labels, (by_value, share) = batch.labels.reshape(-1), batch.tables
    in_bias, out_bias = (parameters[f"blocks.mlp.0.{name}.bias"] for name in ("in", "out"))
    seen, pull_seen = jax.vjp(partial(_seen, network, program.signature), parameters)
    operands = scale_operands([parameters[f"{name}.weight"] for name in MATRICES], [*seen[:2], in_bias, out_bias])
    size, outputs = program.signature.sizes[0], len(parameters["unembedding.weight"])
    examples = batch.inputs.reshape(-1, 2), labels, batch.weight.reshape(-1)
    read, losses, left, tops = forward(seen, operands, (in_bias, out_bias), examples, (size, outputs), FORWARD)
    d, d_attended, sums, scales = backward(left, tops, read[2], operands, BACKWARD)
    sums, width = sums.sum(axis=0) * share, network.width
    d_values, d_scores = value_sums(seen, d_attended, by_value, size, SUMS)
    (gradient,) = pull_seen(Seen(sums[-width:], d_values * share, d_scores * share))
    factors = share / operands.scales[ATTENDED:]
    ways = (d[D_MIDDLE], scales[D_MIDDLE]), (d[D_HIDDEN], scales[D_HIDDEN]), (d[D_LAST], scales[D_LAST])
    for n, (derivative, scale) in enumerate((*ways, (left, 2.0**RESIDUAL))):
        product = _outer_product(derivative, read[n], program.runs) * (factors[n] / scale)
        gradient = gradient | {f"{MATRICES[n]}.weight": product[:outputs] if n == UNEMBEDDING else product}
    of_biases = {"blocks.mlp.0.out.bias": sums[:width], "blocks.mlp.0.in.bias": sums[width:-width]}
    return losses.sum(), gradient | of_biases


def _seen(network: Transformer, signature: Signature, parameters: Parameters) -> Seen:
    """In plain XLA."""
    embedding, at, sizes = parameters["embedding"], parameters["positions"], signature.sizes
    mark = max(*sizes, signature.outputs)
    rows = (embedding[: sizes[0]], embedding[: sizes[1]], embedding[mark : mark + 1])
    x = jnp.concatenate([part + at[t : t + 1] for t, part in enumerate(rows)])
    query, key, value = (parameters[f"blocks.attention.0.{name}.weight"] for name in ("query", "key", "value"))
    asked = (query @ x[-1]).reshape(network.heads, -1) * (network.width // network.heads) ** -0.5
    weighed = jnp.einsum("hc,hci->hi", asked, key.reshape(network.heads, -1, network.width))
    return Seen(x[-1], jnp.tensordot(x, value, axes=(1, 1)), jnp.tensordot(x, weighed, axes=(1, 1)))


def _outer_product(left: Float[Array, "row out"], right: Float[Array, "row in"], runs: int) -> Float32[Array, "out in"]:
    """The sum over examples, split into parts if that keeps more of the GPU busy."""
    rows, parts = len(left), 1
    programs = runs * -(-left.shape[1] // 128) * -(-right.shape[1] // 128)
    while programs * parts < PROGRAMS and rows % (16 * parts) == 0:
        parts *= 2
    left, right = (part.reshape(parts, rows // parts, -1) for part in (left, right))
    dimensions = (((1,), (1,)), ((0,), (0,)))
    return jax.lax.dot_general(left, right, dimensions, preferred_element_type=SINGLE).sum(axis=0)


def scale_operands(matrices: list[Float32[Array, "_ _"]], others: list[Float32[Array, "..."]]) -> Operands:
    """`others`: the last position's vector, the values, the biases of the MLP."""
    arrays = [*matrices, *(x.reshape(-1, matrices[0].shape[1]) for x in others)]
    heights = [next_power(-(-len(x) // PARTS)) if len(x) > 1 else 1 for x in arrays]
    tall = [*map(len, matrices[:3]), next_power(len(matrices[3]))]

    def tiles(refs: tuple[Any, ...]) -> list[tuple[Any, Any]]:
        """Of every array the entries that a program reads, and where they are."""
        found = []
        for ref, height, x in zip(refs, heights, arrays, strict=False):
            row, column = pl.program_id(0) * height + _range(height), _range(x.shape[1])
            inside = jnp.broadcast_to((row < len(x))[:, None], (height, x.shape[1]))
            found.append((triton.load(ref.at[_grid(row, column)], mask=inside, other=0.0), (row, column)))
        return found

    def find_largest(*refs: Any) -> None:
        *inputs, sizes = refs
        for n, (part, _) in enumerate(tiles(tuple(inputs))):
            sizes[pl.program_id(0), n] = jnp.abs(part).max()

    def scale_matrices(*refs: Any) -> None:
        inputs, sizes, (*outputs, scales, largest) = refs[:4], refs[4], refs[5:]
        most = [triton.load(sizes.at[_range(PARTS), n]).max() for n in range(8)]
        of_output, of_in, of_out, _, last, value, in_bias, out_bias = most
        width, hidden = arrays[0].shape[1], len(arrays[1])
        middle = last + width * of_output * value
        z = in_bias + width * of_in * middle
        bounds = middle, z, middle + out_bias + hidden * of_out * z
        found = [_below(bound, WEIGHT) for bound in most[:4]]
        found += [_below(value, VALUE), *(_below(bound, OPERAND) for bound in bounds)]
        for n, (size, factor) in enumerate(zip(most, found, strict=True)):
            scales[n] = factor
            if n < 4:
                largest[n] = size
        for ref, (part, (row, column)), factor, rows in zip(outputs, tiles(inputs), found, tall, strict=False):
            inside = jnp.broadcast_to((row < rows)[:, None], part.shape)
            triton.store(ref.at[_grid(row, column)], (part * factor).astype(HALF), mask=inside)

    sizes = _call(find_largest, _shape((PARTS, 8)), (PARTS,), Tile(1, 1))(*arrays)
    shapes = [_shape((rows, x.shape[1]), HALF) for x, rows in zip(matrices, tall, strict=True)]
    call = _call(scale_matrices, [*shapes, _shape((8,)), _shape((4,))], (PARTS,), Tile(1, 1))
    *halves, scales, largest = call(*matrices, sizes)
    return Operands(tuple(halves), scales, largest)


def _below(bound: Float32[Array, ""], exponent: int) -> Float32[Array, ""]:
    """The scale for numbers up to this bound; that of very small ones stays far from overflow in products of two."""
    return jnp.minimum(power_below(bound, exponent), 2.0**50)


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
    (rows, _), (every, width), hidden = examples[0].shape, operands.matrices[3].shape, len(biases[0])
    (tokens, heads), (size, outputs) = seen.scores.shape, bounds
    head, columns, tiles = width // heads, min(tile.columns, hidden), rows // tile.rows

    def forward_tile(*refs: Any) -> None:
        last, values, scores, output, into, out, unembedding, scales, in_bias, out_bias, *more = refs
        inputs, labels, weight, attended, middle, neurons, final, losses, left, tops = more
        scale = [scales[n] for n in range(8)]
        row, at, q = pl.program_id(0) * tile.rows + _range(tile.rows), _range(width), _range(every)
        token = [triton.load(inputs.at[row, s]) + s * size for s in range(2)]

        def attend(h: Any, total: Any) -> Any:
            c = h * head + _range(head)
            rest = triton.load(values.at[tokens - 1, c])[None, :]
            vectors = [*(triton.load(values.at[_grid(t, c)]) for t in token), rest]
            shares = _softmax([*(triton.load(scores.at[t, h]) for t in token), scores[tokens - 1, h]])
            mean = sum(share[:, None] * x for share, x in zip(shares, vectors, strict=True))
            part = (mean * scale[ATTENDED]).astype(HALF)
            triton.store(attended.at[_grid(row, c)], part)
            return total + triton.dot(part, triton.load(output.at[_grid(at, c)]), trans_b=True)

        total = _loop(heads, attend, jnp.zeros((tile.rows, width), SINGLE))
        x = total * (1 / (scale[ATTENDED] * scale[OUTPUT])) + triton.load(last.at[at])[None, :]
        operand = (x * scale[MIDDLE]).astype(HALF)
        triton.store(middle.at[_grid(row, at)], operand)
        growth, of_z = scale[HIDDEN] * scale[OUT], 1 / (scale[MIDDLE] * scale[IN])

        def activate(j: Any, total: Any) -> Any:
            c = j * columns + _range(columns)
            z = triton.dot(operand, triton.load(into.at[_grid(c, at)]), trans_b=True) * of_z
            z = z + triton.load(in_bias.at[c])[None, :]
            part = (jnp.maximum(z, 0.0) * scale[HIDDEN]).astype(HALF)
            triton.store(neurons.at[_grid(row, c)], part)
            return total + triton.dot(part, triton.load(out.at[_grid(at, c)]), trans_b=True)

        x = _loop(hidden // columns, activate, (x + triton.load(out_bias.at[at])[None, :]) * growth)
        operand = (x * (scale[LAST] * (1 / growth))).astype(HALF)
        triton.store(final.at[_grid(row, at)], operand)
        logits = triton.dot(operand, triton.load(unembedding.at[_grid(q, at)]), trans_b=True)
        logits = jnp.where((q < outputs)[None, :], logits * (1 / (scale[LAST] * scale[UNEMBEDDING])), -jnp.inf)
        own, counts = q[None, :] == triton.load(labels.at[row])[:, None], triton.load(weight.at[row])
        top = logits.max(axis=1)
        right = jnp.where(own, logits, 0.0).sum(axis=1)
        # Not softmax − 1, of which 32 bits leave nothing where an example is all but certain.
        powers = jnp.where(own, 0.0, jnp.exp(logits - top[:, None]))
        wrong = powers.sum(axis=1)
        total = wrong + jnp.exp(right - top)
        losses[pl.program_id(0)] = (counts * (jnp.log(total) + top - right)).sum()
        rest = jnp.where(own, -wrong[:, None], powers) / total[:, None]
        rest = jnp.where(counts[:, None] > 0, rest, 0.0)
        tops[pl.program_id(0)] = jnp.abs(rest).max()
        triton.store(left.at[_grid(row, q)], (rest * 2.0**RESIDUAL).astype(HALF))

    shapes = [_shape((rows, n), HALF) for n in (width, width, hidden, width)]
    shapes += [_shape((tiles,)), _shape((rows, every), HALF), _shape((tiles,))]
    call = _call(forward_tile, shapes, (tiles,), tile)
    *read, losses, left, tops = call(*seen, *operands.matrices, operands.scales, *biases, *examples)
    return tuple(read), losses, left, tops


def backward(
    left: Float[Array, "row q"],
    tops: Float32[Array, "tile"],
    neurons: Float[Array, "row hidden"],
    operands: Operands,
    tile: Tile,
) -> tuple[tuple[Float[Array, "_ _"], ...], Float32[Array, "row d"], Float32[Array, "tile _"], Float32[Array, "3"]]:
    """The derivatives after the MLP, in it and before it, scaled; those of what was attended to; the sums of the first
    three over every tile, next to each other; and the scales."""
    (rows, every), hidden, width = left.shape, neurons.shape[1], operands.matrices[0].shape[0]
    columns, answers, narrow = (min(tile.columns, most) for most in (hidden, every, width))
    tiles = rows // tile.rows

    def backward_tile(*refs: Any) -> None:
        left, tops, neurons, output, into, out, unembedding, scales, largest, *more = refs
        d_last, d_hidden, d_middle, d_attended, sums, of_d = more
        scale, program = [scales[n] for n in range(4)], pl.program_id(0)
        row, at, n = program * tile.rows + _range(tile.rows), _range(width), _range(next_power(many))
        top = triton.load(tops.at[n], mask=n < many, other=0.0).max()
        of_last = 2 * top * largest[UNEMBEDDING]
        of_hidden = width * largest[OUT] * of_last
        found = [_below(x, OPERAND) for x in (of_last, of_hidden, of_last + hidden * largest[IN] * of_hidden)]
        for place, factor in enumerate(found):
            of_d[place] = factor

        def unembed(j: Any, total: Any) -> Any:
            q = j * answers + _range(answers)
            part, table = triton.load(left.at[_grid(row, q)]), triton.load(unembedding.at[_grid(q, at)])
            return total + triton.dot(part, table)

        nothing = jnp.zeros((tile.rows, width), SINGLE)
        d = _loop(every // answers, unembed, nothing) * (2.0**-RESIDUAL / scale[UNEMBEDDING])
        triton.store(sums.at[program, at], d.sum(axis=0))
        operand = (d * found[D_LAST]).astype(HALF)
        triton.store(d_last.at[_grid(row, at)], operand)
        growth, of_z = found[D_HIDDEN] * scale[IN], 1 / (found[D_LAST] * scale[OUT])

        def activate(j: Any, total: Any) -> Any:
            c = j * columns + _range(columns)
            z = triton.dot(operand, triton.load(out.at[_grid(at, c)])) * of_z
            z = jnp.where(triton.load(neurons.at[_grid(row, c)]) > 0, z, 0.0)
            triton.store(sums.at[program, width + c], z.sum(axis=0))
            part = (z * found[D_HIDDEN]).astype(HALF)
            triton.store(d_hidden.at[_grid(row, c)], part)
            return total + triton.dot(part, triton.load(into.at[_grid(c, at)]))

        d = _loop(hidden // columns, activate, d * growth) * (1 / growth)
        triton.store(sums.at[program, width + hidden + at], d.sum(axis=0))
        operand = (d * found[D_MIDDLE]).astype(HALF)
        triton.store(d_middle.at[_grid(row, at)], operand)
        of_value = 1 / (found[D_MIDDLE] * scale[OUTPUT])

        def attend(j: Any, _: Any) -> Any:
            c = j * narrow + _range(narrow)
            part = triton.dot(operand, triton.load(output.at[_grid(at, c)])) * of_value
            triton.store(d_attended.at[_grid(row, c)], part)
            return 0

        _loop(width // narrow, attend, 0)

    many = len(tops)
    shapes = [_shape((rows, n), HALF) for n in (width, hidden, width)]
    shapes += [_shape((rows, width)), _shape((tiles, hidden + 2 * width)), _shape((3,))]
    call = _call(backward_tile, shapes, (tiles,), tile)
    *d, d_attended, sums, scales = call(left, tops, neurons, *operands.arrays)
    return tuple(d), d_attended, sums, scales


def value_sums(
    seen: Seen, d_attended: Float32[Array, "row d"], by_value: ValueRows, size: int, tile: Tile
) -> tuple[Float32[Array, "token d"], Float32[Array, "token head"]]:
    """Derivatives of the values and of the scores, from those of what was attended to; `size` as in `bounds`."""
    (tokens, width), heads = seen.values.shape, seen.scores.shape[1]
    head, most = width // heads, by_value.rows.shape[1]

    def value_sum(*refs: Any) -> None:
        values, scores, d_attended, rows, others, counts, of_own, of_last, of_scores = refs
        value, s, h = (pl.program_id(n) for n in range(3))
        c, count, last = h * head + _range(head), counts[s, value], tokens - 1
        own, shift = jnp.minimum(value + s * size, last), (1 - s) * size
        here, there = triton.load(values.at[own, c])[None, :], triton.load(values.at[last, c])[None, :]
        inside = c < width

        def body(n: Any, carry: Any) -> Any:
            slot = n * tile.rows + _range(tile.rows)
            filled = slot < count
            row = triton.load(rows.at[s, value, slot], mask=filled, other=0)
            other = triton.load(others.at[s, 0, value, slot], mask=filled, other=0) + shift
            mask = _both(filled, inside)
            score = triton.load(scores.at[other, h], mask=filled, other=0.0)
            x = triton.load(values.at[_grid(other, c)], mask=mask, other=0.0)
            d = triton.load(d_attended.at[_grid(row, c)], mask=mask, other=0.0)
            shares = [share[:, None] for share in _softmax([score, scores[own, h], scores[last, h]])]
            mean = shares[0] * x + shares[1] * here + shares[2] * there
            found = shares[1] * d, shares[2] * d, shares[1] * d * (here - mean)
            return tuple(before + more for before, more in zip(carry, found, strict=True))

        nothing = jnp.zeros((tile.rows, head), SINGLE)
        found = _loop((count + tile.rows - 1) // tile.rows, body, (nothing,) * 3)
        triton.store(of_own.at[s, value, c], found[0].sum(axis=0))
        triton.store(of_last.at[s, value, c], found[1].sum(axis=0))
        of_scores[s, value, h] = found[2].sum()

    shapes = [_shape((2, most, n)) for n in (width, width, heads)]
    call = _call(value_sum, shapes, (most, 2, heads), tile)
    of_own, of_last, of_scores = call(seen.values, seen.scores, d_attended, *by_value)
    second = tokens - 1 - size
    # Scores of an example change nothing together, so those of the last position follow from the others.
    d_values = jnp.concatenate([of_own[0, :size], of_own[1, :second], of_last[0].sum(axis=0)[None]])
    return d_values, jnp.concatenate([of_scores[0, :size], of_scores[1, :second], -of_scores.sum(axis=(0, 1))[None]])


def _softmax(scores: list[Any]) -> list[Any]:
    """Over the positions, row by row."""
    most = jnp.maximum(jnp.maximum(scores[0], scores[1]), scores[2])
    powers = [jnp.exp(score - most) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]
