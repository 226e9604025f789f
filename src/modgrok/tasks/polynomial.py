"""A function of one variable, given by its values, spelled as a polynomial where a short one exists."""

from math import gcd

import numpy as np

from modgrok.shapes import Int

MOST_TERMS = 4
MOST_DEGREE = 12


def coefficients(values: Int[np.ndarray, "p"], degree: int = MOST_DEGREE) -> list[int] | None:
    r"""$c_0, c_1, …$ with $f(n) = \sum_i c_i n^i$ modulo p for all n; None where no polynomial of the degree does it.

    Newton's interpolation $f(n) = \sum_k a_k\, n (n-1) ⋯ (n-k+1)$ with $k!\, a_k = (Δ^k f)(0)$. The product is a
    multiple of $k!$, so any solution $a_k$ serves, and there is no polynomial where an equation has none; p may be any.
    """
    p = len(values)
    differences, factorial = values, 1
    result, falling = np.zeros(degree + 1, dtype=np.int64), np.zeros(degree + 1, dtype=np.int64)
    falling[0] = 1
    for k in range(min(degree, p - 1) + 1):
        factorial = factorial * max(k, 1) % p
        divisor = gcd(factorial, p)
        if differences[0] % divisor:
            return None
        reduced = p // divisor
        a = int(differences[0]) // divisor * pow(factorial // divisor, -1, reduced) % reduced
        result = (result + a * falling) % p
        falling = (np.concatenate([[0], falling[:-1]]) - k * falling) % p
        differences = np.diff(differences) % p
    total = np.zeros(p, dtype=np.int64)
    for c in reversed(result):
        total = (total * np.arange(p) + c) % p
    return result.tolist() if np.array_equal(total, values) else None


def spell(values: Int[np.ndarray, "p"], variable: str) -> str | None:
    """Such as `3*n^2 - n + 1`, coefficients between −p/2 and p/2; None where no polynomial of few terms does it."""
    p = len(values)
    found = coefficients(values)
    if found is None or np.count_nonzero(found) > MOST_TERMS:
        return None
    text = ""
    for exponent, c in reversed(list(enumerate(found))):
        if c:
            signed = c if 2 * c <= p else c - p
            sign = ("-" if signed < 0 else "") if not text else (" - " if signed < 0 else " + ")
            text += sign + _term(abs(signed), exponent, variable)
    return text or "0"


def _term(c: int, exponent: int, variable: str) -> str:
    power = variable if exponent == 1 else f"{variable}^{exponent}"
    if exponent == 0:
        return str(c)
    return power if c == 1 else f"{c}*{power}"
