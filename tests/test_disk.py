"""Files that are whole or absent, and locks."""

import errno
import os
from pathlib import Path

import pytest

from modgrok import disk
from modgrok.disk import Lock, remove_unfinished, write_bytes, write_json
from modgrok.errors import ModgrokError


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, failing):
    path = tmp_path / "file"
    write_bytes(path, b"old")

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(disk.os, failing, fail)
    with pytest.raises(ModgrokError, match=r"No space is left to write .*file: make room and run the same command"):
        write_bytes(path, b"new")
    assert [(found.name, found.read_bytes()) for found in tmp_path.iterdir()] == [("file", b"old")]


def test_other_refusals_are_sentences_too(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ModgrokError, match="could not be written: Not a directory"):
        write_bytes(tmp_path / "file" / "below", b"")


def test_links_are_followed_and_devices_written_to(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_bytes(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"
    with pytest.raises(ModgrokError, match="No space is left to write /dev/full"):
        write_bytes(Path("/dev/full"), b"new")
    assert Path("/dev/full").is_char_device()


def test_json_has_no_nan(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "file", {"loss": float("nan")})
    assert not list(tmp_path.iterdir())


def test_what_a_killed_writer_left_is_removed(tmp_path):
    write_bytes(tmp_path / "snapshots" / "kept", b"")
    (tmp_path / "snapshots" / ".00000001.safetensors.123").write_bytes(b"half")
    (tmp_path / ".result.json.123").write_bytes(b"half")
    remove_unfinished(tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["snapshots", "kept"]


def test_a_lock_has_one_holder(tmp_path):
    one, other = Lock(tmp_path / "run"), Lock(tmp_path / "run")
    assert one.acquire(wait=False)
    assert not other.acquire(wait=False)
    one.release()
    one.release()
    assert other.acquire(wait=False)
    other.release()


def test_a_lock_on_a_folder_that_was_moved_away_is_not_one(tmp_path, monkeypatch):
    """Between opening the lock's file and getting the lock another process moves the folder aside."""
    flock, moved = disk.fcntl.flock, []

    def late(file, kind):
        flock(file, kind)
        if not moved:
            moved.append((tmp_path / "run").rename(tmp_path / "aside"))

    monkeypatch.setattr(disk.fcntl, "flock", late)
    here, aside = Lock(tmp_path / "run"), Lock(tmp_path / "aside")
    assert here.acquire()
    assert not Lock(tmp_path / "run").acquire(wait=False)
    assert aside.acquire(wait=False)
    here.release()
    aside.release()
