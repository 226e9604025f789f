r"""Gradient flow of the square loss with regularization, which can be written down: on its way, and where it ends.

The same for points in two unit balls around $\pm\epsilon e_1$ in D dimensions, told apart by the sign of $w\cdot x$.
Along the flow on N points of each ball, the test error is a function of $h = \epsilon w_1 / |w|$ alone and vanishes
where $(\epsilon^2 - 1) w_1^2 \ge \sum_{j>1} w_j^2$.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from modgrok.shapes import Bool, Float, Int

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


def test_error(h: Float[np.ndarray, "*h"], dimension: int) -> Float[np.ndarray, "*h"]:
    r"""$E_D(h) = \frac12 - \frac{D\,\Gamma(D/2)}{2\sqrt\pi\,\Gamma((D+1)/2)} h\,
    {}_2F_1(\tfrac12, \tfrac{1-D}{2}; \tfrac32; h^2)$, 0 for h ≥ 1.

    Computed as half the regularized incomplete beta function $I_{1-h^2}(\frac{D+1}{2}, \frac12)$, which is the same and
    does not cancel near h = 1, where $E \propto (1-h)^{(D+1)/2}$.
    """
    from scipy.special import betainc

    beyond = betainc((dimension + 1) / 2, 0.5, 1 - np.minimum(np.abs(h), 1) ** 2) / 2
    return np.where(h >= 0, beyond, 1 - beyond)


def draw_points(count: tuple[int, ...], dimension: int, rng: np.random.Generator) -> Float[np.ndarray, "*count D"]:
    """Uniform in the unit ball around 0."""
    directions = rng.standard_normal((*count, dimension))
    radii = rng.random(count) ** (1 / dimension)
    return directions * (radii / np.linalg.norm(directions, axis=-1))[..., None]


@dataclass(frozen=True)
class Ball:
    """One setting of the two balls."""

    dimension: int
    """D."""
    gap: float
    """ε, at least 1."""
    samples: int = 10
    """N, points in each ball."""
    l2: float = 0.1
    """λ2."""

    def training_sets(self, sets: int, rng: np.random.Generator) -> Float[np.ndarray, "set point D"]:
        """Random ones. With the sign of the class, both classes lie around +ε e1."""
        x = draw_points((sets, 2 * self.samples), self.dimension, rng)
        x[..., 0] += self.gap
        return x

    def generalizes(self, w: Float[np.ndarray, "set D"]) -> Bool[np.ndarray, "set"]:
        """Whether the test error vanishes."""
        return (w[:, 0] > 0) & ((self.gap**2 - 1) * w[:, 0] ** 2 >= (w[:, 1:] ** 2).sum(axis=1))

    def sampled_probability(self, sets: int, rng: np.random.Generator, l1: float = 0.0) -> float:
        """The share of random training sets whose flow ends without test error."""
        return float(self.generalizes(ends(self.training_sets(sets, rng), 1, self.l2, l1)).mean())

    def predicted_probability(self, printed: bool = False) -> float:
        r"""The same in the limit of many points (Appendix B), the end $w^\lambda$ taken as Gaussian.

        $w_1$ has mean $\beta + \alpha_2/(D+2)$, the others have mean 0 and variance v, and
        $P = \int_0^\infty dw_1\, p(w_1)\, P(\chi^2_{D-1} < (\epsilon^2 - 1) w_1^2 / v)$. The paper prints ε for ε² in
        $\alpha_3$ and multiplies by v; `printed` takes the former as printed.
        """
        from scipy.integrate import quad
        from scipy.stats import chi2, norm

        D, N, eps = self.dimension, self.samples, self.gap
        across = self.l2 + 1 / (D + 2)
        along = across + eps**2
        beta = eps / along + eps / (along**2 * (D + 2))
        a1, a2 = 1 / along - 2 * eps**2 / along**2, -eps / along**2
        a3 = 1 / across - (eps if printed else eps**2) / (across * along)
        a4 = -eps / (across * along)
        mean = beta + a2 / (D + 2)
        spread = np.sqrt(a1**2 / (2 * N * (D + 2)) + a2**2 * (D + 1) / (N * (D + 2) ** 2 * (D + 4)))
        v = a3**2 / (2 * N * (D + 2)) + a4**2 / (2 * N * (8 + 6 * D + D**2))

        def integrand(w: float) -> float:
            return float(norm.pdf(w, mean, spread) * chi2.cdf((eps**2 - 1) * w**2 / v, D - 1))

        return float(quad(integrand, max(0.0, mean - 8 * spread), mean + 8 * spread, epsabs=1e-8)[0])

    @property
    def slow_rate(self) -> float:
        r"""$\lambda_D = \lambda_2 + 1/(D+2)$, at which all weights but the first decay for many points."""
        return self.l2 + 1 / (self.dimension + 2)

    def along(self, t: Float[np.ndarray, "t"], start: Float[np.ndarray, "#t"]) -> Float[np.ndarray, "t"]:
        r"""$w_1(t)$ for many points, which moves at the rate $\epsilon^2 + \lambda_D$."""
        rate = self.gap**2 + self.slow_rate
        return self.gap / rate + (start - self.gap / rate) * np.exp(-rate * t)

    def slow_time(self, printed: bool = False) -> float:
        r"""$\frac{1}{2\lambda_D} \ln \frac{\epsilon^2}{\epsilon^2 - 1}$ from zero training to zero test error, where
        the transverse weights are large; the printed Eq. 47 has ε⁴, since Eq. 46 lacks a factor."""
        power = 4 if printed else 2
        return float(-np.log1p(-(self.gap**-power)) / (2 * self.slow_rate))

    def fast_time(self, r: Float[np.ndarray, "r"]) -> Float[np.ndarray, "r"]:
        r"""$\frac{1}{\epsilon^2} \ln \frac{1 - \sqrt r}{1 - \epsilon\sqrt{r/(\epsilon^2-1)}}$ of starts
        with $r = |w_\perp(0)|^2 \le 1 - 1/\epsilon^2$, which need not wait."""
        root = np.sqrt(r)
        return np.log((1 - root) / (1 - self.gap * root / np.sqrt(self.gap**2 - 1))) / self.gap**2

    def limit_times(self, starts: int, rng: np.random.Generator) -> Float[np.ndarray, "start"]:
        r"""Times from $w_1/|w| \ge 1/\sqrt{1+\epsilon^2}$ (train, for the worst angle) to $w_1/|w| \ge 1/\epsilon$
        (test) along the flow of infinitely many points; of starts that meet neither."""
        w = rng.standard_normal((starts, self.dimension))
        first, r = w[:, 0], (w[:, 1:] ** 2).sum(axis=1)
        behind = (first <= 0) | (first**2 * self.gap**2 < r)
        first, r = first[behind], r[behind]

        def time(ratio: float) -> np.ndarray:
            """When w1² reaches `ratio` |w⊥|²: w1 rises, w⊥ decays, so there is one crossing; by bisection."""
            low, high = np.zeros_like(r), np.full_like(r, 100.0)
            for _ in range(60):
                middle = (low + high) / 2
                along = self.along(middle, first)
                there = (along > 0) & (along**2 >= ratio * r * np.exp(-2 * self.slow_rate * middle))
                low, high = np.where(there, low, middle), np.where(there, middle, high)
            return high

        return time(1 / (self.gap**2 - 1)) - time(self.gap**-2)
