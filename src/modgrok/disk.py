"""Files that are either whole or absent: written beside their place, then moved there; and locks on folders.

Every change that is made to a store goes through `os` here, one call after another, so that a test can end it at each.
"""

import contextlib
import errno
import fcntl
import json
import os
import random
import re
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from modgrok.errors import ModgrokError

NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
"""How a disk says that it has none."""
POLL_SECONDS = 0.5
PROCESSES = Path("/proc")
_CLAIM = re.compile(r"lock\..+\.\d+\.\d+\.(\d+|running)")


class NoSpace(ModgrokError):
    """A disk is full."""


@contextlib.contextmanager
def translate_os_errors(path: Path) -> Iterator[None]:
    """Turns a refusal of the operating system into a sentence; what was stored before stays as it is."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoSpace(f"No space is left to write {path}: make room and rerun the command.") from error
        reason = os.strerror(errno.ENOTDIR) if error.errno == errno.EEXIST else error.strerror
        raise ModgrokError(f"{path} could not be written: {reason or error}.") from error


def write_bytes(path: Path, content: bytes | bytearray) -> None:
    """Replaces a file as one act: a reader, or a crash, sees the old content or the new.

    A link is followed, and what is no file (a device, a pipe) is written to as it is.
    """
    with translate_os_errors(path):
        if path.is_symlink():
            path = Path(os.path.realpath(path))
        if path.exists() and not path.is_file():
            return _write(os.open(path, os.O_WRONLY), content)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            _write(_opened(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), content)
            os.replace(beside, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise


def write_json(path: Path, value: Any) -> None:
    write_bytes(path, (json.dumps(value, indent=1, allow_nan=False) + "\n").encode())


def append_bytes(path: Path, place: int, content: bytes) -> None:
    """Writes from a place in the file on; what stood there, cut short by a crash, goes. It needs a `sync` to last."""
    with translate_os_errors(path):
        file = _opened(path, os.O_WRONLY | os.O_CREAT)
        try:
            if os.fstat(file).st_size > place:
                os.ftruncate(file, place)
            os.lseek(file, place, os.SEEK_SET)
        except BaseException:
            os.close(file)
            raise
        _write(file, content, synced=False)


def sync(path: Path) -> None:
    """Returns when a file is on the disk, and not only in the system's memory."""
    with translate_os_errors(path):
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def cut(path: Path, length: int) -> None:
    """Shortens a file, as one act."""
    with translate_os_errors(path):
        os.truncate(path, length)


def move(path: Path, target: Path) -> None:
    """Moves a file or a folder, as one act."""
    with translate_os_errors(target):
        os.makedirs(target.parent, exist_ok=True)
        os.replace(path, target)


def remove(path: Path) -> None:
    """Deletes a file, if it is there."""
    with translate_os_errors(path), contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def remove_unfinished(folder: Path) -> None:
    """Deletes what writers left beside its place when they were killed; for the holder of the folder's lock."""
    for path in folder.rglob(".*.*"):
        remove(path)


def _opened(path: Path, how: int) -> int:
    """A file opened to be written, in a folder that is made if there is none."""
    try:
        return os.open(path, how, 0o666)
    except FileNotFoundError:
        os.makedirs(path.parent, exist_ok=True)
        return os.open(path, how, 0o666)


def _write(file: int, content: bytes | bytearray, synced: bool = True) -> None:
    """Writes all of it and closes the file."""
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(file, rest) :]
        if synced and stat.S_ISREG(os.fstat(file).st_mode):
            os.fsync(file)
    finally:
        os.close(file)


class Lock:
    """At most one process works in a folder; the operating system lets go of it when that process ends, however.

    Some network disks (Lustre, NFS without its lock service) refuse `flock`. There a process puts down a claim, a file
    `lock.HOST.SPACE.PROCESS.BEGAN` that says who it is, and looks whether there is another: of two that do so at the
    same time at least one sees the other, and withdraws. A claim goes on release, and counts no more when its process
    has ended, which can be seen on the same machine only.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "lock"
        self._file: int | None = None
        self._claim: Path | None = None

    def acquire(self, wait: bool = True) -> bool:
        """Whether the lock was got; with `wait` it always is, in the end."""
        with translate_os_errors(self.path):
            while True:
                file = _opened(self.path, os.O_WRONLY | os.O_CREAT)
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                    if self._is_in_place(file):
                        self._file, file = file, -1
                        return True
                except BlockingIOError:
                    return False
                except OSError as error:
                    if error.errno not in NO_LOCKS:
                        raise
                    if self._make_claim() or not wait:
                        return self._claim is not None
                    time.sleep(POLL_SECONDS * random.random())  # Two that withdrew must not come back together.
                finally:
                    if file >= 0:
                        os.close(file)

    def __enter__(self) -> "Lock":
        """Waits for the lock, unless it was acquired before."""
        if self._file is None and self._claim is None:
            self.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    @property
    def holder(self) -> str:
        """Who is waited for, where the system does not let go of the lock by itself; empty where it does."""
        for claim in self._claims():
            host, _, process, _ = claim.name.removeprefix("lock.").rsplit(".", 3)
            return f" (process {process} on {host}; if that has ended, delete {claim})"
        return ""

    def _make_claim(self) -> bool:
        mine = self.path.with_name(f"lock.{_name_of(os.getpid())}")
        if self._claims():
            return False
        try:
            os.close(os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        except (FileExistsError, FileNotFoundError):  # Another lock of this process, or the folder is gone.
            return False
        if self._claims() != [mine]:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(mine)
            return False
        self._claim = mine
        return True

    def _claims(self, alive: bool = True) -> list[Path]:
        """The claims that count, this process's own among them, or those that count no more."""
        found = [path for path in self.path.parent.glob("lock.*") if _CLAIM.fullmatch(path.name)]
        return [path for path in found if _is_alive(path) == alive]

    def _is_in_place(self, file: int) -> bool:
        """Whether the folder was neither moved nor removed between opening its lock and getting it."""
        try:
            return os.path.samestat(os.fstat(file), os.stat(self.path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if self._claim is not None:
            for path in (*self._claims(alive=False), self._claim):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
            self._claim = None


def _is_alive(claim: Path) -> bool:
    """Whether the process that made a claim may still be at work: always, if it runs on another machine."""
    host, space, process, _ = claim.name.removeprefix("lock.").rsplit(".", 3)
    return (host, space) != _place() or claim.name == f"lock.{_name_of(int(process))}"


def _name_of(process: int) -> str:
    """A running process, told apart from an earlier one of its number by when it began, where the system says it."""
    began = ""
    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
        if PROCESSES.exists():
            state, *counts = (PROCESSES / f"{process}/stat").read_text().rpartition(")")[2].split()
            began = "" if state in "ZX" else counts[18]
        else:
            os.kill(process, 0)
            began = "running"
    return ".".join((*_place(), str(process), began))


def _place() -> tuple[str, str]:
    """The machine, and the container in it: processes that see each other."""
    space = PROCESSES / "self/ns/pid"
    return socket.gethostname(), str(os.stat(space).st_ino if PROCESSES.exists() else 0)
