"""Which structure a table of answers has, found from the table alone."""

import math

import numpy as np
from jaxtyping import Int

from modgrok.errors import ModgrokError
from modgrok.tasks.arithmetic import discrete_logarithm, is_prime, primitive_root
from modgrok.tasks.structure.cyclic import CyclicSum, Search, cyclic_sum
from modgrok.tasks.structure.separable import (
    Parts,
    as_product,
    as_shifted_product,
    as_sum,
    outer_product,
    outer_sum,
)
from modgrok.tasks.structure.verdict import Structure

Table = Int[np.ndarray, "*inputs"]


def find_structure(table: Table) -> Structure:
    """The simplest of `sum`, `product`, `function_of_sum`, `function_of_product` that the table is.

    Witnesses are verified on the whole table. `none` says that all four are excluded, `unknown` that none was found
    by a search that could not exclude them all.
    """
    p = _modulus(table)
    identity = np.arange(p)
    parts = as_sum(table, p)
    if parts is not None:
        return _verified(table, Structure("sum", p, _sum_reason(table), parts, identity))
    parts = as_product(table, p)
    if parts is not None:
        reason = "Every 2×2 minor of the table is 0, so it has rank one modulo p."
        return _verified(table, Structure("product", p, reason, parts, identity))
    sums = cyclic_sum(table, p)
    if sums.found is not None:
        index, readout = _normalized(sums.found, (identity,) * table.ndim)
        reason = "In the coordinates f1, f2, … all slices of the table are shifts of one sequence of answers."
        return _verified(table, Structure("function_of_sum", p, reason, index, readout))
    shifted = as_shifted_product(table, p)
    if shifted is not None:
        parts, shift = shifted
        reason = f"Less the constant {shift} the table has rank one modulo p."
        return _verified(table, Structure("function_of_product", p, reason, parts, (identity + shift) % p))
    excluded = _product_of_prime(table, p) if is_prime(p) else _no_product_of_composite(table, p)
    if isinstance(excluded, Structure):
        return _verified(table, excluded)
    return _nothing(p, sums.excluded, excluded)


def _modulus(table: Table) -> int:
    """p, of a table of shape (p, …, p) with answers in 0 … p−1."""
    p = table.shape[0] if table.ndim else 0
    if p < 2 or any(size != p for size in table.shape):
        raise ModgrokError(f"A table needs the shape (p, …, p) with p ≥ 2, got {table.shape}.")
    if table.min() < 0 or table.max() >= p:
        raise ModgrokError(
            f"Answers must lie in 0 … {p - 1}, got {table.min()} … {table.max()}; reduce the table modulo {p}."
        )
    return p


def _verified(table: Table, structure: Structure) -> Structure:
    """The verdict itself, once its witnesses reproduce every answer."""
    combine = outer_product if structure.is_product else outer_sum
    if structure.outer is None or np.any(structure.outer[combine(structure.parts, structure.modulus)] != table):
        raise AssertionError(f"The witnesses of a {structure.kind} do not reproduce its table.")
    return structure


def _sum_reason(table: Table) -> str:
    if table.ndim == 1:
        return "A function of one variable is a sum with one term."
    if np.all(table == table.flat[0]):
        return "The table is constant."
    if table.ndim == 2:
        return "T(n,m) − T(n,0) − T(0,m) + T(0,0) is 0 for all pairs."
    return "The table is the sum of its lines through the origin, less a constant."


def _normalized(found: CyclicSum, targets: Parts) -> CyclicSum:
    """The same sum in the coordinate that is easiest to read.

    Places are free up to a shift of each variable and a common invertible factor. Each variable's first value with a
    target (−1: none) is shifted to it, and the factor is that which takes a further value to its target, if any does.
    """
    length = len(found.readout)
    firsts = [int(np.argmax(target >= 0)) for target in targets]
    steps = [(places - places[k]) % length for places, k in zip(found.index, firsts, strict=True)]
    wanted = [(target - target[k]) % length for target, k in zip(targets, firsts, strict=True)]
    factor = next(
        (
            int(goal) * pow(int(step), -1, length) % length
            for step, goal, target in zip(np.concatenate(steps), np.concatenate(wanted), np.concatenate(targets))
            if target >= 0 and math.gcd(int(step), length) == 1 == math.gcd(int(goal), length)
        ),
        1 % length,
    )
    offsets = [int(target[k]) for target, k in zip(targets, firsts, strict=True)]
    index = tuple((factor * step + offset) % length for step, offset in zip(steps, offsets, strict=True))
    origin = sum(int(places[k]) for places, k in zip(found.index, firsts, strict=True))
    readout = np.zeros_like(found.readout)
    readout[(factor * (np.arange(length) - origin) + sum(offsets)) % length] = found.readout
    return CyclicSum(index, readout)


