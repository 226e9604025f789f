"""Irreducible representations of groups, and what they say of cosets."""

from itertools import permutations

import numpy as np
import pytest

from modgrok.reproduce.power2022.profile import FULL
from modgrok.reproduce.power2022.representations import (
    dimension,
    names,
    normalized_character,
    predicted_ratio,
    projectors,
    shares,
)
from modgrok.reproduce.power2022.studies_geometry import cosets, generated, within_over_all
from modgrok.tasks.families.groups import cayley_table

DIMENSIONS = {
    "S3": [1, 1, 2],
    "D4": [1, 1, 1, 1, 2],
    "S4": [1, 1, 2, 3, 3],
    "S5": [1, 1, 4, 4, 5, 5, 6],
    "Z4": [1, 1, 2],  # one is complex, and is counted with its conjugate
    "A4": [1, 2, 3],
}


@pytest.mark.parametrize("group", DIMENSIONS)
def test_projectors_are_those_of_the_irreducible_representations(group):
    table = cayley_table(group)
    parts = projectors(table)
    assert [dimension(part) for part in parts] == DIMENSIONS[group]
    assert np.allclose(sum(parts), np.eye(len(table)))
    for part in parts:
        assert np.allclose(part @ part, part)
        assert np.allclose(part[table[:, 1]][:, table[:, 1]], part)  # right and left multiplication mix nothing
        assert np.allclose(part[table[1]][:, table[1]], part)


def standard_representation(n):
    """Permutation matrices without the part that does not move, in lexicographic order."""
    matrices = np.array([np.eye(n)[list(one)] for one in permutations(range(n))])
    return matrices.reshape(len(matrices), -1) - 1 / n


@pytest.mark.parametrize("n", [3, 4, 5])
def test_a_representation_lies_in_its_own_part_and_says_how_near_cosets_lie(n):
    table, vectors = cayley_table(f"S{n}"), standard_representation(n)
    parts = projectors(table)
    found = shares(vectors, parts)
    (strongest,) = np.flatnonzero(found > 1e-9)
    assert found[strongest] == pytest.approx(1)
    assert dimension(parts[strongest]) == n - 1
    fixed = np.array([sum(i == j for i, j in enumerate(one)) for one in permutations(range(n))])
    assert np.allclose(normalized_character(parts[strongest], table), (fixed - 1) / (n - 1))
    random = np.random.default_rng(n)
    for _ in range(10):
        subgroup = generated(table, random.integers(1, len(table), 2).tolist())
        if len(subgroup) == len(table):
            continue
        predicted = predicted_ratio(found, parts, table, subgroup)
        for side in ("left", "right"):
            assert within_over_all(vectors, cosets(table, subgroup, side)) == pytest.approx(predicted)


def test_random_vectors_have_every_part_by_its_dimensions():
    table = cayley_table("S4")
    parts = projectors(table)
    found = shares(np.random.default_rng(0).standard_normal((24, 20_000)), parts)
    assert found == pytest.approx([np.trace(part) / 24 for part in parts], abs=0.01)


def test_names_tell_representations_of_one_dimension_apart():
    assert names([1, 1, 2, 3, 3]) == ["1", "1′", "2", "3", "3′"]


def test_which_representations_of_s5_put_the_papers_cosets_together():
    table = cayley_table("S5")
    subgroup = generated(table, list(FULL.subgroup))
    means = {}
    for part in projectors(table):
        others = [h for h in subgroup if h != 0]
        means.setdefault(dimension(part), set()).add(round(float(normalized_character(part, table)[others].mean()), 9))
    assert len(subgroup) == 10
    ninth = round(1 / 9, 9)
    assert means == {1: {1.0}, 4: {-ninth}, 5: {ninth}, 6: {-ninth}}
