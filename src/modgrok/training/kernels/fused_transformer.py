"""The transformer of Nanda et al. on a GPU: one block, two variables, relu, cross-entropy over full batches.

Keys and values are tables over the p values of a variable, and stay in plain XLA, as do the products of the weights'
gradients; all between them are kernels of its own.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from modgrok.networks import Noise
from modgrok.networks.architecture import Parameters
from modgrok.networks.transformer import Transformer
from modgrok.shapes import Array, Float, Float32
from modgrok.tasks import Signature
from modgrok.training.data import Batch, PaddedShape
from modgrok.training.kernels.generic import Kernel, LossAndGrad
from modgrok.training.kernels.pallas_tools import SINGLE, Tile, next_power, round_up
from modgrok.training.kernels.plain_xla import rows_by_value
from modgrok.training.kernels.transformer_kernels import (
    ATTENDED,
    LARGEST,
    UNEMBEDDING,
    Seen,
    Tables,
    backward,
    forward,
    scale_operands,
    value_sums,
)
from modgrok.training.program import Program

TILES = {"NVIDIA H200": (Tile(64, 64, stages=3), Tile(64, 64, stages=2))}
"""Examples, and neurons of the MLP, forward and backward. Two programs share a multiprocessor: one multiplies while the
other activates."""
OTHER_TILES = Tile(64, 64), Tile(64, 64)
SUMS = Tile(16, 32, warps=1)
ROWS = 128
"""Training sets are padded to a multiple of this, so that no tile needs a mask."""
PROGRAMS = 128
"""Number of 128 × 128 tiles that a product should have; with fewer, its sum is split into parts."""
MATRICES = ("blocks.attention.0.output", "blocks.mlp.0.in", "blocks.mlp.0.out", "unembedding")


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
        fits = 32 <= width <= 128 and hidden >= max(64, width) and network._tokens(signature) <= 256
        fits &= all(next_power(size) == size for size in (head, width, hidden))
        return program.platform == "gpu" and plain and full and fits

    def padded_shape(self, inputs: Callable[[], np.ndarray], rows: int) -> PaddedShape:
        most = max(int(np.bincount(values).max()) for values in inputs().T)
        return PaddedShape(round_up(rows, ROWS), round_up(most, 16))

    def tables(self, inputs: np.ndarray, labels: np.ndarray, padded: PaddedShape) -> Any:
        size = max(self.program.signature.sizes)
        rows = np.stack([rows_by_value(values, size, padded.slots) for values in inputs.T])
        others = np.stack([np.pad(inputs[:, 1 - s], (0, 1))[slots] for s, slots in enumerate(rows)]).astype(np.int32)
        counts = np.stack([np.bincount(values, minlength=size) for values in inputs.T]).astype(np.int32)
        return Tables(rows, others, counts, np.asarray(1 / max(1, len(inputs)), np.float32))

    def loss_and_grad(
        self, parameters: Parameters, batch: Batch, codes: Any, noise: Noise | None, count_correct: Any = None
    ) -> LossAndGrad:
        if not isinstance(batch.tables, Tables):
            return super().loss_and_grad(parameters, batch, codes, noise, count_correct)
        return *_step(self, parameters, batch), jnp.zeros((), SINGLE)


KERNEL = TransformerKernel


@partial(jax.jit, static_argnums=0)  # Traced and lowered once, wherever a program takes a gradient.
def _step(kernel: TransformerKernel, parameters: Parameters, batch: Batch) -> tuple[Float[Array, ""], Parameters]:
    program, network, tables = kernel.program, kernel.program.architecture, batch.tables
    assert isinstance(network, Transformer)
    matrices = [parameters[f"{name}.weight"] for name in MATRICES]
    biases = parameters["blocks.mlp.0.in.bias"], parameters["blocks.mlp.0.out.bias"]
    seen, pull_seen = jax.vjp(partial(_seen, network, program.signature), parameters)
    operands = scale_operands(matrices, [seen.last, seen.values, *biases])
    width, bounds = network.width, (program.signature.sizes[0], len(matrices[UNEMBEDDING]))
    examples = batch.inputs.reshape(-1, 2), batch.labels.reshape(-1), batch.weight.reshape(-1)
    ahead, back = TILES.get(jax.local_devices()[0].device_kind, OTHER_TILES)
    read, losses, left, tops = forward(seen, operands, biases, examples, bounds, ahead)
    d, d_attended, sums, scales = backward(left, tops, read[2], operands, back)
    d_values, d_scores = value_sums(seen, d_attended, tables, bounds[0], SUMS)
    sums = sums.sum(axis=0) * tables.share
    (gradient,) = pull_seen(Seen(sums[-width:], d_values * tables.share, d_scores * tables.share))
    factors = tables.share / (operands.scales[ATTENDED:LARGEST] * scales)
    for n, (name, derivative) in enumerate(zip(MATRICES, (*d, left), strict=True)):
        product = _outer_product(derivative, read[n], program.runs)[: len(matrices[n])]
        gradient[f"{name}.weight"] = product * factors[n]
    of_biases = {"blocks.mlp.0.out.bias": sums[:width], "blocks.mlp.0.in.bias": sums[width:-width]}
    return losses.sum(), gradient | of_biases


def _seen(network: Transformer, signature: Signature, parameters: Parameters) -> Seen:
    """In plain XLA. Scores keep all bits: derivatives of theirs cancel, and they take no time."""
    embedding, at, sizes = parameters["embedding"], parameters["positions"], signature.sizes
    mark = max(*sizes, signature.outputs)
    rows = (embedding[: sizes[0]], embedding[: sizes[1]], embedding[mark : mark + 1])
    x = jnp.concatenate([part + at[t : t + 1] for t, part in enumerate(rows)])
    query, key, value = (parameters[f"blocks.attention.0.{name}.weight"] for name in ("query", "key", "value"))
    asked = jnp.dot(query, x[-1], precision="highest").reshape(network.heads, -1)
    asked = asked * (network.width // network.heads) ** -0.5
    weighed = jnp.einsum("hc,hci->hi", asked, key.reshape(network.heads, -1, network.width), precision="highest")
    scores = jnp.tensordot(x, weighed, axes=(1, 1), precision="highest")
    return Seen(x[-1], jnp.tensordot(x, value, axes=(1, 1)), scores)


def _outer_product(left: Float[Array, "row out"], right: Float[Array, "row in"], runs: int) -> Float32[Array, "out in"]:
    """The sum over examples, split into parts if that keeps more of the GPU busy."""
    rows, parts = len(left), 1
    programs = runs * -(-left.shape[1] // 128) * -(-right.shape[1] // 128)
    while programs * parts < PROGRAMS and rows % (16 * parts) == 0:
        parts *= 2
    left, right = (part.reshape(parts, rows // parts, -1) for part in (left, right))
    return jnp.einsum("pno,pni->poi", left, right, preferred_element_type=SINGLE).sum(axis=0)
