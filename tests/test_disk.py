"""Files that are whole or absent, and locks."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import modgrok as mg
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
    with pytest.raises(ModgrokError, match=r"No space is left to write .*file: make room and rerun the command"):
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


@pytest.fixture(params=[errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP], ids=errno.errorcode.get)
def no_flock(request, monkeypatch):
    """A disk that refuses `flock`."""

    def refuse(*_):
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(disk.fcntl, "flock", refuse)
    monkeypatch.setattr(disk, "POLL_SECONDS", 0.01)


def test_a_disk_without_locks_has_one_holder_too(no_flock, tmp_path):
    one, other = Lock(tmp_path / "run"), Lock(tmp_path / "run")
    for _ in range(2):
        assert one.acquire(wait=False)
        assert not other.acquire(wait=False)
        assert f"process {os.getpid()} on" in other.holder
        one.release()
        one.release()
        assert other.acquire()
        other.release()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["lock"]


def claim(folder, name):
    folder.mkdir(exist_ok=True)
    (folder / f"lock.{name}").touch()


def test_a_claim_ends_with_its_process(no_flock, tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    here = ".".join(disk._place())
    for name in (f"{here}.{ended.pid}.5", f"{here}.{os.getpid()}.5"):
        claim(tmp_path, name)
    lock = Lock(tmp_path)
    assert lock.acquire(wait=False)
    lock.release()
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_a_claim_from_another_machine_is_respected_and_named(no_flock, tmp_path):
    claim(tmp_path, "node7.example.1.123.5")
    lock = Lock(tmp_path)
    assert not lock.acquire(wait=False)
    other = tmp_path / "lock.node7.example.1.123.5"
    assert lock.holder == f" (process 123 on node7.example; if that has ended, delete {other})"
    other.unlink()
    assert lock.acquire(wait=False)
    lock.release()


def test_many_processes_without_locks_take_turns(no_flock, tmp_path):
    """Each reads a number and writes it back, one more; two at a time would lose some. One dies with the lock."""
    claim(tmp_path, f"{'.'.join(disk._place())}.{2**22 + 1}.5")
    (tmp_path / "number").write_text("0")
    program = (
        "import errno, sys; from pathlib import Path; from modgrok import disk; folder = Path(sys.argv[1])\n"
        "def refuse(*_): raise OSError(errno.ENOSYS, 'no')\n"
        "disk.fcntl.flock, disk.POLL_SECONDS = refuse, 0.001\n"
        "for _ in range(40):\n"
        "    lock = disk.Lock(folder); lock.acquire(); number = folder / 'number'\n"
        "    number.write_text(str(int(number.read_text()) + 1)); lock.release()\n"
        "lock.acquire()\n"
    )
    processes = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(4)]
    assert [process.wait(120) for process in processes] == [0] * 4
    assert (tmp_path / "number").read_text() == "160"


def test_training_works_without_locks(no_flock, tmp_path):
    run = mg.train("n + m", 5, width=8, steps=2, lr=0.1, store=tmp_path)
    assert run.result is not None
    assert not list(run.folder.glob("lock.*"))
