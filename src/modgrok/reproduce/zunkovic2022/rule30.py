r"""Rule 30 seen by a uniform tensor network: the map that turns a local rule into the perceptron of the ball model
(section 5).

On a ring of bits $x_i = \pm1$ the matrices $A(x)$, fixed and 2×2, are multiplied along all other sites,
$H = A(x_{i+1}) \cdots A(x_M) A(x_1) \cdots A(x_{i-1})$, and the answer of site i is the sign of
$\mathrm{Tr}(B(x_i) H)$: linear in B, with eight features, H in the half that $x_i$ chooses. By symmetry one site
stands for all.
"""

from itertools import product
from typing import NamedTuple

import numpy as np

from modgrok.reproduce.zunkovic2022.ball import lasso
from modgrok.shapes import Float, Int

RULE = {0: -1, 1: 1, 2: 1, 3: 1, 4: 1, 5: -1, 6: -1, 7: -1}
"""From the bits left, middle, right as a number to the new bit."""
EXAMPLES = (
    (((0.782735, 0.225481), (-0.21562, 0.290028)), ((1.17554, -0.275503), (1.18283, -0.157563))),
    (((1.6749, -1.29059), (0.285324, -0.708621)), ((0.0462428, -0.0797724), (-0.509457, 0.922777))),
    (((1.37336, -0.465853), (-1.10382, 0.720113)), ((0.128517, 0.166033), (0.634426, 1.13816))),
)
"""The paper's three pairs A(−1), A(+1)."""
DIMENSIONS, EXPONENTS = (3.0, 3.8, 3.0), (0.85, 0.75, 0.84)
"""What Table 1 of the paper gives for them."""
FIT = (1e-3, 0.1)
"""Between these test errors the exponent is fitted."""


class Inputs(NamedTuple):
    """All inputs of one length, as features of their first site."""

    features: Float[np.ndarray, "*pair input 8"]
    answers: Int[np.ndarray, "input"]


def all_inputs(matrices: Float[np.ndarray, "*pair 2 2 2"], length: int) -> Inputs:
    """Every ring of that length; H is brought to norm 1 after each product."""
    bits = np.array(list(product((0, 1), repeat=length)))
    pairs = matrices.shape[:-3]
    H = np.broadcast_to(np.eye(2), (*pairs, len(bits), 2, 2))
    for site in range(1, length):
        H = H @ matrices[..., bits[:, site], :, :]
        H = H / np.linalg.norm(H, axis=(-2, -1), keepdims=True)
    halves = H.reshape(*pairs, len(bits), 1, 4) * np.eye(2)[bits[:, 0], :, None]  # (…, input, 4) -> (…, input, 2, 4)
    number = 4 * bits[:, -1] + 2 * bits[:, 0] + bits[:, 1]
    return Inputs(halves.reshape(*pairs, len(bits), 8), np.array(list(RULE.values()))[number])


def effective_dimension(inputs: Inputs) -> float:
    r"""$\exp(-\sum_k p_k \ln p_k)$ of the covariance's eigenvalues, each a share of their sum; the mean of the two
    classes."""
    found = []
    for answer in (-1, 1):
        eigenvalues = np.linalg.eigvalsh(np.cov(inputs.features[inputs.answers == answer].T))
        shares = eigenvalues[eigenvalues > 1e-12] / eigenvalues[eigenvalues > 1e-12].sum()
        found.append(np.exp(-(shares * np.log(shares)).sum()))
    return float(np.mean(found))


class Flow:
    """Gradient flow of the square loss with λ2 on all inputs of one length, from a start on."""

    def __init__(self, train: Inputs, l2: float, start: Float[np.ndarray, "8"]) -> None:
        x, y = train
        self.rates, self.modes = np.linalg.eigh(x.T @ x / len(x) + l2 * np.eye(8))
        self.end = self.modes.T @ (x.T @ y / len(x)) / self.rates
        self.start = self.modes.T @ start

    def weights(self, t: Float[np.ndarray, "t"]) -> Float[np.ndarray, "t 8"]:
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


def exponent(distance: Float[np.ndarray, "t"], error: Float[np.ndarray, "t"]) -> float | None:
    """Slope of the error against the distance from the transition, both logarithmic; None where it jumps."""
    fitted = (error >= FIT[0]) & (error <= FIT[1])
    if fitted.sum() < 5 or np.ptp(np.log(error[fitted])) < np.log(5):
        return None
    return float(np.polyfit(np.log(distance[fitted]), np.log(error[fitted]), 1)[0])


def shares_that_generalize(count: int, length: int, l2: float, l1: float, seed: int) -> tuple[float, float]:
    """Of random A, N(0, 1): for how many three bits are enough to learn the rule for rings of that length, with λ2 and
    with λ1."""
    matrices = np.random.default_rng(seed).standard_normal((count, 2, 2, 2))
    ridge, sparse = ((end_errors(matrices, 3, length, *lams) == 0).mean() for lams in ((l2, 0.0), (0.0, l1)))
    return float(ridge), float(sparse)


def end_errors(
    matrices: Float[np.ndarray, "pair 2 2 2"], trained: int, tested: int, l2: float, l1: float = 0.0
) -> Float[np.ndarray, "pair"]:
    """The share of wrong answers on rings of one length where the flow on those of another ends."""
    (x, y), (far, answers) = all_inputs(matrices, trained), all_inputs(matrices, tested)
    products, means = x.swapaxes(1, 2) @ x / len(y) + l2 * np.eye(8), (y[:, None] * x).mean(axis=1)
    w = lasso(products, means, l1) if l1 else np.linalg.solve(products, means[..., None])[..., 0]
    return (answers * np.einsum("anf,af->an", far, w) <= 0).mean(axis=1)
