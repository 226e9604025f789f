"""Losses of single examples, from outputs and right answers; their mean over the training set is what is minimized."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from modgrok.training.program import Loss

Outputs = Float[Array, "row column"]
"""One column for each answer, and perhaps some of zeros beyond the modulus, which do not count."""
Answers = Int32[Array, "row"]
Losses = Float[Array, "row"]


def mse(out: Outputs, answers: Answers, modulus: int) -> Losses:
    r"""$\frac1p \sum_q (f_q(x) - \delta_{q, y})^2$: averaged over outputs."""
    one_hot = (jnp.arange(out.shape[1], dtype=answers.dtype)[None, :] == answers[:, None]).astype(out.dtype)
    return ((out - one_hot) ** 2).sum(axis=1) / modulus


def cross_entropy(out: Outputs, answers: Answers, modulus: int) -> Losses:
    r"""$-\log \mathrm{softmax}(f(x))_y$: the outputs are logits."""
    counts = (jnp.arange(out.shape[1]) < modulus)[None, :]
    logits = jnp.where(counts, out, jnp.full((), -jnp.inf, out.dtype))
    return jax.nn.logsumexp(logits, axis=1) - of_answers(out, answers)


def of_answers(out: Outputs, answers: Answers) -> Losses:
    """The output of the right answer."""
    return jnp.take_along_axis(out, answers[:, None], axis=1)[:, 0]


def loss_function(name: Loss) -> Callable[[Outputs, Answers, int], Losses]:
    """The loss of that name."""
    return {"mse": mse, "cross_entropy": cross_entropy}[name]
