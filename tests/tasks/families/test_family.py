"""Sources of tasks: families by their texts, own families, the modulus, plain sums, unordered inputs."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.errors import ModgrokError
from modgrok.tasks import FAMILIES, HOLE, Family, Task, register, task
from modgrok.tasks.task import whole_modulus


@pytest.fixture
def maximum() -> Iterator[Family]:
    def read(text: str, modulus: int | None) -> Task:
        count = int(text.removeprefix("max:"))
        return Task.from_table(np.maximum.outer(np.arange(count), np.arange(count)), text)

    yield register(Family("max", "max:[0-9]+", read, "max:10, the greater of two numbers"))
    FAMILIES.pop("max")


def test_a_family_of_ones_own(maximum: Family) -> None:
    found = task(" max:5 ")
    assert (found.name, found.sizes, found.answers) == ("max:5", (5, 5), 5)
    assert task("max:5:unordered").holes == 10
    with pytest.raises(ModgrokError, match="is modulo 5, not modulo 7"):
        task("max:5", 7)


def test_families_say_what_they_are() -> None:
    assert {"modular", "random", "file", "group", "parity", "add"} <= set(FAMILIES)
    assert all(family.help for family in FAMILIES.values())


@pytest.mark.parametrize(
    ("text", "modulus", "says"),
    [
        ("grup:S5", None, "did you mean 'group'"),
        ("Partiy:5,2", None, "did you mean 'parity'"),
        ("zeta:5", None, "there are random, group, parity, add"),
        ("power:mix2", 97, "did you mean 'power:mix1'"),
        ("random:x", 97, "random:SEED"),
        ("add:x", None, "add:10"),
        ("add:1", None, "add:10"),
        ("n + m", None, "needs a modulus"),
        ("addition", None, "needs a modulus"),
        ("random:3", None, "needs a modulus"),
        ("group:S5", 97, "is modulo 120, not modulo 97"),
        ("add:10", 10, "which has 19 answers; leave out 10"),
        ("parity:40,3", 3, "which has 2 answers"),
        ("n - m:unordered", 7, "symmetric in its variables"),
        ("parity:40,3:unordered", None, "symmetric in its variables"),
    ],
)
def test_refusals(text: str, modulus: int | None, says: str) -> None:
    with pytest.raises(ModgrokError, match=says):
        task(text, modulus)


def test_moduli_are_whole_numbers_within_reason() -> None:
    for modulus, says in [
        (10**5000, "too few for the modulus one of about 5,000 digits"),
        (-(10**5000), "at least 2, not one of about 5,000 digits"),
        (100_000_007, "too few for the modulus 100000007"),
        (7.0, "a whole number, not 7.0"),
        ("7", "a whole number, not '7'"),
        (True, "at least 2, not True"),
    ]:
        with pytest.raises(ModgrokError, match=says):
            whole_modulus(modulus)
    with pytest.raises(ModgrokError, match="about 5,000 digits"):
        task("n + m", 10**5000)


def test_a_modulus_that_agrees_is_welcome() -> None:
    assert task("group:S5", 120).modulus == 120
    assert task("add:10", 19).answers == 19


def test_functions_have_the_arity_of_their_signature() -> None:
    assert task(lambda n: n + 1, 5).sizes == (5,)
    assert task(lambda n1, n2, n3: n1 * n2 - n3, 5).sizes == (5, 5, 5)
    assert task(lambda n, m, k=3: n + k * m, 5).sizes == (5, 5)
    assert task(max, 5).sizes == (5, 5)
    assert task(lambda *values: sum(values), 5).sizes == (5, 5)
    with pytest.raises(ModgrokError, match="needs a modulus"):
        task(lambda n, m: n)
    with pytest.raises(ModgrokError, match="at least one variable"):
        task(lambda: 3, 5)
    divided = Task.from_function(lambda n, m: n * pow(m, -1, 7) if m else None, 7, name="div")
    assert divided.name == "div"
    np.testing.assert_array_equal(divided.table, task("n/m", 7).table)


@given(st.integers(2, 40), st.integers(1, 3))
def test_plain_sums(count: int, arity: int) -> None:
    found = task(f"add:{count},{arity}")
    inputs = np.indices((count,) * arity)
    np.testing.assert_array_equal(found.table, inputs.sum(axis=0))
    assert found.answers == found.table.max() + 1
    assert found.signature.outputs == arity * (count - 1) + 1
    assert found.is_modular == (arity == 1)
    assert found.structure.kind == ("sum" if arity == 1 else "unknown")


def test_liu() -> None:
    assert len(task("add:10:unordered").present) == 55
    assert task("add:10").answers == 19


@pytest.mark.parametrize(
    ("text", "rows"), [("n/m", 9312), ("power:mix1", 9409), ("power:+*", 9409), ("power:+-", 9409)]
)
def test_power_modulo_97(text: str, rows: int) -> None:
    assert len(task(text, 97).present) == rows


@pytest.mark.parametrize("text", ["group:S5", "group:S5:conjugation", "group:S5:xyx"])
def test_power_on_permutations(text: str) -> None:
    assert len(task(text).present) == 14400


@given(st.sampled_from(["n*m", "n + m", "n1 + n2 + n3", "(n*m + 1)^2", "n1", "n1*n2*n3*n4"]), st.integers(2, 7))
def test_unordered_inputs_occur_once(text: str, modulus: int) -> None:
    whole = task(text, modulus)
    found = whole.unordered()
    assert found.name == f"{text}:unordered"
    for index, answer in np.ndenumerate(found.table):
        assert answer == (whole.table[index] if list(index) == sorted(index) else HOLE)
