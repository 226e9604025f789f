"""Number theory of Z_p: primes, powers, inverses, primitive roots, discrete logarithms."""

import math
from functools import lru_cache

import numpy as np

from modgrok.shapes import Int


def is_prime(p: int) -> bool:
    """Whether p is prime, by trial division (moduli here are small)."""
    return p >= 2 and all(p % d for d in range(2, math.isqrt(p) + 1))


def prime_factors(x: int) -> list[int]:
    """The distinct primes that divide x, ascending."""
    factors, d = [], 2
    while d * d <= x:
        if x % d == 0:
            factors.append(d)
            while x % d == 0:
                x //= d
        d += 1
    return [*factors, x] if x > 1 else factors


def primitive_root(p: int) -> int:
    """The smallest generator of the multiplicative group modulo a prime p."""
    return next(g for g in range(1, p) if all(pow(g, (p - 1) // q, p) != 1 for q in prime_factors(p - 1)))


def discrete_logarithm(p: int) -> tuple[Int[np.ndarray, "p"], Int[np.ndarray, "p-1"]]:
    """Logarithms to the smallest primitive root modulo a prime p, −1 at n = 0, and the powers of that root."""
    root = primitive_root(p)
    power = np.array([pow(root, k, p) for k in range(p - 1)])
    return first_places(power, p), power


@lru_cache
def totient(modulus: int) -> int:
    """Euler's φ: how many residues are invertible."""
    factors = prime_factors(modulus)
    return modulus // math.prod(factors) * math.prod(q - 1 for q in factors)


def reduced_exponent(exponent: int, modulus: int) -> int:
    r"""An exponent below 2φ(p) with the same powers.

    $x^e = x^{(e \bmod φ(p)) + φ(p)}$ whenever $e \ge φ(p)$, whether or not x is invertible.
    """
    period = totient(modulus)
    return exponent if exponent < 2 * period else exponent % period + period


def power(x: Int[np.ndarray, "*shape"], exponent: int, modulus: int) -> Int[np.ndarray, "*shape"]:
    r"""$x^e$ modulo p for $e \ge 0$, with $0^0 = 1$."""
    result, square = np.ones_like(x), x % modulus
    while exponent:
        if exponent & 1:
            result = result * square % modulus
        exponent >>= 1
        if exponent:
            square = square * square % modulus
    return result


def powers(modulus: int) -> Int[np.ndarray, "p p"]:
    """n^m modulo p for n, m = 0 … p − 1, with 0^0 = 1."""
    rows = [np.ones(modulus, dtype=np.int64)]
    for _ in range(1, modulus):
        rows.append(rows[-1] * np.arange(modulus) % modulus)
    return np.stack(rows, axis=1)


def roots(modulus: int) -> Int[np.ndarray, "p p"]:
    """The smallest r with r^m = n for n, m = 0 … p − 1; −1 where there is none."""
    return np.stack([first_places(column, modulus) for column in powers(modulus).T], axis=1)


def logarithms(modulus: int) -> Int[np.ndarray, "p p"]:
    """The smallest x with n^x = m for n, m = 0 … p − 1; −1 where there is none."""
    return np.stack([first_places(row, modulus) for row in powers(modulus)])


def first_places(values: Int[np.ndarray, "x"], modulus: int) -> Int[np.ndarray, "p"]:
    """The first place at which each number stands; −1 where it stands nowhere."""
    found = np.full(modulus, -1, dtype=np.int64)
    found[values[::-1]] = np.arange(len(values))[::-1]
    return found
