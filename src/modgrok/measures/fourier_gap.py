r"""Why one gradient already knows the bits: the Fourier gap of majority, in exact fractions.

A ReLU neuron with weights ±1 fires on the majority of its inputs. Under the correlation loss its expected gradient is
$\xi_{k-1}$ for weights of bits that are in the parity and $\xi_{k+1}$ for others, up to signs and a factor ½, where
$\xi_d$ is the Fourier coefficient of majority on n bits (n odd) for any d bits. Since
$|\xi_{k-1}| = \frac{n-k}{k-1} |\xi_{k+1}|$, a gradient known to half the gap shows the bits as its k largest entries.
"""

from fractions import Fraction
from math import comb

import numpy as np

from modgrok.shapes import Float, Int


def coefficient(n: int, degree: int) -> Fraction:
    r"""$\xi_d = E[\mathrm{maj}(x)\, x_1 \cdots x_d]$ by counting: a of the d bits and b of the others are −1."""
    total = sum(
        (-1) ** a * comb(degree, a) * comb(n - degree, b) * (1 if n > 2 * (a + b) else -1)
        for a in range(degree + 1)
        for b in range(n - degree + 1)
    )
    return Fraction(total, 2**n)


def closed_form(n: int, degree: int) -> Fraction:
    r"""$|\xi_d| = \binom{(n-1)/2}{(d-1)/2} \binom{n-1}{d-1}^{-1} 2^{-(n-1)} \binom{n-1}{(n-1)/2}$ for odd d."""
    half = (n - 1) // 2
    return Fraction(comb(half, (degree - 1) // 2) * comb(n - 1, half), comb(n - 1, degree - 1) * 2 ** (n - 1))


def gap(n: int, k: int) -> Fraction:
    """γ, the difference of the two coefficients."""
    return abs(coefficient(n, k - 1)) - abs(coefficient(n, k + 1))


def gradient(weights: Int[np.ndarray, "n"], k: int) -> Float[np.ndarray, "n"]:
    r"""$E[y\, x_j\, 1(w \cdot x > 0)]$, the negative expected gradient for the parity of the first k bits, k even."""
    n = len(weights)
    inside, outside = (float(coefficient(n, degree)) for degree in (k - 1, k + 1))
    sign = np.prod(weights[:k])
    return 0.5 * sign * np.where(np.arange(n) < k, inside, outside) * weights


def sampled_gradient(
    weights: Int[np.ndarray, "n"], k: int, samples: int, rng: np.random.Generator
) -> Float[np.ndarray, "n"]:
    """The same from random inputs."""
    total = np.zeros(len(weights))
    for start in range(0, samples, 1 << 16):
        x = rng.integers(0, 2, (min(1 << 16, samples - start), len(weights))).astype(np.int8) * 2 - 1
        fires = x @ weights.astype(np.int64) > 0
        total += (x[:, :k].prod(axis=1) * fires) @ x
    return total / samples
