"""Tables with holes: an input that does not occur may have any answer."""

from itertools import permutations

import numpy as np

from modgrok.shapes import Bool, Int
from modgrok.tasks.arithmetic import discrete_logarithm, primitive_root
from modgrok.tasks.structure.separable import Parts, outer_sum

Matrix = Int[np.ndarray, "p p"]


def with_repeated_lines(table: Int[np.ndarray, "*inputs"]) -> Int[np.ndarray, "*inputs"]:
    """Values of a variable that never occur given the answers of one that does.

    The filled table decomposes exactly if the other does, for the value may share the place of the one it repeats.
    """
    filled = table.copy()
    for s in range(table.ndim):
        lines = np.moveaxis(filled, s, 0)
        occurs = (lines.reshape(len(lines), -1) >= 0).any(axis=1)
        lines[~occurs] = lines[np.argmax(occurs)]
    return filled


def with_mirrored_inputs(table: Int[np.ndarray, "*inputs"]) -> Int[np.ndarray, "*inputs"]:
    """Holes given the answer of the same values in another order, as in a table of unordered inputs."""
    filled = table
    for order in permutations(range(table.ndim)) if table.ndim <= 4 else ():
        filled = np.where(filled < 0, table.transpose(order), filled)
    return filled


def sum_among_holes(table: Matrix, modulus: int) -> Parts | None:
    """f_1 and f_2 with T = f_1 + f_2 wherever there is an answer; None if there are none."""
    parts = _potentials(table, table >= 0, modulus)
    wrong = (table >= 0) & (outer_sum(parts, modulus) != table)
    return None if wrong.any() else parts


def product_among_holes(table: Matrix, prime: int) -> Parts | None:
    """g_1 and g_2 with T = g_1·g_2 modulo a prime wherever there is an answer; None if there are none.

    A row without an answer other than 0 may as well have g_1 = 0, any other has not; the logarithms of what is left are
    a sum.
    """
    logarithm = discrete_logarithm(prime, primitive_root(prime))
    powers = np.argsort(logarithm[1:]) + 1  # exponent -> root^exponent
    nonzero = table > 0
    exponents = _potentials(logarithm[table], nonzero, prime - 1)
    first, second = (np.where(nonzero.any(axis=1 - s), powers[part], 0) for s, part in enumerate(exponents))
    wrong = (table >= 0) & (first[:, None] * second % prime != table)
    return None if wrong.any() else (first, second)


def _potentials(values: Matrix, known: Bool[np.ndarray, "p p"], length: int) -> Parts:
    """The only f_1 and f_2 there can be, up to a constant for each connected part of the table, from known to known."""
    parts = tuple(np.full(size, -1) for size in values.shape)
    sides = ((values, known), (values.T, known.T))
    for start in range(len(values)):
        if parts[0][start] >= 0:
            continue
        parts[0][start] = 0
        frontier, side = np.array([start]), 0
        while len(frontier):
            answers, exist = sides[side]
            here, there = parts[side], parts[1 - side]
            reached = np.flatnonzero(exist[frontier].any(axis=0) & (there < 0))
            source = frontier[np.argmax(exist[np.ix_(frontier, reached)], axis=0)]
            there[reached] = (answers[source, reached] - here[source]) % length
            frontier, side = reached, 1 - side
    return tuple(np.maximum(part, 0) for part in parts)
