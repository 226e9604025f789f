r"""One number decides: points $\pm(\epsilon + s)$, s exponential, are told apart by the threshold b.

Gradient flow of the regularized square loss moves the threshold along
$b(t) = \bar x_\lambda + (b_0 - \bar x_\lambda) e^{-(1 + \lambda_2) t}$ with
$\bar x_\lambda = (\bar x - \lambda_1 \mathrm{sgn}\, b) / (1 + \lambda_2)$, where $\bar x$ is the mean of the 2N signed
offsets s of the training points. The test error vanishes while $|b| \le \epsilon$.
"""

from typing import NamedTuple

import numpy as np

from modgrok.shapes import Float

SIMPSON = 4001
"""Points of the integrals over a density."""


def threshold(t: Float[np.ndarray, "t"], end: float, start: float, l2: float = 0.0) -> Float[np.ndarray, "t"]:
    r"""b(t) that starts at $b_0$ and ends at $\bar x_\lambda$."""
    return end + (start - end) * np.exp(-(1 + l2) * t)


def test_error(b: Float[np.ndarray, "*t"], gap: float) -> Float[np.ndarray, "*t"]:
    r"""$\frac12 (1 - e^{\epsilon - |b|})$ beyond the gap, 0 inside."""
    return -np.expm1(-np.maximum(np.abs(b) - gap, 0)) / 2


def zero_time(end: float, start: float, gap: float, l2: float = 0.0) -> float:
    r"""$t_\epsilon = \frac{1}{1+\lambda_2} \ln \frac{b_0 - \bar x_\lambda}{\epsilon - \bar x_\lambda}$, where the test
    error vanishes; the paper leaves the prefactor out in one place."""
    return float(np.log((start - end) / (gap - end)) / (1 + l2))


def mean_density(x: Float[np.ndarray, "x"], samples: int) -> Float[np.ndarray, "x"]:
    r"""$\frac{2 N^{N+1/2} |\bar x|^{N-1/2} K_{N-1/2}(2N|\bar x|)}{\sqrt\pi\, \Gamma(N)}$, the density of $\bar x$."""
    from scipy.special import gammaln, kve

    size = np.maximum(np.abs(x), 1e-5)  # below, the density is flat and its factors overflow
    order = samples - 0.5
    logarithm = np.log(2) + (samples + 0.5) * np.log(samples) + order * np.log(size) - gammaln(samples)
    return kve(order, 2 * samples * size) * np.exp(logarithm - 2 * samples * size) / np.sqrt(np.pi)


def probability(gap: float, samples: int) -> float:
    r"""$P(|\bar x| < \epsilon_\lambda)$, that the test error ever vanishes, with
    $\epsilon_\lambda = \epsilon(1+\lambda_2) + \lambda_1$; for N = 2 it is
    $1 - (1 + 2\epsilon_\lambda) e^{-4\epsilon_\lambda}$."""
    from scipy.integrate import simpson

    x = np.linspace(0, gap, SIMPSON)
    return float(2 * simpson(mean_density(x, samples), x=x))


class Offsets(NamedTuple):
    """Of many training sets: the mean of all signed offsets, and the least offset of the positive class."""

    mean: Float[np.ndarray, "set"]
    least: Float[np.ndarray, "set"]


def draw_offsets(samples: int, sets: int, rng: np.random.Generator) -> Offsets:
    """Training sets of N points in each class."""
    positive, negative = rng.exponential(size=(2, sets, samples))
    return Offsets((positive.mean(axis=1) - negative.mean(axis=1)) / 2, positive.min(axis=1))


def grokking_times(offsets: Offsets, gap: float) -> Float[np.ndarray, "grokking"]:
    r"""$t_G = \ln \frac{\epsilon + x_{\min} - \bar x}{\epsilon - \bar x}$ at λ = 0, from zero training error to zero
    test error for a threshold that comes from far above; of the sets whose test error vanishes."""
    mean, least = (values[np.abs(offsets.mean) < gap] for values in offsets)
    return np.log1p(least / (gap - mean))


def time_distribution(t: Float[np.ndarray, "t"], gap: float) -> Float[np.ndarray, "t"]:
    r"""$P(t_G < t \mid \text{grokking})$ for N = 2 and λ = 0.

    Given $\bar x$, the time is below t where $x_{\min} < (\epsilon - \bar x)(e^t - 1)$; the joint density of the two is
    $2 e^{-4\bar x}$ below $x_{\min} = 2\bar x$ and $-2 e^{4\bar x - 4 x_{\min}} (8\bar x - 4 x_{\min} - 1)$ above.
    """
    from scipy.integrate import simpson

    mean = np.linspace(-gap, gap, SIMPSON)[None, :]
    reached = _joint_below(mean, (gap - mean) * np.expm1(t)[:, None])
    return simpson(reached, x=mean[0], axis=1) / probability(gap, 2)


def _joint_below(mean: np.ndarray, least: np.ndarray) -> np.ndarray:
    """The joint density, integrated over the least offset up to the one that is given."""

    def antiderivative(s: np.ndarray) -> np.ndarray:
        return np.exp(4 * (mean - s)) * (4 * mean - 1 - 2 * s)

    kink = np.maximum(2 * mean, 0)
    below = 2 * np.exp(-4 * np.abs(mean)) * np.minimum(least, kink)
    return below + antiderivative(np.maximum(least, kink)) - antiderivative(kink)
