r"""Losses of single examples, from outputs and right answers; their mean over the training set is what is minimized.

Where a task has codes $c_a$, outputs are compared with those instead of one-hot vectors, and the score of answer a is
$s_a = \tfrac12 f\cdot c_a - \tfrac14 |c_a|^2$: the largest belongs to the nearest code, and for one output and codes ±1
$s_y - s_{-y} = y f$.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from modgrok.setting import Setting
from modgrok.shapes import Array, Float, Int32

Outputs = Float[Array, "row column"]
"""One column per answer, possibly followed by padding, which is ignored."""
Answers = Int32[Array, "row"]
Losses = Float[Array, "row"]


def one_hot(out: Outputs, answers: Answers) -> Outputs:
    import jax.numpy as jnp

    return (jnp.arange(out.shape[1], dtype=answers.dtype)[None, :] == answers[:, None]).astype(out.dtype)


def mse(out: Outputs, answers: Answers, count: int) -> Losses:
    r"""$\frac1q \sum_a (f_a(x) - \delta_{a, y})^2$: averaged over outputs."""
    return ((out - one_hot(out, answers)) ** 2).sum(axis=1) / count


def cross_entropy(out: Outputs, answers: Answers, count: int) -> Losses:
    r"""$-\log \mathrm{softmax}(f(x))_y$: the outputs are logits."""
    import jax
    import jax.numpy as jnp

    # Not `answer_outputs`: the derivative of a look-up is a scatter, which is slow on a GPU.
    right = jnp.where(one_hot(out, answers) > 0, out, jnp.zeros_like(out)).sum(axis=1)
    return jax.nn.logsumexp(_counted(out, count), axis=1) - right


def hinge(out: Outputs, answers: Answers, count: int) -> Losses:
    r"""$\max(0, 1 + \max_{a \ne y} f_a(x) - f_y(x))$; for two answers $\max(0, 1 - y f)$ of their difference f."""
    import jax.numpy as jnp

    others = jnp.where(one_hot(out, answers) > 0, jnp.full((), -jnp.inf, out.dtype), _counted(out, count))
    return jnp.maximum(1 + others.max(axis=1) - answer_outputs(out, answers), 0)


def stablemax(out: Outputs, answers: Answers, count: int) -> Losses:
    r"""$-\log(s(f_y)/\sum_a s(f_a))$ with $s(x) = x + 1$ for $x \ge 0$ and $1/(1 - x)$ below (Prieto et al. 2025)."""
    import jax.numpy as jnp

    positive = out >= 0
    s = jnp.where(positive, out + 1, 1 / (1 - jnp.where(positive, jnp.zeros_like(out), out)))
    counts = (jnp.arange(out.shape[1]) < count)[None, :]
    return jnp.log(jnp.where(counts, s, jnp.zeros_like(s)).sum(axis=1)) - jnp.log(answer_outputs(s, answers))


def answer_outputs(out: Outputs, answers: Answers) -> Losses:
    """The output of the right answer."""
    import jax.numpy as jnp

    return jnp.take_along_axis(out, answers[:, None], axis=1)[:, 0]


def _counted(out: Outputs, count: int) -> Outputs:
    import jax.numpy as jnp

    counts = (jnp.arange(out.shape[1]) < count)[None, :]
    return jnp.where(counts, out, jnp.full((), -jnp.inf, out.dtype))


@dataclass(frozen=True)
class Loss:
    """A registered loss."""

    function: Callable[..., Losses]
    """Takes outputs, correct answers, the number of answers, and its own settings as keywords."""
    settings: tuple[Setting, ...] = ()
    """Its own settings."""


LOSSES = {
    "mse": Loss(mse),
    "cross_entropy": Loss(cross_entropy),
    "hinge": Loss(hinge),
    "stablemax": Loss(stablemax),
}
OWN_LOSSES = dict(LOSSES)
"""Those that modgrok brings."""


@dataclass(frozen=True)
class Objective:
    """Loss and correctness of outputs, in the precision asked for."""

    loss: str
    precision: str
    tolerance: float | None = None
    settings: tuple[tuple[str, Any], ...] = ()
    """The loss's own settings, by name."""

    def losses(self, out: Outputs, answers: Answers, codes: Any, count: int | None = None) -> Losses:
        """The loss of every example; `count` is the number of answers if the columns are padded."""
        out = out.astype(self.precision)
        if codes is None:
            return self._of(out, answers, out.shape[1] if count is None else count)
        if self.loss == "mse":
            return self._squares(out, answers, codes)
        scores = self._scores(out, codes)
        return self._of(scores, answers, scores.shape[1])

    def _of(self, out: Outputs, answers: Answers, count: int) -> Losses:
        return LOSSES[self.loss].function(out, answers, count, **dict(self.settings))

    def right(self, out: Outputs, answers: Answers, codes: Any, count: int | None = None) -> Array:
        """Which examples are answered right: every other score is smaller, or the error is below the tolerance; of
        outputs without codes the first `count` are answers.

        Several times faster than looking for the largest. The answer's own score is left out, not compared with itself:
        a compiler may compute the product twice, and round it twice.
        """
        import jax.numpy as jnp

        if codes is not None:
            if self.tolerance is not None:
                return self._squares(out, answers, codes) < self.tolerance
            out = self._scores(out, codes)
        else:
            out = out[:, :count]
        own = jnp.arange(out.shape[1], dtype=answers.dtype)[None, :] == answers[:, None]
        return ((answer_outputs(out, answers)[:, None] > out) | own).all(axis=1)

    def _squares(self, out: Outputs, answers: Answers, codes: Any) -> Losses:
        return ((out - codes.astype(out.dtype)[answers]) ** 2).mean(axis=1)

    def _scores(self, out: Outputs, codes: Any) -> Float[Array, "row answer"]:
        import jax.numpy as jnp

        codes = codes.astype(out.dtype)
        norms = (codes**2).sum(axis=1)[None, :]
        return jnp.matmul(out, codes.T, precision="highest") / 2 - norms / 4
