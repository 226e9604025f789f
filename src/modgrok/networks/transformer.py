r"""A decoder-only transformer that reads "n m =" and answers at the last position.

The one-layer model of Nanda et al. (arXiv 2301.05217) is the default: no LayerNorm, learned positions, biases in the
MLP alone. That of Power et al. (arXiv 2201.02177) is `layers=2, layer_norm="post", positions="sinusoidal",
biases=False, framed=True, initialization="torch", vocabulary=239`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float, Integer

from modgrok.arrays import namespace
from modgrok.errors import ModgrokError
from modgrok.networks.activation import activation
from modgrok.networks.architecture import Architecture, Cost, Noise, Parameters, register
from modgrok.networks.layers import dense, init_dense, rows_of
from modgrok.tasks import Signature

PROJECTIONS = ("query", "key", "value", "output")


@register
@dataclass(frozen=True)
class Transformer(Architecture):
    """`layers` blocks of attention and MLP on vectors of length `width`; outputs are logits of the whole vocabulary,
    the answers first."""

    name: ClassVar[str] = "transformer"
    summary: ClassVar[str] = "a decoder with attention, as Power et al. and Nanda et al. train it"
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "embedding": ("embedding", "positions"),
        "attention": ("blocks.attention",),
        "mlp": ("blocks.mlp",),
        "unembedding": ("unembedding",),
    }

    width: int = 128
    layers: int = 1
    heads: int = 4
    hidden: int | None = None
    """Neurons of each MLP; by default four times the width."""
    activation: str = "relu"
    positions: Literal["learned", "sinusoidal"] = "learned"
    layer_norm: Literal["none", "pre", "post"] = "none"
    biases: bool = True
    """In the MLPs; attention, embedding and unembedding have none."""
    tied: bool = False
    """Use the embedding as unembedding."""
    framed: bool = False
    """Read "mark n op m =" instead of "n m =", as Power et al. do."""
    vocabulary: int | None = None
    """Tokens that have an embedding and a logit; by default the numbers and the marks."""
    initialization: Literal["normal", "torch"] = "normal"
    r"""Weights at the start: normal with variance 1/width (1/vocabulary for the unembedding), or PyTorch's defaults."""

    def __post_init__(self) -> None:
        activation(self.activation)
        if self.width % self.heads:
            raise ModgrokError(f"The width is a multiple of the heads, and {self.width} is none of {self.heads}.")

    def check(self, signature: Signature) -> None:
        if not signature.sizes:
            raise ModgrokError("The network transformer reads numbers, and this task has real vectors; use mlp.")
        numbers, least = _numbers(signature), _numbers(signature) + self._marks(signature)
        if self.vocabulary is not None and self.vocabulary < least:
            raise ModgrokError(
                f"The vocabulary holds {numbers} numbers and {least - numbers} marks, and {self.vocabulary} is less "
                f"than {least}."
            )

    def _marks(self, signature: Signature) -> int:
        return 3 if self.framed else 1

    def _tokens(self, signature: Signature) -> int:
        return self.vocabulary or _numbers(signature) + self._marks(signature)

    def _length(self, signature: Signature) -> int:
        return len(signature.sizes) + (3 if self.framed else 1)

    def _outputs(self, signature: Signature) -> int:
        """Logits; a task whose outputs are not answers has just those."""
        return self._tokens(signature) if signature.outputs > 1 else 1

    def sequence(self, inputs: Integer[Any, "row S"], signature: Signature) -> Integer[Any, "row T"]:
        """The inputs with their marks, which come after the numbers in the vocabulary: =, then operator and frame."""
        xp = namespace(inputs)
        equals, operator, frame = (
            xp.full((inputs.shape[0], 1), _numbers(signature) + i, inputs.dtype) for i in range(3)
        )
        if not self.framed:
            return xp.concatenate([inputs, equals], axis=1)
        return xp.concatenate([frame, inputs[:, :1], operator, inputs[:, 1:], equals], axis=1)

    def init(self, key: Any, signature: Signature, scale: Any, dtype: Any) -> Parameters:
        import jax
        import jax.numpy as jnp

        tokens, width, hidden = self._tokens(signature), self.width, self.hidden or 4 * self.width
        keys = iter(jax.random.split(key, 3 + 6 * self.layers))
        factor = jnp.asarray(scale, dtype)

        def normal(shape: tuple[int, ...], deviation: float) -> Any:
            return factor * deviation * jax.random.normal(next(keys), shape, dtype)

        def layer(name: str, fan_in: int, fan_out: int, bias: bool, normal_fan: int | None = None) -> Parameters:
            if self.initialization == "torch":
                return init_dense(next(keys), name, fan_in, fan_out, bias, scale, dtype)
            made = {f"{name}.weight": normal((fan_out, fan_in), (normal_fan or width) ** -0.5)}
            return made | ({f"{name}.bias": jnp.zeros((fan_out,), dtype)} if bias else {})

        by_torch = self.initialization == "torch"
        made: Parameters = {"embedding": normal((tokens, width), 1.0 if by_torch else width**-0.5)}
        if self.positions == "learned":
            made["positions"] = normal((self._length(signature), width), 1.0 if by_torch else width**-0.5)
        for i in range(self.layers):
            for name in PROJECTIONS:
                made |= layer(f"blocks.attention.{i}.{name}", width, width, False)
            made |= layer(f"blocks.mlp.{i}.in", width, hidden, self.biases)
            made |= layer(f"blocks.mlp.{i}.out", hidden, width, self.biases)
        norms = {"none": 0, "post": 2 * self.layers, "pre": 2 * self.layers + 1}[self.layer_norm]
        for i in range(norms):
            made |= {f"norms.{i}.weight": jnp.ones((width,), dtype), f"norms.{i}.bias": jnp.zeros((width,), dtype)}
        if not self.tied:
            made |= layer("unembedding", width, self._outputs(signature), False, tokens)
        return made

    def apply(self, parameters: Parameters, inputs: Any, signature: Signature, noise: Noise | None = None) -> Any:
        xp = namespace(parameters["embedding"])
        x = rows_of(parameters["embedding"], self.sequence(inputs, signature))  # (row, S) -> (row, T, d)
        if self.positions == "learned":
            x = x + parameters["positions"][None]
        else:
            x = x + xp.asarray(sinusoidal(x.shape[1], self.width), x.dtype)[None]
        norm = lambda i, x: _normalize(parameters, i, x)  # noqa: E731
        for i in range(self.layers):
            # Only the last position is read in the end, so the last block asks for nothing else.
            asked = x if i < self.layers - 1 else x[:, -1:]
            before = (lambda j, x: norm(j, x)) if self.layer_norm == "pre" else (lambda j, x: x)
            after = (lambda j, x: norm(j, x)) if self.layer_norm == "post" else (lambda j, x: x)
            x = after(2 * i, asked + self._attend(parameters, i, before(2 * i, asked), before(2 * i, x)))
            z = activation(self.activation)(dense(parameters, f"blocks.mlp.{i}.in", before(2 * i + 1, x)))
            change = dense(parameters, f"blocks.mlp.{i}.out", z)
            x = after(2 * i + 1, x + (change if noise is None else noise.drop(change, i)))
        last = norm(2 * self.layers, x)[:, 0] if self.layer_norm == "pre" else x[:, 0]
        return last @ parameters["embedding"].T if self.tied else dense(parameters, "unembedding", last)

    def _attend(
        self, parameters: Parameters, i: int, asked: Float[Any, "row Q d"], x: Float[Any, "row T d"]
    ) -> Float[Any, "row Q d"]:
        """Causal attention of the last Q positions to all."""
        xp = namespace(x)
        rows, queries, length = asked.shape[0], asked.shape[1], x.shape[1]
        of = f"blocks.attention.{i}"
        split = lambda y: y.reshape(rows, -1, self.heads, self.width // self.heads).swapaxes(1, 2)  # noqa: E731
        q, k, v = (split(dense(parameters, f"{of}.{n}", y)) for n, y in (("query", asked), ("key", x), ("value", x)))
        scores = q @ k.swapaxes(2, 3) * (self.width // self.heads) ** -0.5  # (row, head, Q, T)
        later = np.arange(length)[None, :] > np.arange(length - queries, length)[:, None]
        scores = xp.where(later[None, None], xp.full_like(scores, -xp.inf), scores)
        weights = xp.exp(scores - scores.max(axis=-1, keepdims=True))
        z = (weights / weights.sum(axis=-1, keepdims=True)) @ v
        return dense(parameters, f"{of}.output", z.swapaxes(1, 2).reshape(rows, queries, self.width))

    def cost(self, signature: Signature) -> Cost:
        length, width, hidden = self._length(signature), self.width, self.hidden or 4 * self.width
        block = 4 * width * width + 2 * width * hidden
        outside = self._tokens(signature) * width * (1 if self.tied else 2)
        flops = 2 * length * self.layers * block + 2 * width * self._tokens(signature)
        activations = self.layers * length * (6 * width + 2 * hidden + self.heads * length)
        return Cost(flops, self.layers * block + outside, activations)


def sinusoidal(length: int, width: int) -> Float[np.ndarray, "T d"]:
    r"""$\sin(t / 10000^{i/d})$ at even i, $\cos(t / 10000^{(i-1)/d})$ at odd i."""
    t, i = np.arange(length)[:, None], np.arange(width)[None, :]
    angle = t / 10000 ** ((i - i % 2) / width)
    return np.where(i % 2 == 0, np.sin(angle), np.cos(angle))


def _numbers(signature: Signature) -> int:
    return max(*signature.sizes, signature.outputs)


def _normalize(parameters: Parameters, i: int, x: Float[Any, "row T d"]) -> Float[Any, "row T d"]:
    """LayerNorm with PyTorch's 1e-5."""
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    normed = (x - mean) / namespace(x).sqrt(variance + 1e-5)
    return normed * parameters[f"norms.{i}.weight"][None, None] + parameters[f"norms.{i}.bias"][None, None]
