"""The two weight matrices before prefactors: what every closed form writes down first."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Inexact

from modgrok.networks import Network, two_layer
from modgrok.networks.two_layer import scales


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
