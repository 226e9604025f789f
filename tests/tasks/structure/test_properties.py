"""Verdicts on random functions: a structure that is there is never denied, and one that is not is never seen."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modgrok.tasks import task
from modgrok.tasks.arithmetic import is_prime
from modgrok.tasks.structure import Structure, find_structure
from modgrok.tasks.structure.separable import outer_product, outer_sum

moduli = st.integers(2, 60)
primes = moduli.filter(is_prime)
generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)
shapes = st.sampled_from(["bijection", "any", "few", "square"])


def draw(shape: str, p: int, generator: np.random.Generator) -> np.ndarray:
    """A function on Z_p: a bijection, any function, one with at most three values, or the square."""
    if shape == "bijection":
        return generator.permutation(p)
    if shape == "square":
        return np.arange(p) ** 2 % p
    values = generator.integers(0, p, p if shape == "any" else 3)
    return values[generator.integers(0, len(values), p)] if shape == "few" else values


def assert_reproduces(structure: Structure, table: np.ndarray) -> None:
    assert structure.outer is not None
    combine = outer_product if structure.is_product else outer_sum
    np.testing.assert_array_equal(structure.outer[combine(structure.parts, structure.modulus)], table)


@given(moduli, generators, shapes, shapes)
def test_sums_are_sums(p: int, generator: np.random.Generator, first: str, second: str) -> None:
    table = outer_sum((draw(first, p, generator), draw(second, p, generator)), p)
    structure = find_structure(table)
    assert structure.kind == "sum"
    assert_reproduces(structure, table)


@given(moduli, generators, shapes, shapes)
def test_products_are_products(p: int, generator: np.random.Generator, first: str, second: str) -> None:
    table = outer_product((draw(first, p, generator), draw(second, p, generator)), p)
    structure = find_structure(table)
    assert structure.kind in ("sum", "product")
    assert_reproduces(structure, table)


@given(moduli, generators, shapes, st.booleans())
def test_bijective_functions_of_sums_are_found(p: int, generator: np.random.Generator, shape: str, swap: bool) -> None:
    parts = (draw(shape, p, generator), generator.permutation(p))
    table = generator.permutation(p)[outer_sum(parts[::-1] if swap else parts, p)]
    structure = find_structure(table)
    assert structure.kind in ("sum", "product", "function_of_sum")
    assert_reproduces(structure, table)


@given(primes, generators)
def test_any_function_of_bijections_is_found(p: int, generator: np.random.Generator) -> None:
    table = generator.integers(0, p, p)[outer_sum((generator.permutation(p), generator.permutation(p)), p)]
    structure = find_structure(table)
    assert structure.known
    assert_reproduces(structure, table)


@given(primes, generators)
def test_any_function_of_a_product_of_bijections_is_found(p: int, generator: np.random.Generator) -> None:
    table = generator.integers(0, p, p)[outer_product((generator.permutation(p), generator.permutation(p)), p)]
    structure = find_structure(table)
    assert structure.known
    assert_reproduces(structure, table)


@given(moduli, generators, shapes, shapes, shapes, st.booleans())
def test_no_structure_is_denied(
    p: int, generator: np.random.Generator, first: str, second: str, outer: str, product: bool
) -> None:
    combine = outer_product if product else outer_sum
    table = draw(outer, p, generator)[combine((draw(first, p, generator), draw(second, p, generator)), p)]
    structure = find_structure(table)
    assert structure.kind != "none"
    if structure.known:
        assert_reproduces(structure, table)


@settings(max_examples=15)
@given(st.integers(2, 9), generators, st.tuples(shapes, shapes, shapes), shapes, st.booleans())
def test_no_structure_of_three_variables_is_denied(
    p: int, generator: np.random.Generator, inner: tuple[str, str, str], outer: str, product: bool
) -> None:
    combine = outer_product if product else outer_sum
    table = draw(outer, p, generator)[combine(tuple(draw(shape, p, generator) for shape in inner), p)]
    structure = find_structure(table)
    assert structure.kind != "none"
    if structure.known:
        assert_reproduces(structure, table)


@given(st.integers(7, 60), generators, st.integers(2, 3))
def test_random_tables_have_no_structure(p: int, generator: np.random.Generator, arity: int) -> None:
    p = p if arity == 2 else min(p, 20)
    assert find_structure(generator.integers(0, p, (p,) * arity)).kind == "none"


@given(moduli)
def test_the_spelling_does_not_matter(p: int) -> None:
    n, m = np.indices((p, p))
    square, expanded = find_structure((n + m) ** 2 % p), find_structure((n**2 + 2 * n * m + m**2) % p)
    assert square.kind == expanded.kind
    np.testing.assert_array_equal(square.parts, expanded.parts)


@pytest.mark.parametrize("product", [False, True])
def test_every_table_modulo_three_is_judged_rightly(product: bool) -> None:
    functions = np.array(list(itertools.product(range(3), repeat=3)))
    combine = outer_product if product else outer_sum
    inner = {combine((f, g), 3).tobytes() for f in functions for g in functions}
    decomposable = {F[np.frombuffer(s, dtype=np.int64).reshape(3, 3)].tobytes() for F in functions for s in inner}
    generator = np.random.default_rng(0)
    for table in generator.integers(0, 3, (300, 3, 3)):
        structure = find_structure(table)
        assert structure.kind != "unknown"
        if structure.kind.endswith("product" if product else "sum"):
            assert table.tobytes() in decomposable
        if not structure.known:
            assert table.tobytes() not in decomposable


@st.composite
def punched(draw: st.DrawFn, p: int) -> np.ndarray:
    """Which inputs of a p×p table do not occur: whole lines, one order of each pair, or scattered ones."""
    generator = draw(generators)
    match draw(st.sampled_from(["lines", "order", "scattered"])):
        case "lines":
            holes = np.logical_or.outer(generator.random(p) < 0.3, generator.random(p) < 0.3)
        case "order":
            holes = np.tri(p, k=-1, dtype=bool)
        case _:
            holes = generator.random((p, p)) < draw(st.floats(0.01, 0.9))
    holes[0, 0] = False
    return holes


@given(st.data(), primes, generators, shapes, shapes, st.booleans())
def test_sums_and_products_are_found_among_holes(
    data: st.DataObject, p: int, generator: np.random.Generator, first: str, second: str, product: bool
) -> None:
    combine = outer_product if product else outer_sum
    table = combine((draw(first, p, generator), draw(second, p, generator)), p)
    table[data.draw(punched(p))] = -1
    structure = find_structure(table)
    assert structure.kind in (("sum", "product") if product else ("sum",))
    answers = structure.outer[(outer_product if structure.is_product else outer_sum)(structure.parts, p)]
    np.testing.assert_array_equal(answers[table >= 0], table[table >= 0])


@given(st.data(), st.integers(2, 20), generators, shapes, shapes, shapes, st.booleans())
def test_no_structure_is_denied_among_holes(
    data: st.DataObject,
    p: int,
    generator: np.random.Generator,
    first: str,
    second: str,
    outer: str,
    product: bool,
) -> None:
    combine = outer_product if product else outer_sum
    table = draw(outer, p, generator)[combine((draw(first, p, generator), draw(second, p, generator)), p)]
    table[data.draw(punched(p))] = -1
    structure = find_structure(table)
    assert structure.kind != "none"
    if structure.known:
        answers = structure.outer[(outer_product if structure.is_product else outer_sum)(structure.parts, p)]
        np.testing.assert_array_equal(answers[table >= 0], table[table >= 0])


@pytest.mark.parametrize("p", [3, 7, 12, 97])
def test_division_is_a_product(p: int) -> None:
    structure = task("n/m", p).structure
    assert structure.kind == "product"
    first, second = structure.parts
    for m in (m for m in range(p) if np.gcd(m, p) == 1):
        np.testing.assert_array_equal(first * second[m] % p, np.arange(p) * pow(m, -1, p) % p)


def test_unordered_functions_of_sums_are_found() -> None:
    assert task("(n + m)^2:unordered", 31).structure.kind == "function_of_sum"
    assert task("n1*n2*n3:unordered", 7).structure.kind == "product"
    assert task("1/(n + m)", 7).structure.kind == "function_of_sum"


def test_large_tables_are_searched() -> None:
    assert task("(n1 + n2 + n3)^2", 220).structure.kind == "unknown"
    assert task("n1^3 + n1*n2^2 + n2 + n3", 223).structure.kind == "none"
