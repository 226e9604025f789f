r"""Products in a group that need not be cyclic: $T(n, m) = F(f_1(n) ∘ f_2(m))$, from the table alone.

A Latin square is the table of a group up to the names of rows, columns and answers exactly if it is so with the product
$T(n, 0) ∘ T(0, m) = T(n, m)$, its principal loop isotope (Albert's theorem: a loop isotopic to a group is isomorphic to
it). So one test of associativity decides.

Where F is not injective but $f_1$ and $f_2$ are bijections, $T(n', m) = T(n, π(m))$ with the permutation π that
multiplies $f_2(m)$ by $f_1(n)^{-1} ∘ f_1(n')$. All these permutations are the group itself, acting on the columns
without fixed points.
"""

from collections.abc import Iterator

import numpy as np

from modgrok.shapes import Int
from modgrok.tasks.arithmetic import is_prime
from modgrok.tasks.basis.group import Cayley, element_orders, is_latin, not_associative
from modgrok.tasks.structure.cyclic import SHIFT_EFFORT, distinct
from modgrok.tasks.structure.shifts import Budget, Matrix, Permutation, shift_permutations
from modgrok.tasks.structure.verdict import Structure


def of_latin_square(table: Int[np.ndarray, "*inputs"]) -> Structure | None:
    """The group of a Latin square, or three elements that do not associate; None for other tables and cyclic groups."""
    if table.ndim != 2 or not is_latin(table):
        return None
    p = len(table)
    product = np.empty_like(table)
    product[table[:, :1], table[:1]] = table
    wrong = not_associative(product)
    if wrong:
        x, g, y = wrong
        left, right = int(product[product[x, g], y]), int(product[x, product[g, y]])
        reason = (
            "A Latin square that is isotopic to no group (so no function of a sum or a product either): with "
            f"T(n, 0) ∘ T(0, m) = T(n, m), ({x} ∘ {g}) ∘ {y} = {left}, but {x} ∘ ({g} ∘ {y}) = {right}."
        )
        return Structure("none", p, reason)
    if element_orders(product).max() == p:
        return None
    return _named("group", p, (table[:, 0], table[0]), np.arange(p), product)


def function_of_group(table: Int[np.ndarray, "*inputs"]) -> Structure | None:
    """F(f1(n) ∘ f2(m)) where the different rows and the different columns are as many as the group has elements; None
    where no such group is found."""
    lines = distinct(table, 0) if table.ndim == 2 else None
    if lines is None or lines.matrix.shape[0] != lines.matrix.shape[1] or is_prime(len(lines.matrix)):
        return None
    matrix = lines.matrix
    if any(np.any(np.sort(side, axis=1) != np.sort(side[0])) for side in (matrix, matrix.T)):
        return None
    answers = np.unique(table)
    for product in _regular_groups(matrix, {0: np.arange(len(matrix))}, Budget(SHIFT_EFFORT)):
        places = {matrix[0][permutation].tobytes(): i for i, permutation in enumerate(product)}
        rows = np.array([places[row.tobytes()] for row in matrix])
        return _named("function_of_group", len(table), (rows[lines.row], lines.column), answers[matrix[0]], product)
    return None


def _named(kind: str, p: int, parts: tuple[np.ndarray, ...], outer: np.ndarray, product: Cayley) -> Structure:
    from modgrok.tasks.basis.named_groups import group_name

    name = group_name(product)
    reason = f"Up to names of rows, columns and answers it is the table of {name}."
    if kind == "function_of_group":
        reason = f"In the coordinates f1, f2 all rows are shifts of one sequence of answers along {name}."
    return Structure(kind, p, reason, parts, outer, product, name)  # type: ignore[arg-type]


def _regular_groups(matrix: Matrix, group: dict[int, Permutation], budget: Budget) -> Iterator[Cayley]:
    """Groups of permutations of the columns that contain a given one, with one permutation for each column that it
    takes the first to, under which every row is a rearrangement of the first. The permutations are a Cayley table:
    π_i(j) = i ∘ j."""
    if not budget.spend(8 * matrix.size):
        return
    explained = {matrix[0][permutation].tobytes() for permutation in group.values()}
    missing = [i for i, row in enumerate(matrix) if row.tobytes() not in explained]
    if missing:
        for shift in shift_permutations(matrix, 0, missing[0], budget):
            grown = _generated([*group.values(), shift])
            if grown is not None:
                yield from _regular_groups(matrix, grown, budget)
    elif len(group) == len(matrix):
        yield np.array([group[i] for i in range(len(matrix))])


def _generated(start: list[Permutation]) -> dict[int, Permutation] | None:
    """The group of permutations without fixed points that the given ones generate, by the image of 0; None where some
    permutation but the identity has a fixed point."""
    length = len(start[0])
    found, frontier = {0: np.arange(length)}, [np.arange(length)]
    while frontier:
        one = frontier.pop()
        for other in start:
            both = other[one]
            known = found.setdefault(int(both[0]), both)
            if known is both:
                if np.any(both == np.arange(length)):
                    return None
                frontier.append(both)
            elif not np.array_equal(known, both):
                return None
    return found
