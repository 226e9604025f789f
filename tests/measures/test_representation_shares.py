"""Irreducible representations in vectors of a group, and what they say of cosets."""

from itertools import permutations

import numpy as np
import pytest

from modgrok.measures.cosets import cosets, predicted_ratio, shares, within_over_all
from modgrok.tasks.basis import representations
from modgrok.tasks.basis.group import generated
from modgrok.tasks.basis.named_groups import cayley_table


def standard_representation(n):
    """Permutation matrices without the part that does not move, in lexicographic order."""
    matrices = np.array([np.eye(n)[list(one)] for one in permutations(range(n))])
    return matrices.reshape(len(matrices), -1) - 1 / n


@pytest.mark.parametrize("n", [3, 4, 5])
def test_a_representation_lies_in_its_own_part_and_says_how_near_cosets_lie(n):
    table, vectors = cayley_table(f"S{n}"), standard_representation(n)
    parts = representations(table)
    found = shares(vectors, parts)
    (strongest,) = np.flatnonzero(found > 1e-9)
    assert found[strongest] == pytest.approx(1)
    assert parts[strongest].dimension == n - 1
    fixed = np.array([sum(i == j for i, j in enumerate(one)) for one in permutations(range(n))])
    assert np.allclose(parts[strongest].character / (n - 1), (fixed - 1) / (n - 1))
    random = np.random.default_rng(n)
    for _ in range(10):
        subgroup = np.flatnonzero(generated(table, random.integers(1, len(table), 2).tolist()))
        if len(subgroup) == len(table):
            continue
        predicted = predicted_ratio(found, parts, table, subgroup)
        for labels in cosets(table, subgroup).values():
            assert within_over_all(vectors, labels) == pytest.approx(predicted)


def test_random_vectors_have_every_part_by_its_dimensions():
    table = cayley_table("S4")
    parts = representations(table)
    found = shares(np.random.default_rng(0).standard_normal((24, 20_000)), parts)
    assert found == pytest.approx([part.dimension**2 / 24 for part in parts], abs=0.01)
