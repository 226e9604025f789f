"""Cayley tables: the axioms, the convention, and what is refused."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.errors import ModgrokError
from modgrok.tasks import task
from modgrok.tasks.basis.group import check_group, identity, inverses
from modgrok.tasks.basis.named_groups import cayley_table

simple = st.one_of(
    st.integers(1, 4).map("S{}".format),
    st.integers(1, 5).map("A{}".format),
    st.integers(1, 8).map("D{}".format),
    st.integers(1, 12).map("Z{}".format),
    st.sampled_from(["Q8", "Q12", "Q16"]),
)
names = st.one_of(simple, st.builds("{}x{}".format, simple, simple))
ORDERS = {"S3": 6, "S5": 120, "D4": 8, "A4": 12, "Z6": 6, "Q8": 8, "Z2xZ3": 6, "S3xZ2xZ2": 24, "A5": 60}


@given(names, st.randoms())
def test_axioms(name: str, random: object) -> None:
    table = cayley_table(name)
    order = len(table)
    x, y, z = np.random.default_rng(random.randrange(2**32)).integers(0, order, (3, 500))
    np.testing.assert_array_equal(table[table[x, y], z], table[x, table[y, z]])
    e, inverse = identity(table), inverses(table)
    np.testing.assert_array_equal(table[np.arange(order), inverse], e)
    np.testing.assert_array_equal(table[inverse, np.arange(order)], e)
    check_group(table)


@pytest.mark.parametrize(("name", "order"), ORDERS.items())
def test_orders(name: str, order: int) -> None:
    found = task(f"group:{name}")
    assert (found.sizes, found.answers, found.name) == ((order, order), order, f"group:{name}")


def test_permutations_act_left_to_right() -> None:
    elements = list(permutations(range(4)))
    table = task("group:S4").table
    for x, one in enumerate(elements):
        for y, other in enumerate(elements):
            assert elements[table[x, y]] == tuple(other[one[i]] for i in range(4))


@given(names)
def test_conjugation_and_xyx(name: str) -> None:
    table, inverse = cayley_table(name), inverses(cayley_table(name))
    if len(table) < 2:
        return
    conjugation, xyx = task(f"group:{name}:conjugation").table, task(f"group:{name}:xyx").table
    for x in range(len(table)):
        np.testing.assert_array_equal(conjugation[x], table[table[x], inverse[x]])
        np.testing.assert_array_equal(xyx[x], table[table[x], x])


def test_products_as_vectors() -> None:
    found = task("group:S3,codes=30")
    assert found.codes.shape == (6, 30)
    assert np.array_equal(found.table, task("group:S3").table)
    with pytest.raises(ModgrokError, match="group:S3,codes=30"):
        task("group:S3,codes=x")


def test_elements_of_order_two() -> None:
    def involutions(name: str) -> int:
        table = cayley_table(name)
        return int(np.sum(np.diagonal(table) == identity(table))) - 1

    assert {name: involutions(name) for name in ("Q8", "D4", "Z8", "Z2xZ2xZ2", "A4", "S4")} == {
        "Q8": 1,
        "D4": 5,
        "Z8": 1,
        "Z2xZ2xZ2": 7,
        "A4": 3,
        "S4": 9,
    }


@given(st.sampled_from(["S3", "Q8", "Z6", "A4"]), st.integers(0, 2**32))
def test_any_numbering_of_a_group_is_one_and_a_change_is_not(name: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    table = cayley_table(name)
    new = generator.permutation(len(table))
    renumbered = np.empty_like(table)
    renumbered[np.ix_(new, new)] = new[table]
    check_group(renumbered)
    shuffled = renumbered[generator.permutation(len(table))]  # still a Latin square
    try:
        check_group(shuffled)
    except ModgrokError:
        return
    x, y, z = np.indices((len(table),) * 3)
    np.testing.assert_array_equal(shuffled[shuffled[x, y], z], shuffled[x, shuffled[y, z]])


LOOP = "0,1,2,3,4\n1,0,3,4,2\n2,4,0,1,3\n3,2,4,0,1\n4,3,1,2,0\n"  # an identity and a Latin square, not associative


def test_tables_in_files(tmp_path: Path) -> None:
    path = tmp_path / "group.csv"
    np.savetxt(path, cayley_table("Q8"), fmt="%d", delimiter=",")
    np.testing.assert_array_equal(task(f"group:{path}").table, cayley_table("Q8"))
    np.testing.assert_array_equal(task(f"group:{path}:conjugation").table, task("group:Q8:conjugation").table)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("0,1\n1,1\n", "once in every row"),
        ("0,1\n0,1\n", "once in every column"),
        ("0,1\n1,\n", "once in every row"),
        ("1,0,2\n0,2,1\n2,1,0\n", "no identity element"),
        (LOOP, r"not associative: \(.*\)"),
        ("0,1,2\n1,2,0\n", "is not the table of a group|reduce it"),
    ],
)
def test_tables_that_are_no_groups(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "group.csv"
    path.write_text(content)
    with pytest.raises(ModgrokError, match=says):
        task(f"group:{path}")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("group:X3", "S5, A4, D4, Q8, Z6"),
        ("group:", "S5, A4, D4, Q8, Z6"),
        ("group:S5:square", "product, conjugation, xyx, not 'square'"),
        ("group:S9", "1 to 7"),
        ("group:S8", "at most 50,000,000 entries"),
        ("group:Z9999", "at most 50,000,000 entries"),
        ("group:S5xS5", "at most 50,000,000 entries"),
        ("group:Q6", "Q8, Q12"),
        ("group:Z0", "S5, A4, D4, Q8, Z6|at least"),
        ("group:D0", "D1"),
        ("group:Z1", "at least 2 possible answers"),
    ],
)
def test_refusals(text: str, says: str) -> None:
    with pytest.raises(ModgrokError, match=says):
        task(text)


def test_cyclic_groups_are_sums_and_others_are_groups() -> None:
    assert task("group:Z6").structure.kind == "sum"
    assert task("group:Z2xZ3").structure.kind == "function_of_sum"
    assert task("group:S3").structure.kind == "group"
