from pathlib import Path

import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.tasks import Task, random_task, task


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
        (3, "shape"),
        ([0, 1, 0, 2], None),
        ([[0, 1], [1]], "equal length"),
        ([[0.0, 1.0], [1.0, 0.0]], "float64"),
        ([[True, False], [False, True]], "bool"),
        ([[0, 1], [2, 0]], "has 2; reduce it"),
        ([[0, -2], [1, 0]], "has -2; reduce it"),
        ([[-1, -1], [-1, -1]], "none occurs"),
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


@pytest.mark.parametrize("modulus", [1, 0, -3])
def test_the_modulus_is_at_least_two(modulus: int) -> None:
    with pytest.raises(ModgrokError, match=f"at least 2, not {modulus}"):
        task("n + m", modulus)


def test_tables_beyond_memory_are_refused() -> None:
    with pytest.raises(ModgrokError, match=r"at most 50,000,000 entries.*100003\^2"):
        task("n + m", 100_003)
    with pytest.raises(ModgrokError, match="at most"):
        task("n25 + n1", 97)


def test_files(tmp_path: Path) -> None:
    table = task("n^2 + m", 5).table
    np.save(tmp_path / "table.npy", table)
    np.savetxt(tmp_path / "table.csv", table, fmt="%d", delimiter=", ")
    for name in ("table.npy", "table.csv"):
        found = task(str(tmp_path / name), 5)
        assert found.name.endswith(name)
        np.testing.assert_array_equal(found.table, table)
        with pytest.raises(ModgrokError, match="one modulo 5, and modulo 7"):
            task(tmp_path / name, 7)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"0,1\n1,x\n", "Line 2 of .* has 'x'"),
        ("a.csv", b"0,1\n1\n", "Line 2 of .* has 1 entries"),
        ("a.csv", b"0,1\n1,7\n", "a.csv': .*reduce it"),
        ("a.csv", b"\xff\xfe", "cannot be read"),
        ("a.npy", b"", "cannot be read"),
        ("a.npy", b"not an array", "cannot be read"),
        ("a.txt", b"0,1\n1,0\n", ".npy or a .csv"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModgrokError, match=says):
        Task.from_file(tmp_path / name)


def test_objects_in_files_are_not_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{}, {}]), allow_pickle=True)
    with pytest.raises(ModgrokError, match="cannot be read"):
        Task.from_file(tmp_path / "a.npy")


def test_missing_files() -> None:
    with pytest.raises(ModgrokError, match=r"no file 'nowhere\.npy'"):
        task("nowhere.npy", 5)


def test_any_source() -> None:
    addition = task("n + m", 5)
    for source in (addition, addition.table, addition.table.tolist(), lambda n, m: n + m, " addition "):
        np.testing.assert_array_equal(task(source, 5).table, addition.table)
    with pytest.raises(ModgrokError, match="modulo 7 was asked for"):
        task(addition, 7)


def test_random_tables_follow_their_seed() -> None:
    first = task("random:3", 31)
    np.testing.assert_array_equal(first.table, random_task(3, 31).table)
    assert np.mean(first.table == task("random:4", 31).table) < 0.1
    assert np.bincount(first.table.ravel(), minlength=31).min() > 10
    assert first.table[0, :6].tolist() == [29, 11, 23, 3, 22, 27]
