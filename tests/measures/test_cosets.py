"""Subgroups, and how far functions are functions of their cosets."""

import numpy as np
import pytest

from modgrok.measures.cosets import coset_share, subgroups
from modgrok.tasks.basis.named_groups import cayley_table


@pytest.mark.parametrize(("group", "number"), [("S3", 4), ("Q8", 4), ("Z12", 4), ("A4", 8), ("S4", 28)])
def test_all_proper_subgroups_are_found(group: str, number: int) -> None:
    table = cayley_table(group)
    found = subgroups(table)
    assert len(found) == number
    for members in found:
        inside = np.flatnonzero(members)
        assert np.array_equal(np.unique(table[np.ix_(inside, inside)]), inside)


def test_functions_of_cosets_are_explained_and_others_are_not() -> None:
    table = cayley_table("S4")
    rng = np.random.default_rng(0)
    largest = np.flatnonzero(subgroups(table)[-1])
    left = rng.standard_normal(24)[table[:, largest].min(axis=1)]
    right = rng.standard_normal(24)[table[largest].min(axis=0)]
    noise = rng.standard_normal((20, 24))
    assert coset_share(np.stack([left, right]), table) == pytest.approx(1)
    assert coset_share(noise, table).max() < 0.99
    assert np.isnan(coset_share(np.ones((1, 24)), table)).all()
