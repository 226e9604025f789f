r"""The paper's network (`eq_h1`, `eq_h2`): two layers, no biases, evaluated on integers instead of one-hot vectors.

A one-hot input picks one column of each block of $W^{(1)}$, so $W^{(1)}x$ is a sum of S looked-up columns:
no one-hot matrix is ever built. Prefactors are those of a parametrization:

| name | $h^{(1)}$ | $h^{(2)}$ | weights at initialization |
|---|---|---|---|
| `mean-field` (the paper, `eq_h1`, `eq_h2`) | $W^{(1)}x/\sqrt D$ | $W^{(2)}z/N$ | $\mathcal N(0, 1)$ |
| `standard` (the follow-up papers) | $W^{(1)}x$ | $W^{(2)}z$ | $\mathcal N(0, (16N)^{-2/3})$ |
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from modgrok.arrays import namespace
from modgrok.errors import ModgrokError
from modgrok.networks.activation import activation, activation_name, activation_setting
from modgrok.networks.architecture import Architecture, Cost, Noise, Parameters, register
from modgrok.networks.network import Network
from modgrok.networks.taps import tap
from modgrok.setting import setting
from modgrok.shapes import Float, Inexact, Integer
from modgrok.tasks import Signature

PARAMETRIZATIONS = ("mean-field", "standard")
VARIANCE_FLOOR = 1e-10
"""Added to the variance of a preactivation before it is divided by: far below the 1/p of random weights."""


class Scales(NamedTuple):
    """The numbers a parametrization fixes for input dimension D = Σ sizes and width N."""

    hidden: float
    """Prefactor of the first layer's preactivations."""
    output: float
    """Prefactor of the second layer's preactivations."""
    initial: float
    """Standard deviation of both weight matrices at initialization."""


class Normalization(NamedTuple):
    """Batch statistics that standardize the first preactivations, for networks trained with batch normalization."""

    mean: Inexact[Any, "N"]
    std: Inexact[Any, "N"]


@register
@dataclass(frozen=True)
class TwoLayer(Architecture):
    r"""$f(x) = W^{(2)} \phi(W^{(1)} x)$ with the parametrization's prefactors.

    Parameters lie as training reads them: `columns` (S, p, N), one contiguous row for each look-up, and `readout`
    (q, N). They are stored as `w_in` (N, S, p) and `w_out` (q, N).
    """

    name: ClassVar[str] = "two-layer"
    summary: ClassVar[str] = "the paper's: one hidden layer, no biases, the activation squared"
    loss: ClassVar[str] = "mse"
    block_rows: ClassVar[tuple[int, ...]] = (128, 264)
    has_waves: ClassVar[bool] = True
    starts_large: ClassVar[bool] = True
    h200_flops: ClassVar[float] = 5e13
    divisible: ClassVar[bool] = True
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {"in": ("columns",), "out": ("readout",)}

    width: int = setting(500, "N, the number of hidden neurons", "[1, 1000000000000]")
    activation: str = activation_setting("quadratic")
    parametrization: str = setting(
        "mean-field", "mean-field (the paper's prefactors) or standard (none)", choices=lambda: PARAMETRIZATIONS
    )
    batch_norm: bool = setting(False, "Normalize the first preactivations over the batch")

    def __post_init__(self) -> None:
        activation(self.activation)
        scales(self.parametrization, 1, 1)

    def check(self, signature: Signature) -> None:
        if not signature.sizes:
            raise ModgrokError("The network two-layer reads numbers, but this task has real vectors; use mlp.")

    def shapes(self, signature: Signature) -> dict[str, tuple[int, ...]]:
        columns = (len(signature.sizes), max(signature.sizes), self.width)
        return {"columns": columns, "readout": (signature.outputs, self.width)}

    def scales(self, signature: Signature) -> Scales:
        """Prefactors for a task."""
        return scales(self.parametrization, sum(signature.sizes), self.width)

    def natural_rate(self, rate: float, descends: bool, signature: Signature, loss: str) -> float:
        """Other parametrizations hold weights that are smaller by $c = (a^2 b)^{1/3}$, a and b the paper's prefactors;
        the same path then needs a rate smaller by c² for gradient descent and by c for Adam. The gradient of other
        losses than the mean squared error is q/2 times as large, since that one is averaged over outputs."""
        dimension = sum(signature.sizes)
        if descends:
            rate *= (max(signature.sizes) / 97) ** 3 * (self.width / 500)
            if self.batch_norm:
                # Normalized preactivations are √(D/2) larger than the paper's, their squares and gradients D/2.
                rate *= 2 / dimension
            if loss != "mse":
                rate *= 2 / signature.outputs
        if self.parametrization != "mean-field":
            paper = scales("mean-field", dimension, self.width)
            c = (paper.hidden**2 * paper.output) ** (1 / 3)
            rate *= c**2 if descends else c
        return float(f"{rate:.6g}")

    def last_layer(self, parameters: Parameters) -> Any:
        return parameters["readout"]

    def input_weights(self, parameters: Parameters, signature: Signature) -> Any:
        return self.tensors(parameters)["w_in"]

    def init(self, key: Any, signature: Signature, scale: Any, dtype: Any) -> Parameters:
        import jax
        import jax.numpy as jnp

        deviation = jnp.asarray(self.scales(signature).initial * scale, dtype)
        of_columns, of_readout = jax.random.split(key)
        shapes = self.shapes(signature)
        return {
            "columns": deviation * jax.random.normal(of_columns, shapes["columns"], dtype),
            "readout": deviation * jax.random.normal(of_readout, shapes["readout"], dtype),
        }

    def apply(self, parameters: Parameters, inputs: Any, signature: Signature, noise: Noise | None = None) -> Any:
        h = tap("preactivations", self.hidden(parameters, inputs, signature, noise))
        return self.read_out(parameters, h, signature, noise)

    def hidden(
        self, parameters: Parameters, inputs: Integer[Any, "row S"], signature: Signature, noise: Noise | None = None
    ) -> Inexact[Any, "row N"]:
        r"""First preactivations $h^{(1)}_k$ (`eq_h1`), standardized where there is batch normalization: by the batch
        in training, by the statistics of the training set afterwards."""
        h = look_up(parameters["columns"] * self.scales(signature).hidden, inputs)
        if not self.batch_norm:
            return h
        known = "mean" in parameters
        mean, std = (
            (parameters["mean"], parameters["std"]) if known or noise is None else batch_statistics(h, noise.weight)
        )
        return (h - mean[None, :]) / std[None, :]

    def read_out(
        self, parameters: Parameters, h: Inexact[Any, "row N"], signature: Signature, noise: Noise | None = None
    ) -> Inexact[Any, "row answer"]:
        r"""Second preactivations $h^{(2)}_q$ (`eq_h2`) from the first; the real part where the weights are complex."""
        z = tap("hidden", activation(self.activation)(h))
        z = z if noise is None else noise.drop(z)
        out = z @ (parameters["readout"] * self.scales(signature).output).T
        return out.real if out.dtype.kind == "c" else out

    def settle(self, parameters: Parameters, inputs: Any, weight: Any, signature: Signature) -> Parameters:
        if not self.batch_norm:
            return parameters
        h = look_up(parameters["columns"] * self.scales(signature).hidden, inputs)
        return parameters | Normalization(*batch_statistics(h, weight))._asdict()

    def cost(self, signature: Signature) -> Cost:
        inputs, outputs = len(signature.sizes) * max(signature.sizes), signature.outputs
        return Cost(2 * self.width * outputs, self.width * (inputs + outputs), self.width)

    def facts(self, parameters: Parameters, signature: Signature) -> dict[str, Any]:
        norm = Normalization(parameters["mean"], parameters["std"]) if "mean" in parameters else None
        return {"scales": self.scales(signature), "normalization": norm}

    def tensors(self, parameters: Parameters) -> Parameters:
        w_in = parameters["columns"].transpose(2, 0, 1)
        rest = {name: value for name, value in parameters.items() if name not in ("columns", "readout")}
        return {"w_in": w_in, "w_out": parameters["readout"]} | rest

    def from_tensors(self, tensors: Parameters) -> Parameters:
        rest = {name: value for name, value in tensors.items() if name in ("mean", "std")}
        return {"columns": tensors["w_in"].transpose(1, 2, 0), "readout": tensors["w_out"]} | rest


