r"""A decoder-only transformer that reads "n m =" and answers at the last position.

The one-layer model of Nanda et al. (arXiv 2301.05217) is the default: no LayerNorm, learned positions, biases in the
MLP alone. That of Power et al. (arXiv 2201.02177) is `layers=2, layer_norm="post", positions="sinusoidal",
biases=False, framed=True, initialization="torch", vocabulary=239`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from modgrok.arrays import namespace
from modgrok.errors import ModgrokError
from modgrok.networks.activation import activation, activation_setting
from modgrok.networks.architecture import Architecture, Cost, Noise, Parameters, register
from modgrok.networks.layers import dense, init_dense, rows_of
from modgrok.networks.prefixes import EACH, FIXED, Prefixes
from modgrok.networks.taps import tapped
from modgrok.setting import setting
from modgrok.shapes import Float
from modgrok.tasks import Signature

PROJECTIONS = ("query", "key", "value", "output")


@register
@dataclass(frozen=True)
class Transformer(Architecture):
    """`layers` blocks on vectors of length `width`; outputs are logits of the whole vocabulary, the answers first."""

    name: ClassVar[str] = "transformer"
    summary: ClassVar[str] = "a decoder with attention, as Power et al. and Nanda et al. train it"
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "embedding": ("embedding", "positions"),
        "attention": ("blocks.attention",),
        "mlp": ("blocks.mlp",),
        "unembedding": ("unembedding",),
    }
    least_rows: ClassVar[int] = 512

    width: int = setting(128, "Length of the residual vectors", "[1, 1000000000000]")
    layers: int = setting(1, "Number of blocks", "[1, 1000]")
    heads: int = setting(4, "Attention heads of each block", "[1, 1000000]")
    hidden: int | None = setting(None, "Neurons of each MLP, by default four times the width", "[1, 1000000000]")
    activation: str = activation_setting("relu")
    positions: Literal["learned", "sinusoidal"] = setting("learned", "Positional embeddings")
    layer_norm: Literal["none", "pre", "post"] = setting("none", "Where LayerNorm is applied")
    biases: bool = setting(True, "Whether layers have biases; a transformer has them only in its MLPs")
    attention_biases: bool = setting(False, "Also use biases in attention and unembedding")
    bidirectional: bool = setting(False, "Attend to all positions, not only earlier ones")
    tied: bool = setting(False, "Use the embedding as unembedding")
    framed: bool = setting(False, 'Read "mark n op m =" instead of "n m =", as Power et al. do')
    vocabulary: int | None = setting(
        None, "Tokens with an embedding and a logit, by default the numbers and the marks", "[1, 1000000000]"
    )
    initialization: Literal["normal", "torch"] = setting(
        "normal", "Initial weights: normal with variance 1/width (1/vocabulary for the unembedding), or PyTorch's"
    )

    def __post_init__(self) -> None:
        activation(self.activation)
        if self.width % self.heads:
            raise ModgrokError(f"width ({self.width}) must be divisible by heads ({self.heads}).")

    def check(self, signature: Signature) -> None:
        if not signature.sizes:
            raise ModgrokError("The network transformer reads numbers, but this task has real vectors; use mlp.")
        numbers, least = _numbers(signature), _numbers(signature) + self._marks
        if self.vocabulary is not None and self.vocabulary < least:
            raise ModgrokError(
                f"The vocabulary holds {numbers} numbers and {least - numbers} marks, and {self.vocabulary} is less "
                f"than {least}."
            )

    @property
    def _marks(self) -> int:
        return 3 if self.framed else 1

    def _tokens(self, signature: Signature) -> int:
        return self.vocabulary or _numbers(signature) + self._marks

    def _length(self, signature: Signature) -> int:
        return len(signature.sizes) + self._marks

    def _sequence(self, signature: Signature) -> list[tuple[int, int]]:
        """Position by position the variable that stands there, or which mark; the marks come after the numbers in the
        vocabulary: =, then operator and frame."""
        equals, operator, frame = ((FIXED, _numbers(signature) + i) for i in range(3))
        first, *others = ((s, 0) for s in range(len(signature.sizes)))
        return [frame, first, operator, *others, equals] if self.framed else [first, *others, equals]

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
                made |= layer(f"blocks.attention.{i}.{name}", width, width, self.attention_biases)
            made |= layer(f"blocks.mlp.{i}.in", width, hidden, self.biases)
            made |= layer(f"blocks.mlp.{i}.out", hidden, width, self.biases)
        norms = {"none": 0, "post": 2 * self.layers, "pre": 2 * self.layers + 1}[self.layer_norm]
        for i in range(norms):
            made |= {f"norms.{i}.weight": jnp.ones((width,), dtype), f"norms.{i}.bias": jnp.zeros((width,), dtype)}
        if not self.tied:
            outputs = tokens if signature.outputs > 1 else 1  # a task whose outputs are not answers has just those
            made |= layer("unembedding", width, outputs, self.attention_biases, tokens)
        return made

    def apply(self, parameters: Parameters, inputs: Any, signature: Signature, noise: Noise | None = None) -> Any:
        dropping = noise is not None and noise.rate is not None
        x = self._embed(parameters, inputs, signature)
        for i in range(self.layers):
            # Only the last position is read in the end, so the last block asks for nothing else.
            count = len(x.on) if i < self.layers - 1 or tapped() else 1
            asked = x.asked(count, dropping)
            attended = asked.tap(f"blocks.{i}.attention", self._attend(parameters, i, x, asked.on))
            h = asked.tap(f"blocks.{i}.middle", self._norm("post", parameters, 2 * i, asked.values + attended))
            z = dense(parameters, f"blocks.mlp.{i}.in", self._norm("pre", parameters, 2 * i + 1, h))
            z = activation(self.activation)(asked.tap(f"blocks.{i}.preactivations", z))
            change = dense(parameters, f"blocks.mlp.{i}.out", asked.tap(f"blocks.{i}.hidden", z))
            change = asked.tap(f"blocks.{i}.mlp", change)
            if dropping:
                assert noise is not None
                by_example = change.reshape(count, -1, self.width).swapaxes(0, 1)
                change = noise.drop(by_example, i).swapaxes(0, 1).reshape(change.shape)
            after = self._norm("post", parameters, 2 * i + 1, h + change)
            x = asked._replace(values=asked.tap(f"blocks.{i}.residual", after))
        if tapped():
            x = x._replace(values=x.last(1), on=x.on[-1:])
        last = x.spread(self._norm("pre", parameters, 2 * self.layers, x.values), x.on[0], EACH)
        return last @ parameters["embedding"].T if self.tied else dense(parameters, "unembedding", last)

    def _embed(self, parameters: Parameters, inputs: Any, signature: Signature) -> Prefixes:
        """Tokens and positions; a variable with more values than there are examples has a row for each example."""
        embedding = parameters["embedding"]
        xp, vectors, ons = namespace(embedding), [], []
        at = parameters.get("positions")
        if at is None:
            at = xp.asarray(sinusoidal(self._length(signature), self.width), embedding.dtype)
        for t, (on, mark) in enumerate(self._sequence(signature)):
            if on == FIXED:
                rows = embedding[mark : mark + 1]
            elif signature.sizes[on] <= inputs.shape[0] and not tapped():
                rows = embedding[: signature.sizes[on]]
            else:
                rows, on = rows_of(embedding, inputs[:, on]), EACH
            vectors.append(rows + at[t : t + 1])
            ons.append(on)
        x = Prefixes(xp.concatenate(vectors), tuple(ons), inputs, signature.sizes, not self.bidirectional)
        if tapped():
            x = x.asked(len(ons), True)
        return x._replace(values=x.tap("embedding", x.values))

    def _attend(self, parameters: Parameters, i: int, x: Prefixes, to: tuple[int, ...]) -> Float[Any, "more d"]:
        of = f"blocks.attention.{i}"
        x = x._replace(values=self._norm("pre", parameters, 2 * i, x.values))
        q = dense(parameters, f"{of}.query", x.last(len(to)))
        k, v = (dense(parameters, f"{of}.{name}", x.values) for name in ("key", "value"))
        return dense(parameters, f"{of}.output", x.attend(to, q, k, v, self.heads, f"blocks.{i}"))

    def _norm(self, place: str, parameters: Parameters, i: int, x: Float[Any, "rows d"]) -> Float[Any, "rows d"]:
        """LayerNorm with PyTorch's 1e-5, where this network has one."""
        if self.layer_norm != place:
            return x
        mean = x.mean(axis=-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
        normed = (x - mean) / namespace(x).sqrt(variance + 1e-5)
        return normed * parameters[f"norms.{i}.weight"][None] + parameters[f"norms.{i}.bias"][None]

    def last_layer(self, parameters: Parameters) -> Any:
        return parameters["embedding" if self.tied else "unembedding.weight"]

    def input_weights(self, parameters: Parameters, signature: Signature) -> Any:
        return parameters["embedding"][: max(signature.sizes)].T[:, None]

    def cost(self, signature: Signature) -> Cost:
        """Of what differs from example to example: vectors that depend on two variables or more."""
        width, hidden, variables = self.width, self.hidden or 4 * self.width, len(signature.sizes)
        attention, mlp = width * width, 2 * width * hidden
        each = self._length(signature) if self.bidirectional else variables if variables > 1 else 0
        products, activations = 0, self._length(signature) * 2 * width
        for i in range(self.layers):
            asked = min(each, 1) if i == self.layers - 1 else each
            products += asked * (attention + mlp) + (0 if i == 0 else (asked + 2 * each) * attention)
            activations += asked * (8 * width + 2 * hidden) + self._length(signature) * 2 * width
        flops = 2 * products + 2 * width * self._tokens(signature)
        outside = self._tokens(signature) * width * (1 if self.tied else 2)
        return Cost(flops, self.layers * (4 * attention + mlp) + outside, activations)


def sinusoidal(length: int, width: int) -> Float[np.ndarray, "T d"]:
    r"""$\sin(t / 10000^{i/d})$ at even i, $\cos(t / 10000^{(i-1)/d})$ at odd i."""
    t, i = np.arange(length)[:, None], np.arange(width)[None, :]
    angle = t / 10000 ** ((i - i % 2) / width)
    return np.where(i % 2 == 0, np.sin(angle), np.cos(angle))


def _numbers(signature: Signature) -> int:
    return max(*signature.sizes, signature.outputs)
