import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.tasks import Signature, Task, random_task, task


def test_expression() -> None:
    found = Task.from_expression("n1 + n2*n3", 5)
    assert (found.modulus, found.arity, found.name) == (5, 3, "n1 + n2*n3")
    assert found.table[3, 4, 4] == (3 + 16) % 5
    assert found.table.dtype == np.int64
    assert repr(found) == "Task('n1 + n2*n3', modulus=5, arity=3)"


def test_tables_are_read_only_copies() -> None:
    array = np.array([[0, 1], [1, 0]])
    found = Task.from_table(array)
    array[0, 0] = 1
    assert found.table[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        found.table[0, 0] = 1


def test_views_and_vectors_are_copied_too() -> None:
    array, vectors = np.zeros((2, 2), dtype=np.int64), np.ones((2, 3))
    view = array.view()
    view.setflags(write=False)
    found = Task("view", (2, 2), 2, view)
    points = Task("points", (2,), 2, np.arange(2), vectors=vectors)
    array[0, 0], vectors[0, 0] = 1, 5
    assert found.table[0, 0] == 0
    assert points.vectors[0, 0] == 1


def test_functions_are_reduced_exactly() -> None:
    np.testing.assert_array_equal(
        Task.from_function(lambda n, m: n**40 - m, 23).table, Task.from_expression("n^40 - m", 23).table
    )
    assert Task.from_function(lambda n: np.int32(n - 1), 4, arity=1).table.tolist() == [3, 0, 1, 2]
    assert Task.from_function(max, 3).name == "max"


def test_functions_must_return_integers() -> None:
    with pytest.raises(ModgrokError, match=r"at n=0, m=1 it returned 0.5"):
        Task.from_function(lambda n, m: m / 2 if m else 0, 5)


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (3, "a number"),
        ([0, 1, 0, 2], None),
        ([[0, 1], [1]], "equal length"),
        ([[0.0, 1.0], [1.0, 0.0]], "float64"),
        ([[True, False], [False, True]], "bool"),
        ([[0, 1], [2, 0]], "has 2; reduce it"),
        ([[0, -2], [1, 0]], "has -2; reduce it"),
        ([[-1, -1], [-1, -1]], "has only holes"),
        (np.array([[0, 1], [2**63, 0]], dtype=np.uint64), "reduce it"),
        ([[0]], "at least 2"),
        (np.zeros((0, 0), dtype=int), "at least 2"),
    ],
)
def test_tables_are_checked(array: object, says: str | None) -> None:
    if says is None:
        assert Task.from_table(array).arity == 1
        return
    with pytest.raises(ModgrokError, match=says):
        Task.from_table(array)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"sizes": ()}, "at least one variable"),
        ({"sizes": (2, 0)}, "at least one value"),
        ({"answers": 1}, "at least 2"),
        ({"table": None}, "both or neither"),
        ({"rule": len}, "both or neither"),
        ({"sizes": (3, 2)}, "must have that shape"),
        ({"vectors": np.zeros((4, 3))}, "one row for each input"),
        ({"codes": np.zeros((3, 3))}, "one row for each of 2 answers"),
        ({"tolerance": 0.1}, "needs codes"),
    ],
)
def test_tasks_are_checked(fields: dict, says: str) -> None:
    with pytest.raises(ModgrokError, match=says):
        Task(**{"name": "x", "sizes": (2, 2), "answers": 2, "table": np.eye(2, dtype=int)} | fields)


def test_holes_are_visible() -> None:
    divided = task("n/m", 7)
    assert (divided.holes, len(divided.present), divided.modulus) == (7, 42, 7)
    assert divided.note.startswith("n/m has no answer at 7 of 49 inputs, the first at n=0, m=0")
    assert task("n*m", 7).note == ""
    assert divided.signature == Signature((7, 7), 7)
    assert hash(divided.signature) == hash(task("n*m", 7).signature)


@pytest.mark.parametrize("modulus", [1, 0, -3])
def test_the_modulus_is_at_least_two(modulus: int) -> None:
    with pytest.raises(ModgrokError, match=f"at least 2, not {modulus}"):
        task("n + m", modulus)


def test_tables_beyond_memory_are_refused() -> None:
    with pytest.raises(ModgrokError, match=r"at most 50,000,000 entries.*100003\^2"):
        task("n + m", 100_003)
    with pytest.raises(ModgrokError, match="at most"):
        task("n25 + n1", 97)


def test_any_source() -> None:
    addition = task("n + m", 5)
    for source in (addition, addition.table, addition.table.tolist(), lambda n, m: n + m, " addition "):
        np.testing.assert_array_equal(task(source, 5).table, addition.table)
    with pytest.raises(ModgrokError, match="not modulo 7"):
        task(addition, 7)


def test_random_tables_follow_their_seed() -> None:
    first = task("random:3", 31)
    np.testing.assert_array_equal(first.table, random_task(3, 31).table)
    assert np.mean(first.table == task("random:4", 31).table) < 0.1
    assert np.bincount(first.table.ravel(), minlength=31).min() > 10
    assert first.table[0, :6].tolist() == [29, 11, 23, 3, 22, 27]
