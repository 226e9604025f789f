r"""The paper's network (`eq_h1`, `eq_h2`): two layers, no biases, evaluated on integers instead of one-hot vectors.

A one-hot input picks one column of each block of $W^{(1)}$, so $W^{(1)}x$ is a sum of S looked-up columns:
no one-hot matrix is ever built. The arrays may be NumPy's (closed forms, measures) or JAX's (training).
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Inexact, Integer

from modgrok.arrays import namespace
from modgrok.errors import ModgrokError
from modgrok.networks.activation import activation, degree
from modgrok.networks.parametrization import Scales, scales


@dataclass(frozen=True, eq=False)
class Normalization:
    """Batch statistics that standardize the first preactivations, for networks trained with batch normalization."""

    mean: Inexact[Any, "N"]
    std: Inexact[Any, "N"]


@dataclass(frozen=True, eq=False)
class Network:
    r"""$f(x) = W^{(2)} \phi(W^{(1)} x)$ with the parametrization's prefactors; trained or written down."""

    w_in: Inexact[Any, "N S p"]
    r"""$W^{(1)}$: for every neuron one block of length p for each variable."""
    w_out: Inexact[Any, "p N"]
    r"""$W^{(2)}$: for every answer q its weight on each neuron."""
    activation: str = "quadratic"
    parametrization: str = "mean-field"
    normalization: Normalization | None = None

    @property
    def width(self) -> int:
        return self.w_in.shape[0]

    @property
    def arity(self) -> int:
        return self.w_in.shape[1]

    @property
    def modulus(self) -> int:
        return self.w_in.shape[2]

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.w_in.dtype)

    @property
    def scales(self) -> Scales:
        return scales(self.parametrization, self.arity * self.modulus, self.width)


def hidden(network: Network, inputs: Integer[Any, "input S"]) -> Inexact[Any, "input N"]:
    r"""First preactivations $h^{(1)}_k$ (`eq_h1`), standardized where the network carries batch statistics."""
    columns = network.w_in.transpose(1, 2, 0)  # (N, S, p) -> (S, p, N): one look-up reads one contiguous row
    h = columns[0][inputs[:, 0]]
    for s in range(1, network.arity):
        h = h + columns[s][inputs[:, s]]
    h = h * network.scales.hidden
    if network.normalization is not None:
        h = (h - network.normalization.mean) / network.normalization.std
    return h


def read_out(
    network: Network, h: Inexact[Any, "input N"], answers: slice = slice(None)
) -> Inexact[Any, "input answer"]:
    r"""Second preactivations $h^{(2)}_q$ (`eq_h2`) from the first; the real part where the weights are complex."""
    out = activation(network.activation)(h) @ network.w_out[answers].T * network.scales.output
    return out.real if network.dtype.kind == "c" else out


def outputs(network: Network, inputs: Integer[Any, "input S"]) -> Inexact[Any, "input p"]:
    r"""$h^{(2)}_q(n, m)$ for every input and every answer q."""
    return read_out(network, hidden(network, inputs))


def as_numpy(network: Network, dtype: Any = None) -> Network:
    """The same network on NumPy arrays, in another precision if asked."""

    def convert(x: Any) -> np.ndarray:
        return np.asarray(x, dtype=dtype)

    norm = network.normalization
    return dataclasses.replace(
        network,
        w_in=convert(network.w_in),
        w_out=convert(network.w_out),
        normalization=None if norm is None else Normalization(convert(norm.mean), convert(norm.std)),
    )


def reparametrize(network: Network, parametrization: str) -> Network:
    r"""The same function with the prefactors of another parametrization absorbed into the weights.

    For $\phi(cx) = c^d\phi(x)$ both matrices are multiplied by the same number $c$ with
    $c^{d+1} = a^d b / (a'^d b')$, where a, b are the old prefactors and a', b' the new ones.
    """
    if parametrization == network.parametrization:
        return network
    d = degree(network.activation)
    if d is None:
        raise ModgrokError(
            f"Weights convert between parametrizations only for homogeneous activations (quadratic, relu, abs, x^d), "
            f"and {network.activation} is not one."
        )
    if network.normalization is not None:
        raise ModgrokError("Weights of a network with batch normalization do not convert between parametrizations.")
    old, new = network.scales, scales(parametrization, network.arity * network.modulus, network.width)
    c = ((old.hidden / new.hidden) ** d * old.output / new.output) ** (1 / (d + 1))
    return dataclasses.replace(network, w_in=network.w_in * c, w_out=network.w_out * c, parametrization=parametrization)


def grid(modulus: int, arity: int, start: int = 0, stop: int | None = None) -> Integer[np.ndarray, "input S"]:
    """Inputs number `start` to `stop` of all p^S, in the order of a raveled table."""
    index = np.arange(start, modulus**arity if stop is None else stop)
    return np.stack(np.unravel_index(index, (modulus,) * arity), axis=1)


def parameter_norms(network: Network) -> tuple[Any, Any]:
    r"""Frobenius norms of $W^{(1)}$ and $W^{(2)}$."""
    xp = namespace(network.w_in)
    return xp.sqrt((abs(network.w_in) ** 2).sum()), xp.sqrt((abs(network.w_out) ** 2).sum())
