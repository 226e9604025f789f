r"""Norms of weights: what gradient flow keeps, how far they grow, losses against them, and the time that decay takes.

For an activation with $\phi(cx) = c^d\phi(x)$ the output is homogeneous in each layer of every neuron: of degree d in
its row of $W^{(1)}$, of degree 1 in its column of $W^{(2)}$. Under gradient flow with one rate for both layers

$$\frac{d}{dt}\|W^{(1)}_k\|^2 = -2d\sum\frac{\partial L}{\partial f}f_k = d\,\frac{d}{dt}\|W^{(2)}_k\|^2,$$

$f_k$ the neuron's part of the output, whatever the loss, the data and the prefactors, so $\|W^{(1)}_k\|^2 -
d\|W^{(2)}_k\|^2$ stays. Steps of size η change it by $\eta^2(\|g^{(1)}_k\|^2 - d\|g^{(2)}_k\|^2)$ each; decay at the
rate λ shrinks it as $e^{-2\lambda t}$.

Decoupled decay γ at the rate η shrinks weights that the gradient leaves alone by $1 - \eta\gamma$ a step. From the norm
$w_0$ they reach $w_c$ after $t = \ln(w_0/w_c) / (\eta\gamma)$ steps.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.networks import Network
from modgrok.networks.activation import degree
from modgrok.shapes import Float, Inexact


def conserved(network: Network) -> Float[Any, "N"]:
    r"""$\|W^{(1)}_k\|^2 - d\|W^{(2)}_k\|^2$ of every neuron; d = 2 for the quadratic activation.

    Zero on average at the paper's initialization and in its closed form: the layers' norms stand at √2 in both.
    """
    d = degree(network.activation)
    if d is None or network.normalization is not None:
        raise ModgrokError(
            f"Gradient flow conserves a norm for homogeneous activations without batch normalization (quadratic, relu, "
            f"abs, x^d), and this network has {network.activation}."
        )
    return _squares(network.w_in).sum(axis=(1, 2)) - d * _squares(network.w_out).sum(axis=0)


def norm_growth(network: Network) -> float:
    r"""$\|W\|/\|W\|_0$: the norm of all weights over what it is on average at initialization.

    $(2D)^{1/3}/\sqrt2$ for Claim I in the paper's parametrization, 5.16 at p = 97: a network that finds it grows so.
    """
    total = _squares(network.w_in).sum() + _squares(network.w_out).sum()
    count = network.w_in.size + network.w_out.size
    return float(np.sqrt(total / count) / network.scales.initial)


def _squares(w: Inexact[Any, "*shape"]) -> Float[Any, "*shape"]:
    return abs(w) ** 2


def whole_norm(history: Mapping[str, Any]) -> Float[np.ndarray, "evaluation"]:
    """The norm of all weights on the way, from the curves of a run."""
    return np.sqrt(np.sum([values**2 for name, values in history.items() if name.startswith("norm_")], axis=0))


def critical_norm(norms: Sequence[float], accuracies: Sequence[float], level: float) -> float | None:
    """The largest norm up to which the accuracy reaches a level, in logarithms between two norms; None where it never
    does, or does so at the last."""
    pairs = list(zip(norms, accuracies, strict=True))
    for (a, at_a), (b, at_b) in reversed(list(pairwise(pairs))):
        if at_a >= level > at_b:
            share = (at_a - level) / (at_a - at_b)
            return float(math.exp(math.log(a) + share * (math.log(b) - math.log(a))))
    return None


def decay_time(begin: float, end: float, lr: float, decay: float) -> float:
    """The steps of the formula above."""
    return math.log(begin / end) / (lr * decay)
