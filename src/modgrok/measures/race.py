r"""The race of representations inside every neuron, from its initial weights alone.

Write every block of a neuron through $\hat u = \sum_gu(g)\rho(g)$. While the outputs are small, the mean squared error
of the quadratic network on a group is a constant less a sum of $\mathrm{tr}\,\hat u\hat v\hat w^T$ over neurons and
representations (and terms of the means), so gradient flow is, in a common unit of time,

$$\dot{\hat u} = r_\rho\,\hat w\hat v^T, \quad \dot{\hat v} = r_\rho\,\hat u^T\hat w, \quad
\dot{\hat w} = r_\rho\,\hat u\hat v, \qquad
r_\rho = 1 - \frac{2a}{d\,|G|^2}\sum_i\mathrm{tr}\,\hat u_i\hat v_i\hat w_i^T,$$

with a the product of the layers' prefactors: representations meet in a neuron only at its size, and neurons only in
what is left to learn, $r_\rho$. Every $\hat u$ blows up in finite time, the one of largest overlap first, and takes the
neuron. There is no free parameter. Means, destructive interference and memorization are left out. See
docs/findings/dealing.md.
"""

from typing import Any, NamedTuple

import numpy as np

from modgrok.measures.vectors import group_blocks
from modgrok.networks import Network
from modgrok.shapes import Float, Integer
from modgrok.tasks.basis import Basis

ENOUGH = 0.1
"""The race is over when no more than this is left to learn of any representation."""


class Race(NamedTuple):
    """How the race ends."""

    representation: Integer[np.ndarray, "N"]
    """The winner in the input blocks of every neuron; never the trivial one."""
    share: Float[np.ndarray, "N"]
    """Its share of their power: how clearly it has won."""


def race(network: Network, basis: Basis) -> Race:
    """Runs the race from a network's weights until everything is learned."""
    from scipy.integrate import solve_ivp

    first, running = _parts(network, basis), basis.representations[1:]
    shapes, cuts = [x.shape for x in first], np.cumsum([x.size for x in first])[:-1]
    factor = 2 * network.scales.hidden**2 * network.scales.output / basis.length**2

    def unpack(state: Float[np.ndarray, "number"]) -> list[np.ndarray]:
        return [x.reshape(shape) for x, shape in zip(np.split(state, cuts), shapes, strict=True)]

    def left(parts: list[np.ndarray]) -> list[float]:
        overlaps = (np.einsum("nij,nij->", u @ v, w) for u, v, w in parts)
        return [1 - factor * x / one.dimension for x, one in zip(overlaps, running, strict=True)]

    def derivative(_: Any, state: Float[np.ndarray, "number"]) -> Float[np.ndarray, "number"]:
        parts = unpack(state)
        return np.concatenate([(r * velocity(x)).reshape(-1) for r, x in zip(left(parts), parts, strict=True)])

    def unfinished(_: Any, state: Float[np.ndarray, "number"]) -> float:
        return max(left(unpack(state))) - ENOUGH

    unfinished.terminal = True  # type: ignore[attr-defined]
    start = np.concatenate([x.reshape(-1) for x in first])
    step = 0.01 * np.linalg.norm(start) / np.linalg.norm(derivative(0.0, start)).clip(1e-300)
    with np.errstate(over="ignore", invalid="ignore"):  # In steps that turn out to be too long.
        solution = solve_ivp(
            derivative, (0, np.inf), start, events=unfinished, rtol=1e-3, atol=1e-3, t_eval=[0], first_step=step
        )
    parts = unpack(solution.y_events[0][0]) if len(solution.y_events[0]) else first
    power = [
        one.dimension / one.type * np.square(x[:2]).sum(axis=(0, 2, 3)) for one, x in zip(running, parts, strict=True)
    ]
    shares = np.stack(power, axis=1)
    return Race(shares.argmax(axis=1) + 1, shares.max(axis=1) / shares.sum(axis=1).clip(1e-300))


def largest_overlap(network: Network, basis: Basis) -> Integer[np.ndarray, "N"]:
    """The representation of largest overlap in every neuron: whom a race would name that ends as it begins."""
    overlaps = [np.einsum("nij,nij->n", u @ v, w) for u, v, w in _parts(network, basis)]
    return np.stack(overlaps, axis=1).argmax(axis=1) + 1


def _parts(network: Network, basis: Basis) -> list[np.ndarray]:
    """The three matrices of every neuron in every representation but the trivial one."""
    blocks = group_blocks(network, basis)
    return [np.einsum("nbx,xij->bnij", blocks, one.matrices, optimize=True) for one in basis.representations[1:]]


def velocity(parts: Float[np.ndarray, "3 N d d"]) -> Float[np.ndarray, "3 N d d"]:
    """Time derivative of one representation's part in every neuron while nothing of it is learned."""
    u, v, w = parts
    return np.stack([w @ v.swapaxes(1, 2), u.swapaxes(1, 2) @ w, u @ v])


def kappa(said: Integer[np.ndarray, "N"], found: Integer[np.ndarray, "N"]) -> float:
    """Cohen's κ, how far two lists agree: 0 for what their frequencies alone would give, 1 for complete agreement."""
    most = max(said.max(initial=0), found.max(initial=0)) + 1
    chance = np.bincount(said, minlength=most) @ np.bincount(found, minlength=most) / max(1, len(said)) ** 2
    return float(((said == found).mean() - chance) / (1 - chance)) if len(said) and chance < 1 else 0.0
