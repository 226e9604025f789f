r"""`group:NAME`: products in finite groups.

    group:S5  A4  D4  Q8  Z6     symmetric, alternating, dihedral (order 2n), dicyclic (of that order), cyclic
    group:Z2xZ3                  direct products
    group:table.csv              any Cayley table; it must be one of a group
    group:S5:conjugation         x y x⁻¹
    group:S5:xyx                 x y x
    group:S3,codes=30            every answer is a fixed vector of 30 normal numbers instead of a one-hot vector

Convention of Power et al. (2022): x y means first x, then y; of permutations, $(x y)[i] = y[x[i]]$. The permutations of
S_n and A_n are numbered in lexicographic order, direct products with the last factor running fastest.
"""

import re
from itertools import permutations
from math import factorial
from pathlib import Path

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.shapes import Int
from modgrok.tasks.families.family import Family
from modgrok.tasks.families.files import SUFFIXES, read_table
from modgrok.tasks.task import Task, check_entries

CODES = ",codes="
Cayley = Int[np.ndarray, "order order"]


def cayley_table(name: str) -> Cayley:
    """x y at [x, y], of a group by its name."""
    table = np.zeros((1, 1), dtype=np.int64)
    for factor in name.upper().split("X"):
        match = re.fullmatch("([SADQZ])([0-9]{1,4})", factor)
        if match is None:
            raise ModgrokError(f"Groups are S5, A4, D4, Q8, Z6, products such as Z2xZ3, or a table; {name!r} is none.")
        other = _BUILDERS[match[1]](int(match[2]))
        check_entries((len(table) * len(other),) * 2)
        table = (table[:, None, :, None] * len(other) + other[None, :, None, :]).reshape((len(table) * len(other),) * 2)
    return table


def _permutations(n: int, even: bool) -> Cayley:
    if not 1 <= n <= 8:
        raise ModgrokError(f"Symmetric and alternating groups are of 1 to 7 (or 8) points, not {n}.")
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
        raise ModgrokError("A dihedral group D1, D2, … is that of a polygon with at least one side, not D0.")
    return _two_cosets(n, 0)


def _dicyclic(order: int) -> Cayley:
    if order < 8 or order % 4:
        raise ModgrokError(f"The dicyclic groups are Q8, Q12, Q16, …, of an order that 4 divides, not Q{order}.")
    return _two_cosets(order // 2, order // 4)


_BUILDERS = {
    "S": lambda n: _permutations(n, even=False),
    "A": lambda n: _permutations(n, even=True),
    "D": _dihedral,
    "Q": _dicyclic,
    "Z": _cyclic,
}


def identity(table: Cayley) -> int:
    """The element e with e x = x e = x; an error where there is none."""
    order = np.arange(len(table))
    both = np.flatnonzero((table == order).all(axis=1) & (order == table.T).all(axis=1))
    if not len(both):
        raise ModgrokError("A group has a neutral element, and no row and column of this table repeat the elements.")
    return int(both[0])


def check_group(table: Int[np.ndarray, "..."]) -> None:
    """An error that says why a table is not that of a group.

    Associativity by Light's test: x (g y) = (x g) y for all x, y and for g in a generating set, which a Latin square
    has with at most log2(order) elements.
    """
    n = len(table)
    if table.shape != (n, n) or not np.array_equal(np.sort(table, axis=1), np.broadcast_to(np.arange(n), (n, n))):
        raise ModgrokError("A Cayley table is square, and every row has every element 0, 1, … once.")
    if not np.array_equal(np.sort(table, axis=0).T, np.broadcast_to(np.arange(n), (n, n))):
        raise ModgrokError("A Cayley table has every element once in every column.")
    reached = np.zeros(n, dtype=bool)
    reached[identity(table)] = True
    while not reached.all():
        g = int(np.argmin(reached))
        wrong = np.argwhere(table[:, table[g]] != table[table[:, g]])
        if len(wrong):
            x, y = (int(i) for i in wrong[0])
            raise ModgrokError(f"A group is associative, and here ({x}·{g})·{y} is not {x}·({g}·{y}).")
        reached[g] = True
        while True:
            elements = np.flatnonzero(reached)
            reached[table[np.ix_(elements, elements)]] = True
            if np.count_nonzero(reached) == len(elements):
                break


def inverses(table: Cayley) -> Int[np.ndarray, "order"]:
    """x⁻¹ of every x."""
    return np.argmax(table == identity(table), axis=1)


def conjugation(table: Cayley) -> Cayley:
    """x y x⁻¹ at [x, y]."""
    return table[table, inverses(table)[:, None]]


def xyx(table: Cayley) -> Cayley:
    """x y x at [x, y]."""
    return table[table, np.arange(len(table))[:, None]]


OPERATIONS = {"product": lambda table: table, "conjugation": conjugation, "xyx": xyx}


def _read(text: str, _: int | None) -> Task:
    described, comma, codes = text.partition(CODES)
    if comma and not re.fullmatch("[1-9][0-9]{0,3}", codes):
        raise ModgrokError(f"Elements as vectors of 30 numbers are written group:S3{CODES}30, not {text!r}.")
    name, colon, operation = described.partition(":")[2].rpartition(":")
    if not colon:
        name, operation = operation, "product"
    if operation.lower() not in OPERATIONS:
        raise ModgrokError(f"The operations on a group are {', '.join(OPERATIONS)}, not {operation!r}.")
    if name.lower().endswith(SUFFIXES):
        table = Task.from_table(read_table(Path(name)), name).table
        try:
            check_group(table)
        except ModgrokError as error:
            raise ModgrokError(f"{name!r} is not the table of a group. {error}") from None
    else:
        table = cayley_table(name.strip())
    answers = OPERATIONS[operation.lower()](table)
    vectors = np.random.default_rng(0).standard_normal((len(table), int(codes))) if codes else None
    return Task(text, table.shape, len(table), answers, codes=vectors)


FAMILY = Family("group", "group:.*", _read, "group:S5, products in a group; group:S5:conjugation, group:S5:xyx")
