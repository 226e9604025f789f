"""The name of a group from its table, whatever the numbers of its elements."""

import numpy as np
import pytest

from modgrok.tasks.basis.named_groups import cayley_table, group_name, is_isomorphic

NAMES = {
    "S3": "S3",
    "D3": "S3",
    "D6": "D6",
    "S3xZ2": "D6",
    "Q8": "Q8",
    "D4": "D4",
    "Z2xZ4": "Z2 × Z4",
    "Z2xZ3": "Z6",
    "Z6xZ4": "Z2 × Z12",
    "A4": "A4",
    "S4": "S4",
    "S4xZ2": "S4 × Z2",
    "A5": "A5",
    "S5": "S5",
    "A5xZ2": "A5 × Z2",
    "S3xS3": "S3 × S3",
    "D4xZ2": "D4 × Z2",
    "Q8xZ2": "Q8 × Z2",
    "Q12": "Q12",
    "D9xZ2": "D18",
    "Q16": "Q16",
}


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str) -> None:
    table = cayley_table(name)
    new = np.random.default_rng(1).permutation(len(table))
    moved = np.empty_like(table)
    moved[np.ix_(new, new)] = new[table]
    assert group_name(moved) == NAMES[name]
    assert is_isomorphic(table, moved)


@pytest.mark.parametrize(("one", "other"), [("D4", "Q8"), ("A5xZ2", "S5"), ("D12", "S4"), ("Q8xZ2", "D4xZ2")])
def test_groups_of_one_order_are_told_apart(one: str, other: str) -> None:
    assert not is_isomorphic(cayley_table(one), cayley_table(other))


def test_a_group_without_a_name_is_described() -> None:
    # x ↦ ax + b modulo 5
    maps = [(a, b) for a in range(1, 5) for b in range(5)]
    table = np.array([[maps.index((a * c % 5, (a * d + b) % 5)) for c, d in maps] for a, b in maps])
    assert group_name(table) == (
        "a group of order 20 with 5 conjugacy classes and elements 5 of order 2, 10 of order 4, 4 of order 5"
    )