def _constant_slices(table: Table) -> list[tuple[int, int, int]]:
    """(variable, value, answer) for every slice of the table that holds a single answer."""
    slices = []
    for s in range(table.ndim):
        lines = np.moveaxis(table, s, 0).reshape(table.shape[s], -1)
        constant = np.flatnonzero((lines == lines[:, :1]).all(axis=1))
        slices += [(s, int(n), int(lines[n, 0])) for n in constant]
    return slices


def _product_of_prime(table: Table, p: int) -> Structure | str | None:
    """F of a product modulo a prime p; else why there is none; else None.

    Where g_s(n) = 0 the slice is constant, F(0), and a slice that is constant with that answer may as well have
    g_s(n) = 0. What is left is a function of a sum in Z_{p-1}.
    """
    root = primitive_root(p)
    logarithm = discrete_logarithm(p, root)
    constant = _constant_slices(table)
    outcomes: list[Search] = []
    for at_zero in sorted({answer for _, _, answer in constant}) or [None]:
        zeros = [{n for s, n, answer in constant if s == variable and answer == at_zero} for variable in range(table.ndim)]
        kept = [np.array([n for n in range(p) if n not in zero], dtype=np.int64) for zero in zeros]
        outcome = cyclic_sum(table[np.ix_(*kept)], p - 1)
        if outcome.found is not None:
            index, readout = _normalized(outcome.found, tuple(logarithm[values] for values in kept))
            powers = np.argsort(logarithm[1:]) + 1  # exponent -> root^exponent
            parts = tuple(np.zeros(p, dtype=np.int64) for _ in kept)
            for part, values, places in zip(parts, kept, index, strict=True):
                part[values] = powers[places]
            outer = np.zeros(p, dtype=np.int64)
            outer[powers] = readout
            outer[0] = 0 if at_zero is None else at_zero
            reason = "In the discrete logarithms of g1, g2, … all slices that are not constant are shifts of one another."
            return Structure("function_of_product", p, reason, parts, outer)
        outcomes.append(outcome)
    reasons = [outcome.excluded for outcome in outcomes]
    return None if None in reasons else reasons[0]


def _no_product_of_composite(table: Table, p: int) -> str | None:
    """Why the table is no function of a product modulo a composite p; None where this is not excluded.

    If the columns differ in all p ways, g_2 is a bijection, and the answers in a row depend on gcd(g_1(n), p) alone.
    """
    divisors = sum(p % d == 0 for d in range(1, p + 1))
    for axis in range(table.ndim):
        lines = np.moveaxis(table, axis, 0).reshape(p, -1)
        columns = len(np.unique(lines, axis=1).T)
        if columns > p:
            return f"There are {columns} different columns for {p} values of a product."
        kinds = len(np.unique(np.sort(lines, axis=1), axis=0))
        if columns == p and kinds > divisors:
            return f"All columns differ, but the rows hold {kinds} different sets of answers for {divisors} divisors of {p}."
    return None


def _nothing(p: int, no_sum: str | None, no_product: str | None) -> Structure:
    if no_sum is not None and no_product is not None:
        return Structure("none", p, f"No function of a sum: {no_sum} No function of a product: {no_product}")
    open_kinds = [kind for kind, reason in (("sum", no_sum), ("product", no_product)) if reason is None]
    reason = (
        "Neither a sum nor a product, and no function of one was found; "
        f"functions of a {' or of a '.join(open_kinds)} are not excluded."
    )
    return Structure("unknown", p, reason)
