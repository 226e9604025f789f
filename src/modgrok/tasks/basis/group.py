"""Finite groups as Cayley tables, x y at [x, y]: the axioms, and what follows from a table alone."""

from collections.abc import Iterator

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.shapes import Bool, Int

Cayley = Int[np.ndarray, "order order"]


def identity(table: Cayley) -> int:
    """The element e with e x = x e = x; an error where there is none."""
    order = np.arange(len(table))
    both = np.flatnonzero((table == order).all(axis=1) & (order == table.T).all(axis=1))
    if not len(both):
        raise ModgrokError("This table has no identity element, so it is not a group.")
    return int(both[0])


def inverses(table: Cayley) -> Int[np.ndarray, "order"]:
    """x⁻¹ of every x."""
    return np.argmax(table == identity(table), axis=1)


def conjugation(table: Cayley) -> Cayley:
    """x y x⁻¹ at [x, y]."""
    return table[table, inverses(table)[:, None]]


def classes(table: Cayley) -> Int[np.ndarray, "order"]:
    """The least element of every element's conjugacy class."""
    return conjugation(table).min(axis=0)


def element_orders(table: Cayley) -> Int[np.ndarray, "order"]:
    """The least k ≥ 1 with x^k = e, for every x."""
    e, elements = identity(table), np.arange(len(table))
    orders, powers = np.zeros(len(table), dtype=np.int64), elements
    for k in range(1, len(table) + 1):
        orders[(powers == e) & (orders == 0)] = k
        powers = table[powers, elements]
    return orders


def generated(table: Cayley, start: list[int]) -> Bool[np.ndarray, "order"]:
    """Which elements the given ones generate by products from the right."""
    reached = np.zeros(len(table), dtype=bool)
    frontier = np.array([identity(table)])
    while len(frontier):
        reached[frontier] = True
        products = np.unique(table[frontier[:, None], np.array(start, dtype=np.int64)])
        frontier = products[~reached[products]]
    return reached


def generators(table: Cayley) -> Iterator[int]:
    """A generating set of at most log2(order) elements, each the least that those before it do not reach."""
    found: list[int] = []
    while not (reached := generated(table, found)).all():
        found.append(int(np.argmin(reached)))
        yield found[-1]


def is_latin(table: Int[np.ndarray, "..."]) -> bool:
    """Whether every row and every column has every element 0, 1, … once."""
    n = len(table)
    return table.shape == (n, n) and all(
        np.array_equal(np.sort(lines, axis=1), np.broadcast_to(np.arange(n), (n, n))) for lines in (table, table.T)
    )


def not_associative(table: Cayley) -> tuple[int, int, int] | None:
    """x, g, y with (x g) y ≠ x (g y) in a Latin square with a neutral element; None in a group.

    Light's test: elements that associate in the middle are closed under products, so it is enough to look at
    generators, of which a Latin square has at most log2(order).
    """
    for g in generators(table):
        wrong = np.argwhere(table[:, table[g]] != table[table[:, g]])
        if len(wrong):
            return int(wrong[0, 0]), g, int(wrong[0, 1])
    return None


def check_group(table: Int[np.ndarray, "..."]) -> None:
    """An error that says why a table is not that of a group."""
    n = len(table)
    if table.shape != (n, n) or not np.array_equal(np.sort(table, axis=1), np.broadcast_to(np.arange(n), (n, n))):
        raise ModgrokError("A Cayley table must be square, with every element 0, 1, … once in every row.")
    if not is_latin(table):
        raise ModgrokError("A Cayley table must have every element once in every column.")
    if wrong := not_associative(table):
        x, g, y = wrong
        raise ModgrokError(f"This table is not associative: ({x}·{g})·{y} is not {x}·({g}·{y}).")
