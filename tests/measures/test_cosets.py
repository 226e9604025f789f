"""Subgroups, and how far functions are functions of their cosets."""

import numpy as np
import pytest

from modgrok.measures.cosets import coset_order, coset_share, subgroups
from modgrok.tasks.basis.group import identity
from modgrok.tasks.basis.named_groups import cayley_table, group_name


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


@pytest.mark.parametrize(
    ("group", "subgroup"), [("S3", "Z3"), ("S4", "A4"), ("S5", "A5"), ("D6", "Z6"), ("Q8", "Z4"), ("Z2xZ2", "Z2")]
)
def test_blocks_of_a_table_in_the_order_of_cosets_have_few_answers(group: str, subgroup: str) -> None:
    table = cayley_table(group)
    found = coset_order(table)
    assert found is not None
    assert group_name(found.subgroup) == subgroup
    size = len(found.subgroup)
    assert all(order[0] == identity(table) for order in found.orders)
    assert all(np.array_equal(np.sort(order), np.arange(len(table))) for order in found.orders)
    blocks = table[np.ix_(*found.orders)].reshape(len(table) // size, size, -1, size).swapaxes(1, 2)
    assert {len(np.unique(block)) for row in blocks for block in row} == {size}


def test_a_simple_group_is_ordered_by_a_cyclic_one_and_a_group_of_prime_order_not_at_all() -> None:
    simple = coset_order(cayley_table("A5"))
    assert simple is not None
    assert group_name(simple.subgroup) == "Z5"
    assert coset_order(cayley_table("Z5")) is None
