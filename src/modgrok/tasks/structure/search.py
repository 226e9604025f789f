"""Which structure a table of answers has, found from the table alone."""

import dataclasses
from collections.abc import Callable

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.tasks.arithmetic import is_prime
from modgrok.tasks.structure import holes
from modgrok.tasks.structure.composition import Table, function_of_product, function_of_sum
from modgrok.tasks.structure.groupoids import function_of_group, of_latin_square
from modgrok.tasks.structure.separable import Parts, as_power, as_product, as_sum
from modgrok.tasks.structure.verdict import Kind, Structure

MOST_ENTRIES = 10_000_000
"""Larger tables are not searched for functions of sums and products."""
Find = Callable[[np.ndarray, int], Parts | None]
AMONG_HOLES: dict[Kind, tuple[Find, str]] = {
    "sum": (holes.sum_among, "The answers there are fit a sum."),
    "product": (holes.product_among, "The answers there are fit a product."),
    "root": (holes.root_among, "The logarithms of the answers are quotients modulo p − 1."),
    "logarithm": (holes.logarithm_among, "The answers are quotients of logarithms modulo p − 1."),
}


def find_structure(table: Table) -> Structure:
    """The simplest of sum, product, power, root, logarithm, product in a group, function of these that the table is.

    Witnesses are verified on the whole table. `none` says that functions of sums and products are excluded (of Latin
    squares, products in every group), `unknown` that none was found by a search that could not exclude them all.
    Where the table has holes (−1), any answer will do.
    """
    p = _modulus(table)
    found = _search(table, p) if table.min() >= 0 else _search_among_holes(table, p)
    if found.known and np.any((found.table != table) & (table >= 0)):
        raise AssertionError(f"The witnesses of a {found.kind} do not reproduce its table.")
    return found


def _search(table: Table, p: int) -> Structure:
    identity = np.arange(p)
    parts = as_sum(table, p)
    if parts is not None:
        return Structure("sum", p, _sum_reason(table), parts, identity)
    parts = as_product(table, p)
    if parts is not None:
        reason = "Every 2×2 minor of the table is 0, so it has rank one modulo p."
        return Structure("product", p, reason, parts, identity)
    if table.size > MOST_ENTRIES:
        return _of_large_table(table, p)
    latin = of_latin_square(table)
    if latin is not None:
        return latin
    sums = function_of_sum(table)
    if isinstance(sums, Structure):
        return sums
    products = function_of_product(table)
    if isinstance(products, Structure):
        return products
    reason = "Where no answer is 0, the logarithms are a product modulo p − 1."
    power = _operation("power", table, p, as_power, reason) if is_prime(p) and table.ndim == 2 else None
    return power or function_of_group(table) or _nothing(p, sums, products)


def _of_large_table(table: Table, p: int) -> Structure:
    """What two variables alone can exclude, the others being 0."""
    face = table.reshape(p, p, -1)[:, :, 0]
    if face.size <= MOST_ENTRIES and (found := _search(face, p)).kind == "none":
        return Structure("none", p, f"Already where all variables but two are 0: {found.reason}")
    reason = f"Neither a sum nor a product; functions of them are sought in tables of at most {MOST_ENTRIES:,} entries."
    return Structure("unknown", p, reason)


def _search_among_holes(table: Table, p: int) -> Structure:
    filled = holes.with_repeated_lines(table)
    if filled.min() >= 0:
        found = _search(filled, p)
        return dataclasses.replace(found, reason=f"Values that never occur left out: {found.reason}")
    for kind, (find, reason) in AMONG_HOLES.items() if table.ndim == 2 else ():
        operation = _operation(kind, table, p, find, reason) if kind == "sum" or is_prime(p) else None
        if operation is not None:
            return operation
    marked = _of_existence(table, p) if table.size <= MOST_ENTRIES else None
    if marked is not None:
        return marked
    filled = holes.with_mirrored_inputs(filled)
    if filled.min() >= 0 and (found := _search(filled, p)).known:
        return dataclasses.replace(found, reason=f"With holes filled by symmetry: {found.reason}")
    return Structure(
        "unknown", p, "The table has holes, among which not every structure can be sought; none was found."
    )


def _operation(kind: Kind, table: Table, p: int, find: Find, reason: str) -> Structure | None:
    """What a search finds in the table or with its variables exchanged."""
    parts = find(table, p)
    if parts is not None:
        return Structure(kind, p, reason, parts, np.arange(p))
    parts = find(table.T, p)
    if parts is None:
        return None
    return Structure(kind, p, reason, parts[::-1], np.arange(p), swapped=True)


def _of_existence(table: Table, p: int) -> Structure | None:
    """A function of a sum or a product where that also decides which inputs occur, as n + m does for its root."""
    marked = np.where(table < 0, p, table)
    found = function_of_sum(marked)
    if not isinstance(found, Structure):
        found = function_of_product(marked)
    if not isinstance(found, Structure) or found.outer is None:
        return None
    return dataclasses.replace(found, outer=np.where(found.outer == p, 0, found.outer))


def _modulus(table: Table) -> int:
    """p, of a table of shape (p, …, p) with answers in 0 … p−1."""
    p = table.shape[0] if table.ndim else 0
    if p < 2 or any(size != p for size in table.shape):
        raise ModgrokError(f"A table needs the shape (p, …, p) with p ≥ 2, got {table.shape}.")
    if table.min() < -1 or table.max() >= p:
        raise ModgrokError(
            f"Answers must lie in 0 … {p - 1}, got {table.min()} … {table.max()}; reduce the table modulo {p}."
        )
    return p


def _sum_reason(table: Table) -> str:
    if table.ndim == 1:
        return "A function of one variable is a sum with one term."
    if np.all(table == table.flat[0]):
        return "The table is constant."
    if table.ndim == 2:
        return "T(n,m) − T(n,0) − T(0,m) + T(0,0) is 0 for all pairs."
    return "The table is the sum of its lines through the origin, less a constant."


def _nothing(p: int, no_sum: str | None, no_product: str | None) -> Structure:
    if no_sum is not None and no_product is not None:
        return Structure("none", p, f"No function of a sum: {no_sum} No function of a product: {no_product}")
    open_kinds = [kind for kind, reason in (("sum", no_sum), ("product", no_product)) if reason is None]
    reason = (
        "Neither a sum nor a product; a search that is not exhaustive for this table found no function of a "
        f"{' and none of a '.join(open_kinds)}."
    )
    return Structure("unknown", p, reason)
