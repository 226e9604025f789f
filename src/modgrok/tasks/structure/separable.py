"""Tables that are a sum or a product of functions of one variable each: decided exactly, for every modulus."""

import math
from functools import reduce

import numpy as np

from modgrok.shapes import Bool, Int
from modgrok.tasks.arithmetic import discrete_logarithm, prime_factors

Parts = tuple[Int[np.ndarray, "_"], ...]


def _lines(table: Int[np.ndarray, "*inputs"], at: tuple[int, ...]) -> list[np.ndarray]:
    """The table along each axis through the entry `at`."""
    return [np.moveaxis(table, s, -1)[(*at[:s], *at[s + 1 :])] for s in range(table.ndim)]


def outer_sum(parts: Parts, modulus: int) -> Int[np.ndarray, "*inputs"]:
    r"""$\sum_s f_s(n_s)$ modulo `modulus` as a table."""
    return reduce(np.add.outer, parts) % modulus


def outer_product(parts: Parts, modulus: int) -> Int[np.ndarray, "*inputs"]:
    r"""$\prod_s g_s(n_s)$ modulo `modulus` as a table."""
    return reduce(lambda total, part: np.multiply.outer(total, part) % modulus, parts)


def as_sum(table: Int[np.ndarray, "*inputs"], modulus: int) -> Parts | None:
    r"""f_s with $T = \sum_s f_s$, or None if there are none.

    The lines through the origin are the only choice up to constants, so one comparison decides. f_1 carries T(0, …, 0).
    """
    first, *rest = _lines(table, (0,) * table.ndim)
    origin = table[(0,) * table.ndim]
    parts = (first % modulus, *((line - origin) % modulus for line in rest))
    return parts if np.array_equal(outer_sum(parts, modulus), table % modulus) else None


def _is_unit(table: np.ndarray, modulus: int) -> Bool[np.ndarray, "*inputs"]:
    return (np.gcd(np.arange(modulus), modulus) == 1)[table]


def _product_through_unit(table: np.ndarray, modulus: int) -> Parts | None:
    """The only g_s there can be, from the lines through the first invertible entry, or None."""
    units = _is_unit(table, modulus)
    if not units.any():
        return None
    at = tuple(int(i) for i in np.unravel_index(int(np.argmax(units)), table.shape))
    inverse = pow(int(table[at]), -1, modulus) if modulus > 1 else 0
    first, *rest = _lines(table, at)
    parts = (first % modulus, *(line * inverse % modulus for line in rest))
    return parts if np.array_equal(outer_product(parts, modulus), table % modulus) else None


def _product_modulo_power(table: np.ndarray, power: int) -> Parts | None:
    """g_s modulo a prime power: what divides the whole table goes to g_1, the rest has an invertible entry."""
    common = math.gcd(power, int(np.gcd.reduce(table.ravel())))
    if common == power:
        return tuple(np.zeros(size, dtype=np.int64) for size in table.shape)
    parts = _product_through_unit(table // common % (power // common), power // common)
    return None if parts is None else (parts[0] * common % power, *parts[1:])


def as_product(table: Int[np.ndarray, "*inputs"], modulus: int) -> Parts | None:
    r"""g_s with $T = \prod_s g_s$, or None if there are none, for every modulus.

    With an invertible entry the lines through it are the only choice up to units. Without one the question is
    decided modulo each prime power of the modulus and put together by the Chinese remainder theorem.
    """
    if _is_unit(table, modulus).any():
        return _product_through_unit(table, modulus)
    parts = [np.zeros(size, dtype=np.int64) for size in table.shape]
    for prime in prime_factors(modulus):
        power = prime
        while modulus % (power * prime) == 0:
            power *= prime
        local = _product_modulo_power(table % power, power)
        if local is None:
            return None
        rest = modulus // power
        idempotent = rest * pow(rest, -1, power) % modulus  # 1 modulo this prime power, 0 modulo the others
        parts = [(part + idempotent * piece) % modulus for part, piece in zip(parts, local, strict=True)]
    return tuple(parts)


def as_shifted_product(table: Int[np.ndarray, "*inputs"], modulus: int) -> tuple[Parts, int] | None:
    r"""g_s and c with $T = c + \prod_s g_s$, or None if there are none.

    In every 2×2 minor with the corner $T_{00}$ the quadratic terms in c cancel:
    $T_{00} T_{nm} - T_{n0} T_{0m} = c\,(T_{00} + T_{nm} - T_{n0} - T_{0m})$.
    """
    flat = table.reshape(table.shape[0], -1)
    corner, row, column = flat[0, 0], flat[:1], flat[:, :1]
    left = (corner * flat - row * column) % modulus
    right = (corner + flat - row - column) % modulus
    occurs = np.zeros((modulus, modulus), dtype=bool)
    occurs[left, right] = True
    left, right = np.nonzero(occurs)
    shifts = np.arange(modulus)
    for start in range(0, len(left), 256):
        block = slice(start, start + 256)
        holds = (left[block, None] - shifts * right[block, None]) % modulus == 0
        shifts = shifts[holds.all(axis=0)]
        if not len(shifts):
            return None
    for shift in shifts:
        parts = as_product((table - shift) % modulus, modulus)
        if parts is not None:
            return parts, int(shift)
    return None


def as_power(table: Int[np.ndarray, "*inputs"], prime: int) -> Parts | None:
    r"""b and e with $T(n, m) = b(n)^{e(m)}$ modulo a prime, $0^0 = 1$; None if there are none.

    Rows with an answer 0 have the base 0. In the others the logarithms are a product modulo p − 1. Where that says
    e = 0, a row with the base 0 says whether it is 0 or p − 1.
    """
    zero = (table == 0).any(axis=1)
    if zero.all() or prime < 3:
        return None
    logarithm, power = discrete_logarithm(prime)
    parts = as_product(logarithm[table[~zero]], prime - 1)
    if parts is None:
        return None
    base, exponent = np.zeros(prime, dtype=np.int64), parts[1] % (prime - 1)
    base[~zero] = power[parts[0] % (prime - 1)]
    if zero.any():
        exponent = np.where((exponent == 0) & (table[np.argmax(zero)] == 0), prime - 1, exponent)
    powers_of = np.where(exponent == 0, 1, 0)
    return (base, exponent) if np.array_equal(table[zero], np.broadcast_to(powers_of, table[zero].shape)) else None
