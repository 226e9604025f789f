"""Gradient flow of the square loss with regularization, which can be written down: on its way, and where it ends."""

from typing import Any, NamedTuple

import numpy as np

from modgrok.shapes import Float, Int

LASSO_STEPS = 500


class Inputs(NamedTuple):
    """Points as features, and the sign of each."""

    features: Float[np.ndarray, "*pair input f"]
    answers: Int[np.ndarray, "input"]


class Flow:
    r"""$w(t) = w^\lambda - e^{-Gt}(w^\lambda - w_0)$ with $G = \langle x x^T \rangle + \lambda_2$ and
    $w^\lambda = G^{-1} \langle y x \rangle$, means over the points that are trained on."""

    def __init__(self, train: Inputs, l2: float, start: Float[np.ndarray, "f"]) -> None:
        x, y = train
        self.rates, self.modes = np.linalg.eigh(x.T @ x / len(x) + l2 * np.eye(len(start)))
        self.end = self.modes.T @ (x.T @ y / len(x)) / self.rates
        self.start = self.modes.T @ start

    def weights(self, t: Float[np.ndarray, "t"]) -> Float[np.ndarray, "t f"]:
        return (self.end + (self.start - self.end) * np.exp(-np.multiply.outer(t, self.rates))) @ self.modes.T

    def errors(self, inputs: Inputs, t: Float[np.ndarray, "t"]) -> Float[np.ndarray, "t"]:
        """The share of wrong answers at these times."""
        return np.array([np.mean(inputs.answers * (inputs.features @ w) <= 0) for w in self.weights(t)])

    def last_error(self, inputs: Inputs, times: Float[np.ndarray, "t"]) -> float | None:
        """The time from which on there is no error, by bisection between those given; None where there is no such."""
        wrong = np.flatnonzero(self.errors(inputs, times) > 0)
        if not len(wrong) or wrong[-1] == len(times) - 1:
            return None
        low, high = times[wrong[-1]], times[wrong[-1] + 1]
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self.errors(inputs, np.array([middle]))[0] > 0 else (low, middle)
        return float(high)


def ends(x: Float[np.ndarray, "set point f"], y: Any, l2: float, l1: float = 0.0) -> Float[np.ndarray, "set f"]:
    """Where the flows on many training sets end: with λ1 the minimum of ½ wGw − a·w + λ1 |w|₁, a the mean of y x, by
    accelerated proximal steps."""
    products = x.swapaxes(1, 2) @ x / x.shape[1] + l2 * np.eye(x.shape[2])
    means = (np.asarray(y)[..., None] * x).mean(axis=1)[..., None]
    if not l1:
        return np.linalg.solve(products, means)[..., 0]
    step = 1 / np.linalg.eigvalsh(products)[:, -1:, None]
    w = ahead = np.zeros(means.shape)
    pace = 1.0
    for _ in range(LASSO_STEPS):
        moved = ahead - step * (products @ ahead - means)
        before, w = w, np.sign(moved) * np.maximum(np.abs(moved) - step * l1, 0)
        pace, last = (1 + np.sqrt(1 + 4 * pace**2)) / 2, pace
        ahead = w + (last - 1) / pace * (w - before)
    return w[..., 0]
