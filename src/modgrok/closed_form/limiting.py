r"""How near networks of a width come to a table: exactly, in a limit of growing weights, or not at all.

Minimizes $\sum(f - T)^2 + \lambda\sum\theta^2$ over all weights by Levenberg–Marquardt from many starts at once, along
falling penalties λ. The loss at the minimum tells three cases apart: a network that is exact at finite weights leaves
$O(\lambda^2)$, an error $\epsilon^h$ that needs weights $\epsilon^{-g}$ leaves $\lambda^{h/(h+g)}$, a power below 1
(what algebra calls border rank), and where even a limit is out of reach the loss stays.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from modgrok.closed_form.minimal import Target
from modgrok.shapes import Float

PENALTIES = tuple(10.0**-k for k in range(2, 7))
"""One after another, each from where the one before ended."""
SETTLED = 0.1
EXACT, LIMIT, NEITHER, UNCLEAR = "exact", "limit", "neither", "unclear"


class Descent(NamedTuple):
    """The best of all starts at every penalty, for one width."""

    losses: Float[np.ndarray, "penalty"]
    """Sum of squared errors."""
    norms: Float[np.ndarray, "penalty"]
    """Sum of squared weights."""
    falling: Float[np.ndarray, "penalty"]
    """What the second half of the steps still took off loss and penalty, as a share of what is left."""

    @property
    def power(self) -> float:
        """The e of a loss in proportion to $\\lambda^e$, over the last two decades."""
        return float(np.log10(self.losses[-3] / self.losses[-1])) / 2

    @property
    def kind(self) -> str:
        """Which of the three cases it is, where the descent has come to rest and the power is clear."""
        if max(self.falling[-3:]) > SETTLED:
            return UNCLEAR
        bounds = {EXACT: (1.5, np.inf), LIMIT: (0.3, 1.2), NEITHER: (-np.inf, 0.1)}
        return next((kind for kind, (low, high) in bounds.items() if low <= self.power <= high), UNCLEAR)


def nearest(target: Target, widths: Sequence[int], starts: int, steps: int) -> list[Descent]:
    """Descends from `starts` random starts at each width, `steps` at each penalty; all in one program, in which
    narrower networks have neurons of zero weights that stay so."""
    import jax
    import jax.numpy as jnp

    p, most = len(target), max(widths)
    rng = np.random.default_rng(0)
    first = 0.5 * rng.standard_normal((len(widths), starts, 3, most, p))
    first *= (np.arange(most) < np.array(widths)[:, None])[:, None, None, :, None]
    one_to_one = np.eye(p)

    def residual(weights: Any) -> Any:
        u, v, w = weights
        return jnp.einsum("iq,inm->qnm", w, (u[:, :, None] + v[:, None, :]) ** 2) - target

    def jacobian(weights: Any) -> Any:
        u, v, w = weights
        h = u[:, :, None] + v[:, None, :]
        parts = [2 * jnp.einsum(f"iq,inm,{x}x->qnmix", w, h, one_to_one) for x in "nm"]
        return jnp.stack([*parts, jnp.einsum("inm,qx->qnmix", h**2, one_to_one)], axis=3).reshape(p**3, -1)

    def value(weights: Any, penalty: Any) -> Any:
        return jnp.square(residual(weights)).sum() + penalty * jnp.square(weights).sum()

    def step(state: Any, penalty: Any) -> Any:
        weights, damping = state
        j, flat = jacobian(weights), weights.reshape(-1)
        matrix = j.T @ j + (penalty + damping) * jnp.eye(flat.size)
        gradient = j.T @ residual(weights).reshape(-1) + penalty * flat
        new = weights - jax.scipy.linalg.solve(matrix, gradient, assume_a="pos").reshape(weights.shape)
        better = value(new, penalty) < value(weights, penalty)
        damping = jnp.clip(jnp.where(better, damping / 3, damping * 4), 1e-16, 1e3)
        return jnp.where(better, new, weights), damping

    def rung(state: Any, penalty: Any) -> Any:
        half = jax.lax.fori_loop(0, steps // 2, lambda _, x: step(x, penalty), state)
        last = jax.lax.fori_loop(0, steps - steps // 2, lambda _, x: step(x, penalty), half)
        falling = value(half[0], penalty) / value(last[0], penalty) - 1
        return last, (jnp.square(residual(last[0])).sum(), jnp.square(last[0]).sum(), falling)

    with jax.enable_x64(True):
        descend = jax.jit(jax.vmap(lambda x: jax.lax.scan(rung, (x, 0.1), jnp.array(PENALTIES))[1]))
        found = descend(jnp.asarray(first.reshape(-1, 3, most, p)))
    losses, norms, falling = (np.asarray(x).reshape(len(widths), starts, -1) for x in found)
    best = (losses + np.array(PENALTIES) * norms).argmin(axis=1)[:, None]
    chosen = (np.take_along_axis(x, best, axis=1)[:, 0] for x in (losses, norms, falling))
    return [Descent(*one) for one in zip(*chosen, strict=True)]
