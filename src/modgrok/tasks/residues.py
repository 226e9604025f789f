"""Powers and inverses of whole arrays modulo p."""

from math import prod

import numpy as np
from jaxtyping import Bool, Int

from modgrok.tasks.arithmetic import prime_factors


def power(x: Int[np.ndarray, "*shape"], exponent: int, modulus: int) -> Int[np.ndarray, "*shape"]:
    r"""$x^e$ modulo p for $e \ge 0$, with $0^0 = 1$.

    Exponents are first brought below 2φ(p), for $x^e = x^{(e \bmod φ(p)) + φ(p)}$ whenever $e \ge φ(p)$, whether or not
    x is invertible.
    """
    if x.size > modulus:
        return power(np.arange(modulus), exponent, modulus)[x]
    period = _totient(modulus)
    if exponent >= 2 * period:
        exponent = exponent % period + period
    result, square = np.ones_like(x), x % modulus
    while exponent:
        if exponent & 1:
            result = result * square % modulus
        square = square * square % modulus
        exponent >>= 1
    return result


def invertible(x: Int[np.ndarray, "*shape"], modulus: int) -> Bool[np.ndarray, "*shape"]:
    """Where x has an inverse modulo p: gcd(x, p) = 1."""
    return (np.gcd(np.arange(modulus), modulus) == 1)[x]


def inverse(x: Int[np.ndarray, "*shape"], modulus: int) -> Int[np.ndarray, "*shape"]:
    r"""$x^{-1} = x^{φ(p) - 1}$ modulo p, meaningful where x is invertible."""
    return power(x, _totient(modulus) - 1, modulus)


def _totient(modulus: int) -> int:
    """Euler's φ: how many residues are invertible."""
    factors = prime_factors(modulus)
    return modulus // prod(factors) * prod(q - 1 for q in factors)
