"""Losses as weighted sums over examples, from outputs and right answers."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from modgrok.training.program import Loss

Outputs = Float[Array, "row p"]


def mse(out: Outputs, answers: Int32[Array, "row"], weight: Float[Array, "row"]) -> Float[Array, ""]:
    r"""$\sum_i w_i \frac1p \sum_q (f_q(x_i) - \delta_{q, y_i})^2$: averaged over samples and outputs."""
    one_hot = (jnp.arange(out.shape[1], dtype=answers.dtype)[None, :] == answers[:, None]).astype(out.dtype)
    return (weight * ((out - one_hot) ** 2).sum(axis=1)).sum() / out.shape[1]


def cross_entropy(out: Outputs, answers: Int32[Array, "row"], weight: Float[Array, "row"]) -> Float[Array, ""]:
    r"""$-\sum_i w_i \log \mathrm{softmax}(f(x_i))_{y_i}$: the outputs are logits."""
    right = jnp.take_along_axis(out, answers[:, None], axis=1)[:, 0]
    return (weight * (jax.nn.logsumexp(out, axis=1) - right)).sum()


def loss_function(name: Loss) -> Callable[[Outputs, Array, Array], Array]:
    """The loss of that name."""
    return {"mse": mse, "cross_entropy": cross_entropy}[name]
