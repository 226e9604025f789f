r"""The two weight matrices before prefactors, and the neurons that every form may need beside its waves.

Neurons that see only how many arguments have no place in the group (zeros, in a product) count them: with z their
number, the neuron $h_j = z - j$ has the activation $(z - j)^S$. For $j = 0, …, S$ these are $S + 1$ independent
polynomials of degree S in z, so some combination of them takes any given values at $z = 0, …, S$. Where every value has
its place, z is always 0 and one constant neuron, $h = 1$, is enough.
"""

from typing import NamedTuple

import numpy as np

from modgrok.closed_form.frequencies import placed
from modgrok.networks import Network, two_layer
from modgrok.networks.two_layer import scales
from modgrok.shapes import Float, Inexact
from modgrok.tasks.basis import Basis


class Layers(NamedTuple):
    r"""Weights for which $W^{(2)} (W^{(1)} x)^S$, without prefactors, is the one-hot answer or approximates it."""

    w_in: Inexact[np.ndarray, "N S p"]
    w_out: Inexact[np.ndarray, "p N"]


def join(*parts: Layers) -> Layers:
    """Neurons of several closed forms side by side: their outputs add."""
    return Layers(np.concatenate([part.w_in for part in parts]), np.concatenate([part.w_out for part in parts], axis=1))


def as_network(layers: Layers, activation: str, parametrization: str, dtype: np.dtype) -> Network:
    r"""Both matrices times $c$, with $c^{S+1} a^S b = 1$ for the parametrization's prefactors a and b.

    The output of the activation $x^S$ is then that of the bare weights; any other activation sees the same weights.
    """
    width, arity, modulus = layers.w_in.shape
    prefactors = scales(parametrization, arity * modulus, width)
    c = (prefactors.hidden**arity * prefactors.output) ** (-1 / (arity + 1))
    return two_layer(
        (c * layers.w_in).astype(dtype, copy=False),
        (c * layers.w_out).astype(dtype, copy=False),
        activation,
        parametrization,
    )


def has_zeros(coordinate: Basis) -> bool:
    """Whether some value of some variable has no place in the group."""
    return any((index < 0).any() for index in coordinate.index)


def neurons_for_zeros(coordinate: Basis) -> int:
    """How many neurons `by_zeros` writes."""
    return len(coordinate.index) + 1 if has_zeros(coordinate) else 1


def by_zeros(coordinate: Basis, values: Float[np.ndarray, "zeros p"]) -> Layers:
    """Neurons whose output is `values[z]` for every input with z arguments that have no place."""
    arity, modulus = len(coordinate.index), len(coordinate.index[0])
    if not has_zeros(coordinate):
        return Layers(np.full((1, arity, modulus), 1 / arity), values[:1].T)
    counts = np.arange(arity + 1)
    w_in = (1 - placed(coordinate)) - counts[:, None, None] / arity
    activations = (counts[:, None] - counts[None, :]).astype(np.float64) ** arity  # (z, j)
    return Layers(w_in, np.linalg.solve(activations, values).T)


def answer_at_zero(coordinate: Basis) -> Float[np.ndarray, "zeros p"]:
    """One-hot of the answer at zero wherever some argument has no place, and nothing elsewhere."""
    values = np.zeros((len(coordinate.index) + 1, len(coordinate.index[0])))
    if coordinate.at_zero is not None:
        values[1:, coordinate.at_zero] = 1
    return values
