r"""Products and quotients modulo M, taken in a monoid in which every element lies in a group.

Modulo a prime power $q^k$ a residue is $q^vw$ with w invertible modulo $q^{k-v}$. As the first factor it becomes the
element (v, 0, w), the second factor $q^ju$ becomes (0, j, u), and elements are multiplied by taking the larger v, the
larger j and the product of the units modulo $q^{k-v-j}$; all with $v + j \ge k$ are one zero. So (v, j, wu) says all
that is needed of the product $q^{v+j}wu$. For quotients the divisor $q^ju$ becomes $(j, j, u^{-1})$, elements have
$v \ge j$ and units modulo $q^{k-v}$, and (v, j, w) has the value $q^{v-j}w$ modulo $q^{k-j}$. Elements with the same v
and j are a group. Modulo M the elements of its prime powers are taken together; for products modulo a squarefree M they
are the residues themselves.
"""

from typing import NamedTuple

import numpy as np

from modgrok.shapes import Int
from modgrok.tasks.arithmetic import prime_factors


class Residues(NamedTuple):
    """A commutative monoid of L elements, ordered by their values."""

    product: Int[np.ndarray, "L L"]
    first: Int[np.ndarray, "M"]
    """The element of every residue as the first factor, or the dividend."""
    second: Int[np.ndarray, "M"]
    """As the second factor, or the divisor."""
    value: Int[np.ndarray, "L"]
    modulus: Int[np.ndarray, "L"]
    """What the value is known modulo: M for products, M/gcd(m, M) for quotients by m."""


def residues(modulus: int, quotients: bool = False) -> Residues:
    """The monoid of products, or of quotients, modulo any number. A quotient that does not exist has some value."""
    one = np.zeros((1, 1), dtype=np.int64)
    found = Residues(one, one[0], one[0], one[0], one[0] + 1)
    for prime in prime_factors(modulus):
        power = max(k for k in range(1, modulus.bit_length()) if modulus % prime**k == 0)
        found = _together(found, _local(prime, power, quotients))
    order = np.lexsort((found.modulus, found.value))
    number = np.argsort(order)
    product = number[found.product[np.ix_(order, order)]]
    return Residues(product, number[found.first], number[found.second], found.value[order], found.modulus[order])


def _together(one: Residues, other: Residues) -> Residues:
    """Modulo the product of two coprime numbers."""
    m, k, length = len(one.first), len(other.first), len(other.value)
    product = one.product[:, None, :, None] * length + other.product[None, :, None, :]
    both = np.arange(m * k)
    pairs = [a[both % m] * length + b[both % k] for a, b in ((one.first, other.first), (one.second, other.second))]
    size = np.multiply.outer(one.modulus, other.modulus).reshape(-1)
    value = np.add.outer(one.value * k * pow(k, -1, m), other.value * m * pow(m, -1, k)).reshape(-1) % size
    return Residues(product.reshape(len(size), -1), pairs[0], pairs[1], value, size)


def _local(q: int, k: int, quotients: bool) -> Residues:
    levels = [(v, j) for v in range(k + 1) for j in range(v + 1 if quotients else k - v)]
    levels += [] if quotients else [(k, 0)]
    elements = [(v, j, w) for v, j in levels for w in range(q ** (k - _level(v, j, quotients))) if w % q or v == k]
    v, j, w = np.array(elements).T
    number = np.zeros((k + 1, k + 1, q**k), dtype=np.int64)
    number[v, j, w] = np.arange(len(v))

    def element(v: np.ndarray, j: np.ndarray, w: np.ndarray) -> np.ndarray:
        level = _level(v, j, quotients)
        zero = level >= k
        return number[np.where(zero, k, v), np.where(zero & (not quotients), 0, j), w % q ** np.maximum(k - level, 0)]

    product = element(np.maximum.outer(v, v), np.maximum.outer(j, j), np.multiply.outer(w, w))
    n = np.arange(q**k)
    depth = np.array([next(d for d in range(k, -1, -1) if x % q**d == 0) for x in n.tolist()])
    unit = n // q**depth
    if quotients:
        inverse = np.array([pow(u, -1, q**k) if u else 0 for u in unit.tolist()])
        second, modulus, value = element(depth, depth, inverse), q ** (k - j), q ** (v - j) * w
    else:
        second, modulus, value = element(0 * depth, depth, unit), np.full(len(v), q**k), q ** (v + j) * w
    return Residues(product, element(depth, 0 * depth, unit), second, value % modulus, modulus)


def _level(v, j, quotients: bool):  # type: ignore[no-untyped-def]
    """The power of q that units are not known modulo."""
    return v if quotients else v + j
