"""Groups and powers found from tables alone, and Latin squares that are none."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.tasks import Task, task
from modgrok.tasks.arithmetic import logarithms, powers, roots
from modgrok.tasks.basis.group import is_latin
from modgrok.tasks.basis.named_groups import cayley_table

NAMES = {"S3": "S3", "Q8": "Q8", "A4": "A4", "D6": "D6", "Z2xZ4": "Z2 × Z4", "S4": "S4"}


def renamed(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Other names for rows, columns and answers."""
    n = len(table)
    return rng.permutation(n)[table][rng.permutation(n)][:, rng.permutation(n)]


def latin_square(order: int, rng: np.random.Generator) -> np.ndarray:
    """Row after row a random matching of columns with answers they do not have yet."""
    from scipy.optimize import linear_sum_assignment

    square, cost = np.zeros((order, order), dtype=np.int64), np.zeros((order, order))
    for row in square:
        row[:] = linear_sum_assignment(rng.random((order, order)) + cost)[1]
        cost[np.arange(order), row] = order
    return square


@given(st.sampled_from(list(NAMES)), st.integers(0, 2**32))
def test_a_group_under_any_names_is_found_and_named(name: str, seed: int) -> None:
    structure = Task.from_table(renamed(cayley_table(name), np.random.default_rng(seed))).structure
    assert (structure.kind, structure.group) == ("group", NAMES[name])


def test_a_relabeled_table_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    np.savetxt(path, renamed(cayley_table("A5"), np.random.default_rng(0)), fmt="%d", delimiter=",")
    assert task(str(path)).structure.group == "A5"


def test_a_latin_square_that_is_no_group_shows_three_elements() -> None:
    square = latin_square(12, np.random.default_rng(0))
    assert is_latin(square)
    structure = Task.from_table(square).structure
    assert structure.kind == "none"
    assert "isotopic to no group" in structure.reason
    product = np.empty_like(square)
    product[square[:, :1], square[:1]] = square
    x, g, y = (int(word.strip("(),")) for word in structure.reason.split("= T(n, m), ")[1].split()[0:5:2])
    assert product[product[x, g], y] != product[x, product[g, y]]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["Q8", "A4", "Z2xZ4", "S4", "D5"])
def test_functions_of_groups(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = cayley_table(name)
    outer = rng.integers(0, len(table), len(table))
    found = Task.from_table(renamed(outer[table], rng)).structure
    assert found.known
    assert found.basis is not None


@pytest.mark.parametrize("p", [5, 7, 11, 31, 97])
def test_powers(p: int) -> None:
    structure = task("discrete:n^m", p).structure
    assert structure.kind == "power"
    np.testing.assert_array_equal(structure.table, powers(p))


@given(st.sampled_from([7, 11, 31]), st.integers(0, 2**32))
def test_powers_of_functions(p: int, seed: int) -> None:
    base, exponent = np.random.default_rng(seed).integers(0, p, (2, p))
    assert Task.from_table(powers(p)[base[:, None], exponent]).structure.known


@pytest.mark.parametrize("p", [5, 7, 11, 13, 31])
def test_roots_and_logarithms(p: int) -> None:
    """Found from the table alone, also under other names of what they are taken of."""
    rng = np.random.default_rng(p)
    first, second = rng.permutation(p), rng.permutation(p)
    for kind, table in (("root", roots(p)), ("logarithm", logarithms(p))):
        for some in (table, table[first][:, second], table.T):
            structure = Task.from_table(some).structure
            assert structure.kind == kind
            np.testing.assert_array_equal(structure.table[some >= 0], some[some >= 0])
    assert Task.from_table(powers(p).T).structure.kind == "power"
    assert task("discrete:root(n+m)", p).structure.kind == "function_of_sum"


def test_tables_with_random_holes_are_no_roots() -> None:
    rng = np.random.default_rng(0)
    table = np.where(rng.random((13, 13)) < 0.3, -1, rng.integers(0, 13, (13, 13)))
    assert Task.from_table(table).structure.kind == "unknown"


def test_products_have_a_basis_modulo_every_number() -> None:
    for text, modulus in (("n*m", 30), ("n*m + 3", 30), ("n*m", 12), ("n*m", 64)):
        assert task(text, modulus).structure.basis is not None