def two_layer(
    w_in: Inexact[Any, "N S p"],
    w_out: Inexact[Any, "q N"],
    activation: str = "quadratic",
    parametrization: str = "mean-field",
    normalization: Normalization | None = None,
) -> Network:
    """The paper's network with given weights."""
    architecture = TwoLayer(w_in.shape[0], activation_name(activation), parametrization, normalization is not None)
    rest = {} if normalization is None else normalization._asdict()
    signature = Signature((w_in.shape[2],) * w_in.shape[1], w_out.shape[0])
    return Network(architecture, signature, architecture.from_tensors({"w_in": w_in, "w_out": w_out} | rest))


def hidden(network: Network, inputs: Integer[Any, "row S"]) -> Inexact[Any, "row N"]:
    r"""First preactivations $h^{(1)}_k$ of the paper's network."""
    assert isinstance(network.architecture, TwoLayer)
    return network.architecture.hidden(network.parameters, inputs, network.signature)


def scales(parametrization: str, input_dimension: int, width: int) -> Scales:
    """Prefactors and initial standard deviation of a parametrization."""
    if parametrization == "mean-field":
        return Scales(input_dimension**-0.5, 1 / width, 1.0)
    if parametrization == "standard":
        return Scales(1.0, 1.0, (16 * width) ** (-1 / 3))
    raise ModgrokError(f"parametrization must be one of {', '.join(PARAMETRIZATIONS)}, not {parametrization!r}.")


def look_up(columns: Inexact[Any, "S p N"], inputs: Integer[Any, "row S"]) -> Inexact[Any, "row N"]:
    r"""$W^{(1)} x$ for inputs given as integers: the sum of one looked-up row for each variable."""
    if namespace(columns).__name__ == "numpy":
        rows = [table[values] for table, values in zip(columns, inputs.T, strict=True)]
    else:
        rows = [columns[s].at[inputs[:, s]].get(mode="promise_in_bounds") for s in range(columns.shape[0])]
    h = rows[0]
    for row in rows[1:]:
        h = h + row
    return h


def batch_statistics(h: Float[Any, "row N"], weight: Float[Any, "row"]) -> tuple[Any, Any]:
    """Weighted mean and standard deviation of every preactivation."""
    mean = (weight[:, None] * h).sum(axis=0)
    variance = (weight[:, None] * (h - mean[None, :]) ** 2).sum(axis=0)
    return mean, namespace(h).sqrt(variance + VARIANCE_FLOOR)
