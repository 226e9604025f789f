"""Runs packed on one store and unpacked on another: bit for bit; and archives of people who mean harm."""

import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import modgrok as mg
from modgrok.errors import ModgrokError
from modgrok.experiments.archive import MANIFEST
from modgrok.sealed import UNSEALED, seal

TINY = {"width": 8, "lr": 0.1, "steps": 3, "evaluations": 3, "snapshots": 2}


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of a run on a table of one's own, of one that began with given weights, and of one by its name."""
    folder = tmp_path_factory.mktemp("packed")
    store = folder / "store"
    table = folder / "mine.csv"
    table.write_text("\n".join(",".join(str((2 * n + m) % 5) for m in range(5)) for n in range(5)))
    mg.train(str(table), store=store, **TINY)
    mg.train("n + m", store=store, start=mg.solve("n + m", 5, width=20), **{**TINY, "width": 20})
    mg.train("n * m", 5, store=store, **TINY).label("baseline", tags=["first", "small"], note="the usual rate")
    mg.pack([*mg.runs(store)[1:], "baseline"], folder / "runs.zip", store)
    return folder


def contents(store: Path) -> dict[str, bytes]:
    files = [path for path in store.rglob("*") if path.is_file() and path.name != "lock"]
    return {str(path.relative_to(store)): path.read_bytes() for path in files}


def test_they_come_back_bit_for_bit(packed: Path, tmp_path: Path) -> None:
    runs = mg.unpack(packed / "runs.zip", tmp_path / "other")
    assert contents(tmp_path / "other") == contents(packed / "store")
    assert sorted(run.id for run in runs) == sorted(run.id for run in mg.runs(packed / "store"))
    assert mg.load("baseline", tmp_path / "other").labels.tags == ["first", "small"]
    (own,) = mg.runs(tmp_path / "other", search="mine")
    assert own.task.table[1, 1] == 3
    again = mg.train(str(packed / "mine.csv"), store=tmp_path / "other", **TINY)
    assert again.id == own.id
    assert {run.id for run in mg.unpack(packed / "runs.zip", tmp_path / "other")} == {run.id for run in runs}
    assert contents(tmp_path / "other") == contents(packed / "store")


def rewrite(archive: Path, change: Callable[[dict[str, bytes]], None], sealed: bool = True) -> bytes:
    """The archive with other contents, its manifest renewed where somebody would take the trouble."""
    with zipfile.ZipFile(archive) as source:
        files = {name: source.read(name) for name in source.namelist() if name != MANIFEST}
        about = json.loads(source.read(MANIFEST))
    change(files)
    if sealed:
        from modgrok.experiments.archive import _digest

        about["files"] = {name: {"size": len(one), "sha256": _digest(one)} for name, one in files.items()}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as written:
        written.writestr(MANIFEST, seal(json.dumps(about | {"digest": UNSEALED}).encode()))
        for name, one in files.items():
            written.writestr(name, one)
    return target.getvalue()


def name_of(files: dict[str, bytes], end: str) -> str:
    return next(name for name in files if name.endswith(end))


