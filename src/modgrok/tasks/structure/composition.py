"""Functions of a sum and of a product. A search gives a structure, or why there is none, or None: it cannot tell."""

import math

import numpy as np

from modgrok.shapes import Int
from modgrok.tasks.arithmetic import discrete_logarithm, is_prime
from modgrok.tasks.structure.cyclic import CyclicSum, cyclic_sum
from modgrok.tasks.structure.separable import Parts, as_shifted_product
from modgrok.tasks.structure.verdict import Structure

Table = Int[np.ndarray, "*inputs"]


def function_of_sum(table: Table) -> Structure | str | None:
    r"""$F(\sum_s f_s(n_s))$ modulo p, with f_s(0) = 0 and 1 for the first value of an f_s that is invertible.

    The coordinate is free up to a constant in each f_s and a common invertible factor, which F undoes.
    """
    p = table.shape[0]
    found = cyclic_sum(table, p)
    if not isinstance(found, CyclicSum):
        return found
    index, readout = found
    steps = [(places - places[0]) % p for places in index]
    units = [int(step) for step in np.concatenate(steps) if math.gcd(int(step), p) == 1]
    factor = pow(units[0], -1, p) if units else 1
    outer = np.zeros_like(readout)
    outer[factor * (np.arange(p) - sum(int(places[0]) for places in index)) % p] = readout
    reason = "In the coordinates f1, f2, … all slices of the table are shifts of one sequence of answers."
    return Structure("function_of_sum", p, reason, tuple(factor * step % p for step in steps), outer)


def function_of_product(table: Table) -> Structure | str | None:
    r"""$F(\prod_s g_s(n_s))$ modulo p: first with F(x) = x + c, for every p, then with any F for prime p."""
    p = table.shape[0]
    shifted = as_shifted_product(table, p)
    if shifted is not None:
        parts, shift = shifted
        reason = f"Less the constant {shift} the table has rank one modulo p."
        return Structure("function_of_product", p, reason, parts, (np.arange(p) + shift) % p)
    return _function_of_prime_product(table, p) if is_prime(p) else _composite_exclusion(table, p)


def _constant_slices(table: Table) -> list[tuple[int, int, int]]:
    """(variable, value, answer) for every slice of the table that holds a single answer."""
    slices = []
    for s in range(table.ndim):
        lines = np.moveaxis(table, s, 0).reshape(table.shape[s], -1)
        constant = np.flatnonzero((lines == lines[:, :1]).all(axis=1))
        slices += [(s, int(n), int(lines[n, 0])) for n in constant]
    return slices


def _function_of_prime_product(table: Table, p: int) -> Structure | str | None:
    """Any F for prime p, through the discrete logarithm.

    Where g_s(n) = 0 the slice is constant, F(0), and a slice that is constant with that answer may as well have
    g_s(n) = 0. What is left is a function of a sum in Z_{p-1}.
    """
    constant = _constant_slices(table)
    excluded = []
    answers = sorted({answer for _, _, answer in constant})
    for at_zero in answers or [0]:
        zeros = {(s, n) for s, n, answer in constant if answer == at_zero}
        kept = [np.array([n for n in range(p) if (s, n) not in zeros], dtype=np.int64) for s in range(table.ndim)]
        found = cyclic_sum(table[np.ix_(*kept)], p - 1)
        if isinstance(found, CyclicSum):
            parts, outer = _exponentiated(found, kept, at_zero, p)
            reason = (
                "In the discrete logarithms of g1, g2, … all slices that are not constant are shifts of each other."
            )
            return Structure("function_of_product", p, reason, parts, outer)
        excluded.append(found)
    return None if None in excluded else excluded[0]


def _exponentiated(found: CyclicSum, kept: list[np.ndarray], at_zero: int, p: int) -> tuple[Parts, np.ndarray]:
    """g_s and F from a sum in Z_{p-1} of the values `kept` of each variable; the others have g_s = 0.

    The g_s are free up to factors and a common exponent prime to p − 1, which F undoes. The exponent is the one that
    makes most second differences of the g_s vanish (so that linear g_s come out as such), the factors make
    g_s(1) − g_s(0) = 1 where it is not 0.
    """
    powers = discrete_logarithm(p)[1]
    parts = np.zeros((len(kept), p), dtype=np.int64)

    def raised(exponent: int) -> np.ndarray:
        for part, values, places in zip(parts, kept, found.places, strict=True):
            part[values] = powers[exponent * places % (p - 1)]
        return parts

    units = [u for u in range(1, p) if math.gcd(u, p - 1) == 1]
    exponent = max(units, key=lambda u: np.count_nonzero(np.diff(raised(u), 2, axis=1) % p == 0))
    slopes = [int(part[1] - part[0]) % p for part in raised(exponent)]
    factors = [pow(slope, -1, p) if slope else 1 for slope in slopes]
    outer = np.full(p, at_zero, dtype=np.int64)
    outer[powers[exponent * np.arange(p - 1) % (p - 1)] * (math.prod(factors) % p) % p] = found.readout
    return tuple(part * factor % p for part, factor in zip(parts, factors, strict=True)), outer


def _composite_exclusion(table: Table, p: int) -> str | None:
    """Why the table is no function of a product modulo a composite p; None where this is not excluded.

    If the columns differ in all p ways, g_2 is a bijection, and the answers in a row depend on gcd(g_1(n), p) alone.
    """
    divisors = sum(p % d == 0 for d in range(1, p + 1))
    for axis in range(table.ndim):
        lines = np.unique(np.moveaxis(table, axis, 0).reshape(p, -1), axis=1)
        columns = lines.shape[1]
        if columns > p:
            return f"There are {columns} different columns for {p} values of a product."
        kinds = len(np.unique(np.sort(lines, axis=1), axis=0))
        if columns == p and kinds > divisors:
            return f"All columns differ, but the rows hold {kinds} sets of answers for the {divisors} divisors of {p}."
    return None
