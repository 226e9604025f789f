"""Groups by their names: the table of a name, and the name of a table.

Convention of Power et al. (2022): x y means first x, then y; of permutations, $(x y)[i] = y[x[i]]$. The permutations of
S_n and A_n are numbered in lexicographic order, direct products with the last factor running fastest.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import permutations, product
from math import factorial

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.shapes import Int
from modgrok.tasks.arithmetic import prime_factors
from modgrok.tasks.basis.group import Cayley, classes, element_orders, generated, identity
from modgrok.tasks.task import check_entries

MOST_NAMED = 1000
"""Groups of a larger order are told apart by their order alone."""
TRIES = 20_000
"""Images of generators that are tried at most for one isomorphism."""

Kinds = Counter[tuple[int, int]]
"""How many elements have which order and a conjugacy class of which size."""


def cayley_table(name: str) -> Cayley:
    """x y at [x, y], of a group by its name."""
    table = np.zeros((1, 1), dtype=np.int64)
    for factor in name.upper().split("X"):
        match = re.fullmatch("([SADQZ])([0-9]{1,4})", factor)
        if match is None:
            raise ModgrokError(f"A group is S5, A4, D4, Q8, Z6, a product such as Z2xZ3, or a table, not {name!r}.")
        other = _BUILDERS[match[1]](int(match[2]))
        check_entries((len(table) * len(other),) * 2)
        table = (table[:, None, :, None] * len(other) + other[None, :, None, :]).reshape((len(table) * len(other),) * 2)
    return table


def _permutations(n: int, even: bool) -> Cayley:
    if not 1 <= n <= 8:
        raise ModgrokError(f"Symmetric groups act on 1 to 7 points and alternating groups on 1 to 8, not {n}.")
    check_entries((factorial(n) // (2 if even and n > 1 else 1),) * 2)
    elements = np.array(list(permutations(range(n))))
    if even:
        later = np.triu_indices(n, 1)
        elements = elements[(elements[:, later[0]] > elements[:, later[1]]).sum(axis=1) % 2 == 0]
    weights = n ** np.arange(n)[::-1]  # a permutation read as a number in base n; ascending in lexicographic order
    numbers = elements @ weights
    return np.stack([np.searchsorted(numbers, elements[:, x] @ weights) for x in elements])


def _cyclic(n: int) -> Cayley:
    check_entries((max(n, 1),) * 2)
    return np.add.outer(np.arange(n), np.arange(n)) % max(n, 1)


def _two_cosets(n: int, square: int) -> Cayley:
    """Order 2n: (k, e) stands for $a^k b^e$ with $b a = a^{-1} b$ and $b^2 = a^{square}$, numbered k + n e."""
    check_entries((2 * n,) * 2)
    e, k = np.divmod(np.arange(2 * n), n)
    exponent = k[:, None] + np.where(e[:, None] == 1, -k, k) + square * (e[:, None] & e)
    return exponent % n + n * (e[:, None] ^ e)


def _dihedral(n: int) -> Cayley:
    if n < 1:
        raise ModgrokError("Dihedral groups start at D1; there is no D0.")
    return _two_cosets(n, 0)


def _dicyclic(order: int) -> Cayley:
    if order < 8 or order % 4:
        raise ModgrokError(f"Dicyclic groups are Q8, Q12, Q16, …: the order must be a multiple of 4, not {order}.")
    return _two_cosets(order // 2, order // 4)


_BUILDERS = {
    "S": lambda n: _permutations(n, even=False),
    "A": lambda n: _permutations(n, even=True),
    "D": _dihedral,
    "Q": _dicyclic,
    "Z": _cyclic,
}


def group_name(table: Cayley) -> str:
    """Such as S5, D6, Q8 or Z2 × Z4; order and invariants of a group that has no such name."""
    order = len(table)
    if order > MOST_NAMED:
        return f"a group of order {order:,}"
    kinds = _kinds(table)
    abelian = all(size == 1 for _, size in kinds)
    for name in _abelian(order) if abelian else _candidates(order):
        if _kinds_of(name) == kinds and (abelian or is_isomorphic(table, cayley_table("x".join(name)))):
            return " × ".join(name)
    orders = Counter(k for (k, _), count in kinds.items() for _ in range(count))
    spelled = ", ".join(f"{count} of order {k}" for k, count in sorted(orders.items()) if k > 1)
    number = len(np.unique(classes(table)))
    return f"a group of order {order} with {number} conjugacy classes and elements {spelled}"


def _kinds(table: Cayley) -> Kinds:
    return Counter((order, size) for order, size, _ in _invariants(table))


@lru_cache
def _kinds_of(name: tuple[str, ...]) -> Kinds:
    """Of a direct product, from its factors."""
    if len(name) == 1:
        return _kinds(cayley_table(name[0]))
    found: Kinds = Counter()
    for ((k, s), a), ((l, t), b) in product(_kinds_of(name[:1]).items(), _kinds_of(name[1:]).items()):
        found[math.lcm(k, l), s * t] += a * b
    return found


def _abelian(order: int) -> Iterator[tuple[str, ...]]:
    """All abelian groups of an order as Z_a × Z_b × … with a | b | …, the cyclic one first."""

    def chains(rest: int, multiple_of: int) -> Iterator[tuple[int, ...]]:
        for first in range(multiple_of, rest + 1, multiple_of):
            if first == rest > 1:
                yield (first,)
            elif first > 1 and rest % first == 0 and set(prime_factors(rest)) <= set(prime_factors(rest // first)):
                yield from ((first, *more) for more in chains(rest // first, first))

    for chain in sorted(chains(order, 1), key=len):
        yield tuple(f"Z{n}" for n in chain)


def _candidates(order: int) -> Iterator[tuple[str, ...]]:
    """Direct products of that order with a factor that is not abelian, the fewest factors first."""
    blocks = [(f"S{n}", factorial(n)) for n in range(3, 8)] + [(f"A{n}", factorial(n) // 2) for n in range(4, 8)]
    blocks += [(f"D{n}", 2 * n) for n in range(4, order // 2 + 1)] + [(f"Q{n}", n) for n in range(8, order + 1, 4)]
    blocks = [(name, n) for name, n in blocks if order % n == 0]

    def products(rest: int, start: int) -> Iterator[tuple[str, ...]]:
        if start < len(blocks):
            yield from products(rest, start + 1)
            name, n = blocks[start]
            if rest % n == 0:
                yield from ((name, *more) for more in products(rest // n, start))
        else:
            yield from _abelian(rest) if rest > 1 else [()]

    return iter(sorted((name for name in products(order, 0) if name[0][0] != "Z"), key=len))


def is_isomorphic(one: Cayley, other: Cayley) -> bool:
    """Whether some map of generators of the first to elements of the second extends to a bijection that respects
    products: tried for all images with the right orders and class sizes, the first up to conjugation."""
    kind, other_kind = (_invariants(table) for table in (one, other))
    rare = Counter(kind)
    if rare != Counter(other_kind):
        return False
    chosen: list[int] = []
    for x in sorted(range(len(one)), key=lambda x: (rare[kind[x]], x)):
        if not generated(one, chosen)[x]:
            chosen.append(x)
    images = [[y for y in range(len(other)) if other_kind[y] == kind[x]] for x in chosen]
    first = classes(other)
    images[0] = [y for y in images[0] if first[y] == y]
    tried = 0

    def extend(found: list[int]) -> bool:
        nonlocal tried
        if len(found) == len(chosen):
            return True
        for y in images[len(found)]:
            tried += 1
            if tried > TRIES:
                return False
            if _respects(one, other, chosen[: len(found) + 1], [*found, y]) and extend([*found, y]):
                return True
        return False

    return extend([])


def _invariants(table: Cayley) -> list[tuple[int, int, int]]:
    """Of every element: its order, the size of its class, and how many square roots it has."""
    each, roots = classes(table), np.bincount(np.diagonal(table), minlength=len(table))
    sizes = np.bincount(each, minlength=len(table))[each]
    return list(zip(element_orders(table).tolist(), sizes.tolist(), roots.tolist(), strict=True))


def _respects(one: Cayley, other: Cayley, start: list[int], images: list[int]) -> bool:
    """Whether generators ↦ images extends to an injective homomorphism of the subgroup that they generate."""
    image = np.full(len(one), -1)
    image[identity(one)] = identity(other)
    frontier: Int[np.ndarray, "_"] = np.array([identity(one)])
    while len(frontier):
        reached = []
        for x, y in zip(start, images, strict=True):
            products, values = one[frontier, x], other[image[frontier], y]
            fresh = image[products] < 0
            image[products[fresh]] = values[fresh]
            if not np.array_equal(image[products], values):
                return False
            reached.append(products[fresh])
        frontier = np.unique(np.concatenate(reached))
    known = image[image >= 0]
    return len(np.unique(known)) == len(known)
