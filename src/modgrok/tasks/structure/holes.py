"""Tables with holes: an input that does not occur may have any answer."""

from itertools import permutations

import numpy as np

from modgrok.shapes import Bool, Int
from modgrok.tasks.arithmetic import discrete_logarithm, logarithms, powers, primitive_root, roots
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


def sum_among(table: Matrix, modulus: int) -> Parts | None:
    """f_1 and f_2 with T = f_1 + f_2 wherever there is an answer; None if there are none."""
    parts = _potentials(table, table >= 0, modulus)
    wrong = (table >= 0) & (outer_sum(parts, modulus) != table)
    return None if wrong.any() else parts


def product_among(table: Matrix, prime: int) -> Parts | None:
    """g_1 and g_2 with T = g_1·g_2 modulo a prime wherever there is an answer; None if there are none.

    A row without an answer other than 0 may have g_1 = 0, any other has not; the logarithms of what is left are a sum.
    """
    logarithm, power = discrete_logarithm(prime)
    nonzero = table > 0
    exponents = _potentials(logarithm[table], nonzero, prime - 1)
    first, second = (np.where(nonzero.any(axis=1 - s), power[part], 0) for s, part in enumerate(exponents))
    wrong = (table >= 0) & (first[:, None] * second % prime != table)
    return None if wrong.any() else (first, second)


def root_among(table: Matrix, prime: int) -> Parts | None:
    """b and e such that T is the least r with r^e(m) = b(n) wherever there is an answer; None if there are none.

    Where some e is prime to p − 1 its column has all answers, and b may be taken to be that column itself: raising b
    and r^e to a power that is prime to p − 1 changes nothing.
    """
    base = table[:, np.argmax((table >= 0).sum(axis=0))]
    exponent = None if base.min() < 0 else _matching(table.T, roots(prime)[base].T)
    return None if exponent is None else (base, exponent)


def logarithm_among(table: Matrix, prime: int) -> Parts | None:
    """b and c such that T is the least x with b(n)^x = c(m) wherever there is an answer; None if there are none.

    The row with most answers may be taken to be that of a primitive root, where only c = 0 has no logarithm.
    """
    most = table[np.argmax((table >= 0).sum(axis=1))]
    argument = np.where(most < 0, 0, powers(prime)[primitive_root(prime), most])
    base = _matching(table, logarithms(prime)[:, argument])
    return None if base is None else (base, argument)


def _matching(lines: Matrix, candidates: Matrix) -> Int[np.ndarray, "p"] | None:
    """For every line the first candidate that has its answers; None if some line has no such candidate."""
    found = np.zeros(len(lines), dtype=np.int64)
    for i, line in enumerate(lines):
        fits = ((candidates == line) | (line < 0)).all(axis=1)
        if not fits.any():
            return None
        found[i] = np.argmax(fits)
    return found


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
