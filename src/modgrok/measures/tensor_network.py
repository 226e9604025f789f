r"""A uniform tensor network with open ends that is trained whole: matrices A(x) and B(x) of size d×d and two boundary
vectors. The answer at site i of a string of bits is

$$\hat y_i = \tanh\tfrac12\, l_i^T B(x_i)\, r_i, \quad l_i \propto A(x_{i-1})^T l_{i-1}, \quad r_i \propto A(x_{i+1})\,
r_{i+1},$$

with $l_i$ and $r_i$ brought to norm 1 (Žunkovič and Ilievski, section 5).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

Weights = Mapping[str, Any]
RATE, BETAS = 0.005, (0.9, 0.999)
"""Of Adam."""


class Errors(NamedTuple):
    """Shares of wrong answers on the way, of every start."""

    step: np.ndarray
    train: np.ndarray
    test: np.ndarray


def answers(weights: Weights, bits: Any) -> Any:
    """ŷ of every site of every string, strings × sites."""

    def ends(start: Any, matrices: Any, sites: Any) -> Any:
        def move(vector: Any, x: Any) -> tuple[Any, Any]:
            moved = jnp.where(x[:, None], vector @ matrices[1].T, vector @ matrices[0].T)
            return moved / jnp.linalg.norm(moved, axis=1, keepdims=True), vector

        first = jnp.broadcast_to(start / jnp.linalg.norm(start), (bits.shape[0], start.shape[0]))
        return jax.lax.scan(move, first, sites)[1]  # (site, string, d), each before its own site

    left = ends(weights["left"], weights["A"].swapaxes(1, 2), bits.T)
    right = ends(weights["right"], weights["A"], bits.T[::-1])[::-1]
    seen = [jnp.einsum("mna,ab,mnb->nm", left, weights["B"][x], right) for x in (0, 1)]
    return jnp.tanh(jnp.where(bits, seen[1], seen[0]) / 2)


def initial(key: Any, d: int) -> dict[str, Any]:
    """All weights N(0, 1)."""
    shapes = {"A": (2, d, d), "B": (2, d, d), "left": (d,), "right": (d,)}
    keys = jax.random.split(key, len(shapes))
    return {name: jax.random.normal(k, shape) for k, (name, shape) in zip(keys, shapes.items(), strict=True)}


def train(d: int, starts: int, steps: int, every: int, l2: float, l1: float, train: Any, test: Any) -> Errors:
    """Many starts at once by Adam, on all strings of `train`; both sets are pairs of bits (0, 1) and answers (±1)."""
    (bits, right), (far, far_right) = (tuple(map(jnp.asarray, one)) for one in (train, test))

    def loss(weights: Weights) -> Any:
        size = sum(l1 * jnp.abs(one).sum() + l2 / 2 * jnp.square(one).sum() for one in weights.values())
        return jnp.square(answers(weights, bits) - right).mean() / 2 + size

    def wrong(weights: Weights, bits: Any, right: Any) -> Any:
        return (answers(weights, bits) * right <= 0).mean()

    def look(weights: Weights) -> Any:
        return jnp.stack([wrong(weights, bits, right), wrong(weights, far, far_right)])

    def step(state: Any, t: Any) -> Any:
        slope = jax.grad(loss)(state[0])
        mean, square = (
            jax.tree.map(lambda old, new, b=b, k=k: b * old + (1 - b) * new**k, one, slope)
            for one, b, k in zip(state[1:], BETAS, (1, 2), strict=True)
        )
        scale = jnp.sqrt(1 - BETAS[1] ** t) / (1 - BETAS[0] ** t)
        weights = jax.tree.map(lambda w, m, v: w - RATE * scale * m / (jnp.sqrt(v) + 1e-8), state[0], mean, square)
        return (weights, mean, square), None

    def stretch(state: Any, times: Any) -> Any:
        state, _ = jax.lax.scan(step, state, times)
        return state, look(state[0])

    @jax.jit
    def whole(keys: Any) -> Any:
        def one(key: Any) -> Any:
            weights = initial(key, d)
            nothing = jax.tree.map(jnp.zeros_like, weights)
            times = jnp.arange(1.0, steps // every * every + 1).reshape(-1, every)
            return jax.lax.scan(stretch, (weights, nothing, nothing), times)[1]

        return jax.vmap(one)(keys)

    found = np.asarray(whole(jax.random.split(jax.random.key(d), starts)))  # (start, look, 2)
    return Errors(every * np.arange(1, steps // every + 1), found[:, :, 0], found[:, :, 1])
