"""Tables in files, and files that lie about them."""

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.errors import ModgrokError
from modgrok.tasks import HOLE, Task, task


def npy(header: str) -> bytes:
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"\0" * 64


def test_files(tmp_path: Path) -> None:
    table = task("n^2 + m", 5).table
    np.save(tmp_path / "table.npy", table)
    np.savetxt(tmp_path / "table.csv", table, fmt="%d", delimiter=", ")
    for name in ("table.npy", "table.csv"):
        found = task(str(tmp_path / name))
        assert found.name.endswith(name)
        np.testing.assert_array_equal(found.table, table)
        with pytest.raises(ModgrokError, match="is modulo 5, not modulo 7"):
            task(tmp_path / name, 7)


def test_empty_cells_are_holes(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("0,,2\n1,2,0\n,0,\n")
    assert task(path).table.tolist() == [[0, HOLE, 2], [1, 2, 0], [HOLE, 0, HOLE]]
    assert task(path).holes == 3


def test_tables_of_any_shape(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("0,1,4\n1,2,0\n")
    found = task(path)
    assert (found.sizes, found.answers) == ((2, 3), 5)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"0,1\n1,x\n", "Line 2 of .* has 'x'"),
        ("a.csv", b"0,1\n1\n", "Line 2 of .* has 1 entries"),
        ("a.csv", b"0,1\n1,7\n", "a.csv': .*reduce it"),
        ("a.csv", b",\n,\n", "has only holes"),
        ("a.csv", b"\xff\xfe", "cannot be read"),
        ("a.npy", b"", "cannot be read"),
        ("a.npy", b"not an array", "cannot be read"),
        ("a.npy", b"PK\x03\x04 an archive", "cannot be read"),
        (
            "a.npy",
            npy("{'descr': '<i8', 'fortran_order': False, 'shape': (100000000000, 100000000000), }"),
            "cannot be",
        ),
        ("a.npy", npy("{'descr': '<i8', 'fortran_order': False, 'shape': (-3, -3), }"), "cannot be read"),
        ("a.npy", npy("{'descr': '<i8', 'fortran_order': False, 'shape': (0, 3), }"), "a.npy'"),
        ("a.npy", npy("{'descr': '<i8', 'fortran_order': False, 'shape': " + "(" * 5000), "cannot be read"),
        ("a.npy", npy("{'descr': '<i8', 'fortran_order': False, 'shape': " + "-" * 5000 + "1}"), "cannot be read"),
        ("a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }"), "a.npy': .*float64"),
        ("a.npy", npy("{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (2, 2), }"), "a.npy'"),
        ("a.txt", b"0,1\n1,0\n", ".npy or a .csv"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModgrokError, match=says):
        Task.from_file(tmp_path / name)


@given(data=st.data())
def test_damaged_headers_never_escape(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("npy") / "a.npy"
    np.save(path, task("n + m", 3).table)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, 140))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    with contextlib.suppress(ModgrokError):
        task(path)


def test_large_headers_are_refused_before_allocation(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(npy("{'descr': '|i1', 'fortran_order': False, 'shape': (60000000000,), }"))
    with path.open("r+b") as file:
        file.truncate(60_000_000_200)  # sparse: the file has the bytes, the disk has not
    with pytest.raises(ModgrokError, match="at most 50,000,000 entries"):
        task(path)


def test_objects_in_files_are_not_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{}, {}]), allow_pickle=True)
    with pytest.raises(ModgrokError, match="cannot be read"):
        Task.from_file(tmp_path / "a.npy")


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(ModgrokError, match=r"no file 'nowhere\.npy'"):
        task("nowhere.npy", 5)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ModgrokError, match="not a plain file"):
        task(tmp_path / "folder.csv")
