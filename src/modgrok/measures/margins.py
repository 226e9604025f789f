r"""The largest margin of n + m mod p (Morwani et al.).

For $f(a, b) = \sum_i w_i (u_i(a) + v_i(b))^2$ the margin is the least lead of the right answer over any other, in units
of $\sum_i \|(u_i, v_i, w_i)\|^3$. It is at most $\gamma^* = \sqrt{2/27} / (\sqrt p (p - 1))$, and what reaches it is
the paper's solution: every neuron one frequency, $\phi_u + \phi_v = \phi_w$, all frequencies equally strong.
"""

import math
from typing import Any

import numpy as np

from modgrok.shapes import Float, Int

PHASES = 3
"""Values of each of two phases in the closed form: with three all that is not wanted cancels."""

Blocks = Float[Any, "3 p N"]
"""u, v and w of every neuron."""


def largest_margin(p: int) -> float:
    """γ*."""
    return math.sqrt(2 / 27) / (math.sqrt(p) * (p - 1))


def of_largest_margin(p: int) -> Blocks:
    """Neurons of every frequency with nine pairs of phases, which reach γ* for odd p."""
    angles = 2 * np.pi * np.arange(PHASES) / PHASES
    frequencies, first, second = (x.ravel() for x in np.meshgrid(np.arange(1, (p + 1) // 2), angles, angles))
    turns = 2 * np.pi * frequencies * np.arange(p)[:, None] / p
    return np.stack(
        [np.cos(turns + phase) for phase in (first, second, first + second)]
    )  # u + v − w: cos(k(a + b − c))


def margin(blocks: Blocks) -> float:
    """The least lead of a right answer in units of the sum of cubed norms."""
    found, right = scores(blocks), answers(blocks.shape[1])[..., None]
    lead = np.take_along_axis(found, right, axis=2) - found
    np.put_along_axis(lead, right, np.inf, axis=2)
    return float(lead.min() / cubes(blocks))


def scores(blocks: Blocks) -> Float[Any, "p p p"]:
    """f for every pair and answer."""
    return (blocks[0][:, None] + blocks[1][None]) ** 2 @ blocks[2].T


def answers(p: int) -> Int[Any, "p p"]:
    """n + m for every pair."""
    return (np.arange(p)[:, None] + np.arange(p)) % p


def cubes(blocks: Blocks) -> Any:
    """The sum of the neurons' cubed norms."""
    return (((blocks**2).sum(axis=(0, 1)) + 1e-30) ** 1.5).sum()
