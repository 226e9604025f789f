"""Representations from a table alone: every group that a name builds, and monoids of groups."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.closed_form.matrix_coefficients import coefficient_layers
from modgrok.errors import ModgrokError
from modgrok.tasks.basis import Basis, Representation, representations
from modgrok.tasks.basis.group import generators
from modgrok.tasks.basis.named_groups import cayley_table
from modgrok.tasks.basis.representation import homomorphism_error, waves

TYPES = {
    "S3": [(1, 1), (1, 1), (2, 1)],
    "Q8": [(1, 1)] * 4 + [(4, 4)],
    "A4": [(1, 1), (2, 2), (3, 1)],
    "S4": [(1, 1), (1, 1), (2, 1), (3, 1), (3, 1)],
    "A5": [(1, 1), (3, 1), (3, 1), (4, 1), (5, 1)],
    "Z5": [(1, 1), (2, 2), (2, 2)],
}


def names(most: int) -> list[str]:
    """Names of all groups up to an order, direct products included."""
    blocks = {f"Z{n}": n for n in range(2, most + 1)} | {f"D{n}": 2 * n for n in range(2, most // 2 + 1)}
    blocks |= {f"Q{n}": n for n in range(8, most + 1, 4)} | {"S3": 6, "S4": 24, "A4": 12}
    found = {name: n for name, n in blocks.items() if n <= most}
    grown = dict(found)
    while grown:
        grown = {
            f"{name}x{block}": n * m
            for name, n in grown.items()
            for block, m in blocks.items()
            if n * m <= most and name.split("x")[-1] <= block
        }
        found |= grown
    return sorted(found)


@cache
def of(name: str) -> tuple[Representation, ...]:
    return representations(cayley_table(name))


@pytest.mark.parametrize("name", names(32))
def test_homomorphisms_orthogonal_and_complete(name: str) -> None:
    table, found = cayley_table(name), of(name)
    assert max(homomorphism_error(one, table, generators(table)) for one in found) < 1e-12
    assert sum(one.dimension**2 // one.type for one in found) == len(table)
    basis = np.concatenate([one.coefficients * (one.dimension / len(table)) ** 0.5 for one in found], axis=1)
    np.testing.assert_allclose(basis.T @ basis, np.eye(len(table)), atol=1e-11)
    characters = np.array([one.character for one in found])
    np.testing.assert_allclose(characters @ characters.T / len(table), np.diag([one.type for one in found]), atol=1e-11)
    assert found[0].is_trivial
    assert not any(one.is_trivial for one in found[1:])


@pytest.mark.parametrize("name", names(32))
def test_exact_networks_of_all_of_them(name: str) -> None:
    table, elements = cayley_table(name), np.arange(len(cayley_table(name)))
    layers = coefficient_layers(Basis(len(table), (elements, elements), elements, product=table), None, "all")
    assert len(layers.w_in) == sum(one.neurons for one in of(name))
    hidden = layers.w_in[:, 0, :, None] + layers.w_in[:, 1, None, :]
    one_hot = table == elements[:, None, None]
    np.testing.assert_allclose(np.tensordot(layers.w_out, hidden**2, axes=1), one_hot, atol=1e-11)


@pytest.mark.parametrize("name", TYPES)
def test_dimensions_and_types(name: str) -> None:
    assert [(one.dimension, one.type) for one in of(name)] == TYPES[name]


def test_a_numbering_changes_nothing_but_the_numbering() -> None:
    table, new = cayley_table("S4"), np.random.default_rng(0).permutation(24)
    moved = np.empty_like(table)
    moved[np.ix_(new, new)] = new[table]
    for one, other in zip(of("S4"), sorted(representations(moved), key=lambda r: _key(r, new)), strict=True):
        np.testing.assert_allclose(one.character, other.character[new], atol=1e-12)


def _key(one: Representation, new: np.ndarray) -> tuple[float, ...]:
    return (not one.is_trivial, one.dimension, *(-np.round(one.character[new] / one.dimension, 6)).tolist())


@given(st.integers(1, 40))
def test_waves_are_the_representations_of_a_cyclic_group(length: int) -> None:
    table = cayley_table(f"Z{length}")
    characters = {tuple(np.round(one.character, 9) + 0.0) for one in waves(length)}
    assert characters == {tuple(np.round(one.character, 9) + 0.0) for one in representations(table)}
    assert max(homomorphism_error(one, table, generators(table)) for one in waves(length)) < 1e-12


@pytest.mark.parametrize(("modulus", "width"), [(6, 9), (10, 17), (15, 24), (21, 36), (30, 49), (42, 73), (7, 12)])
def test_products_modulo_a_squarefree_number(modulus: int, width: int) -> None:
    table = np.outer(np.arange(modulus), np.arange(modulus)) % modulus
    found = representations(table)
    for one in found:
        for x in range(modulus):
            np.testing.assert_allclose(one.matrices[x] @ one.matrices, one.matrices[table[x]], atol=1e-12)
    functions = np.concatenate([one.coefficients for one in found], axis=1)
    assert np.linalg.matrix_rank(functions) == modulus
    assert sum(1 if one.is_trivial else 2 if one.is_principal else one.neurons for one in found) == width


@pytest.mark.parametrize("modulus", [4, 12])
def test_elements_outside_every_group_are_refused(modulus: int) -> None:
    with pytest.raises(ModgrokError, match="squarefree"):
        representations(np.outer(np.arange(modulus), np.arange(modulus)) % modulus)


def test_faithful_representations() -> None:
    assert [one.is_faithful for one in of("S4")] == [False, False, False, True, True]