def flip(end: str) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        name = name_of(files, end)
        content = bytearray(files[name])
        content[len(content) // 2] ^= 1
        files[name] = bytes(content)

    return change


def renamed(old: str, new: str, length: int = 0) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        files[new] = files[name_of(files, old)].ljust(length)

    return change


def other_settings(files: dict[str, bytes]) -> None:
    name = name_of(files, "experiment.json")
    content = json.loads(files[name])
    content["experiment"]["seed"] = 7
    files[name] = seal(json.dumps(content | {"digest": UNSEALED}).encode())


CHANGES = {
    "a folder above": (renamed("result.json", "../result.json"), "no file of a run"),
    "an absolute path": (renamed("result.json", "/tmp/result.json"), "no file of a run"),
    "a windows path": (renamed("result.json", "..\\result.json"), "no file of a run"),
    "a hidden folder": (renamed("result.json", ".git/config"), "no file of a run"),
    "a script": (renamed("result.json", "000000000000/run.py"), "no file of a run"),
    "a run without settings": (renamed("result.json", "000000000000/result.json"), "no whole run"),
    "another table": (flip(".npy"), "does not hold the table|cannot be read as a table|The answers lie"),
    "no starting weights": (lambda files: files.pop(next(n for n in files if n[0] == "n")), "starts from"),
    "no table": (lambda files: files.pop(name_of(files, ".npy")), "no file"),
    "a name without an end": (renamed("result.json", "tables/0123456789abcdef.txt", 10**6), "far longer than a name"),
    "another label": (flip("label.json"), "digest|cannot be read"),
    "other settings": (other_settings, "other settings than its id says"),
    "another curve": (flip("curves.jsonl"), "checksum|cannot be read"),
    "another snapshot": (flip("00000003.safetensors"), "digest|cannot be read|is not"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_hostile_archive_is_refused(packed: Path, tmp_path: Path, name: str) -> None:
    change, words = CHANGES[name]
    (tmp_path / "bad.zip").write_bytes(rewrite(packed / "runs.zip", change))
    with pytest.raises(ModgrokError, match=words):
        mg.unpack(tmp_path / "bad.zip", tmp_path / "store")
    assert contents(tmp_path) == {"bad.zip": (tmp_path / "bad.zip").read_bytes()}


@pytest.mark.parametrize("end", ["result.json", "network.safetensors", "curves.jsonl", ".npy"])
def test_a_wrong_digest_is_refused(packed: Path, tmp_path: Path, end: str) -> None:
    (tmp_path / "bad.zip").write_bytes(rewrite(packed / "runs.zip", flip(end), sealed=False))
    with pytest.raises(ModgrokError, match=r"the digest of .* does not fit"):
        mg.unpack(tmp_path / "bad.zip", tmp_path / "store")
    assert contents(tmp_path / "store") == {}


def member(name: str, content: bytes, **about: int) -> bytes:
    target, entry = io.BytesIO(), zipfile.ZipInfo(name)
    for field, value in about.items():
        setattr(entry, field, value)
    with zipfile.ZipFile(target, "w") as written:
        written.writestr(entry, content)
    return target.getvalue()


def twice() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as written:
        written.writestr(MANIFEST, b"{}")
        with pytest.warns(UserWarning, match="Duplicate"):
            written.writestr(MANIFEST, b"{}")
    return target.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            lambda: member("0123456789ab/result.json", b"/etc/passwd", external_attr=stat.S_IFLNK << 16),
            "link",
        ),
        (lambda: member("0123456789ab/curves.jsonl", bytes(10**7), compress_type=zipfile.ZIP_DEFLATED), "compressed"),
        (twice, "twice"),
        (lambda: b"no archive", "no archive of runs"),
        (lambda: member(MANIFEST, b'{"files": {}}'), "digest"),
        (lambda: member("0123456789ab/result.json", b"{}"), "no archive of runs"),
    ],
    ids=["link", "bomb", "twice", "text", "unsealed", "no manifest"],
)
def test_what_is_no_archive_of_runs_is_refused(content: Callable[[], bytes], words: str, tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(content())
    with pytest.raises(ModgrokError, match=words):
        mg.unpack(tmp_path / "bad.zip", tmp_path / "store")
    assert contents(tmp_path / "store") == {}


def test_mistakes(packed: Path, tmp_path: Path) -> None:
    for call, words in (
        (lambda: mg.pack([], tmp_path / "runs.zip"), "Name the runs"),
        (lambda: mg.pack("last", tmp_path / "runs.tar", packed / "store"), ".zip"),
        (lambda: mg.unpack(tmp_path / "none.zip", tmp_path), "There is no file"),
        (lambda: mg.load("nobody", packed / "store"), "There is no run 'nobody'"),
        (lambda: mg.load("baseline", packed / "store").label("last"), "one line"),
        (lambda: mg.load("baseline", packed / "store").label("a.pt"), "suffix"),
    ):
        with pytest.raises(ModgrokError, match=words):
            call()
    assert os.listdir(tmp_path) == []


def test_names_tags_and_notes_are_searched(packed: Path) -> None:
    store = packed / "store"
    for text in ("base", "#first", "usual rate", "n*m"):
        assert [run.experiment.task for run in mg.runs(store, search=text)] == ["n*m"]
    assert np.array_equal(mg.load("baseline", store).network.w_in, mg.runs(store, search="base")[0].network.w_in)
