"""Files that are either whole or absent: written beside their place, then moved there."""

import contextlib
import errno
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns a refusal of the operating system into a sentence; what was stored before stays as it is."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ModgrokError(
                f"No space is left to write {path}. The last checkpoint is intact: make room and run the same command."
            ) from error
        raise ModgrokError(f"{path} could not be written: {error.strerror or error}.") from error


def write_bytes(path: Path, content: bytes) -> None:
    """Replaces a file as one act: a reader, or a crash, sees the old content or the new."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with explained(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(beside, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def remove_unfinished(folder: Path) -> None:
    """Deletes what writers left beside its place when they were killed; for the holder of the folder's lock."""
    for path in folder.rglob(".*.*"):
        path.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    write_bytes(path, (json.dumps(value, indent=1, allow_nan=False) + "\n").encode())


def write_tensors(path: Path, tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> None:
    """A safetensors file, written as one act."""
    from safetensors.numpy import save

    # A zero-dimensional array would come back as one of length 1 from `ascontiguousarray`.
    write_bytes(path, save({name: np.array(t, order="C") for name, t in tensors.items()}, metadata=metadata))


def read_tensors(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """What `write_tensors` wrote."""
    from safetensors import safe_open

    with safe_open(str(path), framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118


class Lock:
    """At most one process works in a folder; the operating system lets go of it when that process ends, however."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "lock"
        self._file: Any = None

    def acquire(self, wait: bool = True) -> bool:
        """Whether the lock was got; with `wait` it always is, in the end."""
        with explained(self.path):
            while True:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                file = open(self.path, "a")  # noqa: SIM115
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                except BlockingIOError:
                    file.close()
                    return False
                if self._is_in_place(file):
                    self._file = file
                    return True
                file.close()

    def _is_in_place(self, file: Any) -> bool:
        """Whether the folder was neither moved nor removed between opening its lock and getting it."""
        try:
            return os.path.samestat(os.fstat(file.fileno()), os.stat(self.path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
