r"""The largest margin of n + m mod p (Morwani et al.).

For $f(a, b) = \sum_i w_i (u_i(a) + v_i(b))^2$ the margin is the least lead of the right answer over any other, in units
of $\sum_i \|(u_i, v_i, w_i)\|^3$. It is at most $\gamma^* = \sqrt{2/27} / (\sqrt p (p - 1))$, and what reaches it is
the paper's solution: every neuron one frequency, $\phi_u + \phi_v = \phi_w$, all frequencies equally strong.
"""

import math
from collections.abc import Sequence
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


def of_fewest_neurons(p: int) -> Blocks:
    """Six neurons for every frequency, φ_v = 4φ_u, which reach γ* for odd p; fewer cannot, see docs/findings."""
    first = 2 * np.pi * np.arange(6) / 6
    turns = 2 * np.pi * np.arange(1, (p + 1) // 2) * np.arange(p)[:, None, None] / p
    waves = [np.cos(turns + phase[:, None]) for phase in (first, 4 * first, 5 * first)]
    return np.stack(waves).reshape(3, p, -1)


def climb(p: int, widths: Sequence[int], starts: int, steps: int, power: int = 3) -> Float[np.ndarray, "width start"]:
    r"""Margins in units of γ* that Adam reaches from random weights at each width, on the softest minimum of all leads
    at first and the hardest in the end; per $\sum_i\|\theta_i\|^3$, or per $\|\theta\|^3$ of all weights (power 2)."""
    import jax
    import jax.numpy as jnp
    import optax

    right, most = np.eye(p)[answers(p)], max(widths)

    def leads(blocks: Any) -> Any:
        found = scores(blocks)
        size = cubes(blocks) if power == 3 else jnp.square(blocks).sum() ** 1.5
        return ((found * right).sum(axis=2, keepdims=True) - found) / (size * largest_margin(p)) + 1e4 * right

    def ascend(blocks: Any) -> Any:
        alive, rule = (blocks != 0).astype(blocks.dtype), optax.scale_by_adam()

        def step(t: Any, state: Any) -> Any:
            blocks, memory = state
            done = t.astype(blocks.dtype) / steps
            hard, rate = 10 ** (0.5 + 3 * done), 0.03 * 10 ** (-2.5 * done)
            slope = jax.grad(lambda x: jax.nn.logsumexp(-hard * leads(x)) / hard)(blocks)
            update, memory = rule.update(slope, memory)
            return blocks - rate * update * alive, memory

        return leads(jax.lax.fori_loop(0, steps, step, (blocks, rule.init(blocks)))[0]).min()

    first = np.random.default_rng(p).standard_normal((len(widths), starts, 3, p, most))
    first *= (np.arange(most) < np.array(widths)[:, None])[:, None, None, None, :]
    with jax.default_matmul_precision("highest"), jax.numpy_dtype_promotion("standard"):
        found = jax.jit(jax.vmap(ascend))(jnp.asarray(first.reshape(-1, 3, p, most), jnp.float32))
    return np.asarray(found, np.float64).reshape(len(widths), starts)


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
