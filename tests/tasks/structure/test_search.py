"""Verdicts on named functions: the right kind, witnesses that reproduce the table, reasons for the rest."""

from collections.abc import Callable

import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.tasks.structure import Structure, find_structure
from modgrok.tasks.structure.separable import outer_product, outer_sum


def table_of(function: Callable, p: int, arity: int = 2) -> np.ndarray:
    """The function modulo p; squares and products are taken of Python integers, so nothing overflows."""
    return (function(*np.indices((p,) * arity).astype(object)) % p).astype(np.int64)


def reproduced(structure: Structure) -> np.ndarray:
    assert structure.outer is not None
    combine = outer_product if structure.is_product else outer_sum
    return structure.outer[combine(structure.parts, structure.modulus)]


CASES = {
    "sum": [
        lambda n, m: n + m,
        lambda n, m: n - m,
        lambda n, m: n**2 + m**2 + 3,
        lambda n, m: 0 * n + 5,
        lambda n, m: n + 0 * m,
    ],
    "product": [lambda n, m: n * m, lambda n, m: (n * m) ** 2, lambda n, m: 3 * (n + 1) * (m**2 + 4)],
    "function_of_sum": [
        lambda n, m: (n + m) ** 2,
        lambda n, m: n**2 + 2 * n * m + m**2,
        lambda n, m: n**2 + 6 * n * m + 9 * m**2,
        lambda n, m: (n**2 + m) ** 3,
        lambda n, m: (n + m**2) ** 2,
        lambda n, m: (n + m) ** 4 + 7,
        lambda n, m: (n + 5 * m) ** 12,
        lambda n, m: (n**2 + m**2) ** 5,
        lambda n, m: (n**2 + m**2) ** 2,
    ],
    "function_of_product": [
        lambda n, m: n * m + n + m,
        lambda n, m: n * m + 40,
        lambda n, m: n**2 * m**2 + 3,
        lambda n, m: (n * m) ** 3 + n * m,
        lambda n, m: ((n + 1) * (m + 2) + 1) ** 2,
        lambda n, m: n**2 * m**2 + n**2 + m**2,
    ],
    "none": [lambda n, m: n**2 + m**2 + n * m, lambda n, m: n**3 + n * m**2 + m, lambda n, m: n**2 * m + n * m**2],
}


@pytest.mark.parametrize(("kind", "function"), [(kind, f) for kind, functions in CASES.items() for f in functions])
def test_kind(kind: str, function: Callable) -> None:
    table = table_of(function, 97)
    structure = find_structure(table)
    assert structure.kind == kind
    assert structure.reason.endswith(".")
    if structure.known:
        np.testing.assert_array_equal(reproduced(structure), table)


def test_a_square_is_read_as_one() -> None:
    n = np.arange(97)
    structure = find_structure(table_of(lambda n, m: n**2 + 2 * n * m + m**2, 97))
    np.testing.assert_array_equal(structure.parts, [n, n])
    np.testing.assert_array_equal(structure.outer, n**2 % 97)


def test_linear_factors_are_read_as_such() -> None:
    n = np.arange(97)
    structure = find_structure(table_of(lambda n, m: ((n + 1) * (m + 2) + 1) ** 2, 97))
    np.testing.assert_array_equal(structure.parts, [(n + 1) % 97, (n + 2) % 97])
    np.testing.assert_array_equal(structure.outer, (n + 1) ** 2 % 97)


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("sum", lambda a, b, c: a + b**2 - c),
        ("product", lambda a, b, c: a * b * (c + 1)),
        ("function_of_sum", lambda a, b, c: (a + b**2 + 3 * c) ** 2),
        ("function_of_sum", lambda a, b, c: (a + c) ** 2 + 0 * b),
        ("function_of_product", lambda a, b, c: (a * (b + 1) * c + 1) ** 2),
        ("none", lambda a, b, c: a * b + c),
    ],
)
def test_three_variables(kind: str, function: Callable) -> None:
    table = table_of(function, 23, arity=3)
    structure = find_structure(table)
    assert structure.kind == kind
    if structure.known:
        np.testing.assert_array_equal(reproduced(structure), table)


@pytest.mark.parametrize("p", [4, 6, 12, 35, 64])
def test_composite_moduli(p: int) -> None:
    expected = {
        "sum": lambda n, m: n + 3 * m,
        "product": lambda n, m: 2 * n * m,
        "function_of_product": lambda n, m: n * m + n + m,
    }
    for kind, function in expected.items():
        table = table_of(function, p)
        structure = find_structure(table)
        assert structure.kind in (kind, "function_of_sum" if p == 4 else kind)
        np.testing.assert_array_equal(reproduced(structure), table)
    assert find_structure(table_of(lambda n, m: (n + m) ** 2, p)).kind in ("sum", "function_of_sum")


@pytest.mark.parametrize("p", [2, 3, 10, 97])
def test_one_variable_is_a_sum(p: int) -> None:
    structure = find_structure(np.random.default_rng(0).integers(0, p, p))
    assert structure.kind == "sum"


def test_the_coordinate_of_a_product_reproduces_it() -> None:
    table = table_of(lambda n, m: n * m + n + m, 97)
    coordinate = find_structure(table).coordinate
    assert coordinate is not None
    first, second = coordinate.index
    placed = (first[:, None] >= 0) & (second >= 0)
    answers = np.where(placed, coordinate.readout[(first[:, None] + second) % 96], coordinate.at_zero)
    np.testing.assert_array_equal(answers, table)


def test_tables_that_are_none_are_refused() -> None:
    with pytest.raises(ModgrokError, match="shape"):
        find_structure(np.zeros((3, 4), dtype=np.int64))
    with pytest.raises(ModgrokError, match="shape"):
        find_structure(np.zeros((1, 1), dtype=np.int64))
    with pytest.raises(ModgrokError, match="reduce the table"):
        find_structure(np.full((3, 3), 3))


@pytest.mark.parametrize("p", [11, 13])
def test_functions_of_products_with_gaps_are_resolved(p: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        f, g, outer = (rng.integers(0, p, p) for _ in range(3))
        assert find_structure(outer[np.multiply.outer(f, g) % p]).kind != "unknown"


def test_tables_with_repeated_lines_are_excluded() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        table = rng.integers(0, 13, (13, 13))[rng.integers(0, 11, 13)][:, rng.integers(0, 11, 13)]
        assert find_structure(table).kind == "none"


def test_few_answers() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        f, g = (rng.integers(0, 11, 11) for _ in range(2))
        table = rng.integers(0, 2, 11)[np.add.outer(f, g) % 11]
        assert find_structure(table).kind in ("sum", "product", "function_of_sum", "function_of_product")
