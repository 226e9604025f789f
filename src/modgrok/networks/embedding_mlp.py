"""A learnable vector for every number, summed, side by side or multiplied, then a perceptron (arXiv 2205.10343)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Literal

from modgrok.arrays import namespace
from modgrok.errors import ModgrokError
from modgrok.networks.activation import activation, activation_setting
from modgrok.networks.architecture import Architecture, Cost, Noise, Parameters, register
from modgrok.networks.layers import Perceptron, dense, rows_of
from modgrok.networks.taps import tap
from modgrok.setting import setting
from modgrok.shapes import Float
from modgrok.tasks import Signature


@register
@dataclass(frozen=True)
class EmbeddingMLP(Architecture):
    r"""$f(n, m) = \mathrm{MLP}(E_n + E_m)$, of $(E_n, E_m)$, or of $E_n E_m$, a product of square matrices; all
    variables share the embedding.

    Embeddings start uniform between ±½, the decoder as PyTorch's layers do.
    """

    name: ClassVar[str] = "embedding-mlp"
    summary: ClassVar[str] = (
        "a learnable vector for every number, summed, side by side or multiplied, then hidden layers"
    )
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {"embedding": ("embedding",), "decoder": ("decoder",)}
    divisible: ClassVar[bool] = True

    width: int = setting(200, "N, the number of hidden neurons", "[1, 1000000000000]")
    depth: int = setting(2, "Number of hidden layers", "[1, 1000]")
    activation: str = activation_setting("relu")
    embedding: int = setting(64, "Length of the embedding vectors", "[1, 1000000000]")
    combine: Literal["sum", "concat", "product"] = setting(
        "sum", "Whether vectors are added, concatenated, or multiplied as square matrices"
    )
    biases: bool = setting(True, "Whether layers have biases; a transformer has them only in its MLPs")

    def __post_init__(self) -> None:
        activation(self.activation)
        if self.combine == "product" and math.isqrt(self.embedding) ** 2 != self.embedding:
            raise ModgrokError(
                f"Multiplied embeddings are square matrices: embedding must be 4, 9, 16, …, not {self.embedding}."
            )

    def check(self, signature: Signature) -> None:
        if not signature.sizes:
            raise ModgrokError("The network embedding-mlp reads numbers, but this task has real vectors; use mlp.")

    def _decoder(self, signature: Signature) -> Perceptron:
        first = self.embedding * (len(signature.sizes) if self.combine == "concat" else 1)
        widths = (first, *[self.width] * self.depth, signature.outputs)
        return Perceptron("decoder", widths, self.activation, self.biases)

    def init(self, key: Any, signature: Signature, scale: Any, dtype: Any) -> Parameters:
        import jax
        import jax.numpy as jnp

        of_embedding, of_decoder = jax.random.split(key)
        shape = (max(signature.sizes), self.embedding)
        vectors = jax.random.uniform(of_embedding, shape, dtype, -0.5, 0.5) * jnp.asarray(scale, dtype)
        return {"embedding": vectors} | self._decoder(signature).init(of_decoder, scale, dtype)

    def apply(self, parameters: Parameters, inputs: Any, signature: Signature, noise: Noise | None = None) -> Any:
        vectors = tap("embedding", rows_of(parameters["embedding"], inputs))  # (row, S) -> (row, S, d)
        joined = tap("joined", self._join(vectors).reshape(len(inputs), -1))
        first = dense(parameters, "decoder.0", namespace(joined).asarray(joined))
        return self._decoder(signature).apply(parameters, first, noise)

    def _join(self, vectors: Float[Any, "row S d"]) -> Float[Any, "row ..."]:
        """What the decoder reads. Matrices are multiplied in the order of the variables."""
        if self.combine != "product":
            return vectors.sum(axis=1) if self.combine == "sum" else vectors
        side = math.isqrt(self.embedding)
        matrices = vectors.reshape(*vectors.shape[:2], side, side)
        return reduce(lambda left, right: left @ right, (matrices[:, s] for s in range(vectors.shape[1])))

    def last_layer(self, parameters: Parameters) -> Any:
        return parameters[f"decoder.{self.depth}.weight"]

    def input_weights(self, parameters: Parameters, signature: Signature) -> Any:
        return parameters["embedding"].T[:, None]

    def cost(self, signature: Signature) -> Cost:
        decoder = self._decoder(signature).cost
        numbers = max(signature.sizes) * self.embedding
        read = len(signature.sizes) * self.embedding
        return Cost(decoder.flops + read, decoder.parameters + numbers, decoder.activations + read)
