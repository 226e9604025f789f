"""Compiled programs kept on disk, so that only the first start of a program compiles it: a second start of `modgrok
train "n + m"` takes 2.3 s of CPU time instead of 5.5 s on two cores.

The folder is `$MODGROK_CACHE`, or `modgrok` in the user's cache folder; `MODGROK_CACHE=off` keeps nothing. Inside it
every kind of processor, device and compiler has a folder of its own: code compiled for another processor can crash. A
folder that JAX was already given is left to it. JAX names, makes and loads the programs; this module reads and writes
their files, since what is loaded is executed: only a file that belongs to this user, that nobody else can write, and
whose content is what was stored under its name.
"""

import contextlib
import hashlib
import logging
import os
import platform
import re
import stat
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
from jax._src import compilation_cache

OFF = ("off", "no", "0", "false")
MOST_BYTES = 1 << 29
"""Size limit, beyond which the least recently used programs are removed."""
WORTH_SECONDS = 0.05
"""Programs that compile faster than this are not cached."""
DIGEST_BYTES = 32
SUFFIX = "-own"
"""JAX's own cache looks for files named -cache and must not find these."""


@cache
def enable_cache() -> Path | None:
    """Turns on the compilation cache; returns its folder, or None if it is off."""
    asked = os.environ.get("MODGROK_CACHE", "")
    known = hasattr(compilation_cache, "_cache_initialized")  # Another JAX would read the files itself.
    if asked.lower() in OFF or jax.config.values.get("jax_compilation_cache_dir") or not known:
        return None
    folder = (Path(asked) if asked else user_folder() / "modgrok") / machine()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "written").touch()
    except OSError as error:
        logging.getLogger("modgrok").warning(
            "Compiled programs are not kept: %s cannot be written (%s). Set MODGROK_CACHE to a folder that can, or to "
            "off.",
            folder,
            error.strerror,
        )
        return None
    shrink(folder.parent, MOST_BYTES)
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", WORTH_SECONDS)
    compilation_cache.reset_cache()  # what was compiled before has settled that there is none
    files: Any = OwnFiles(folder)
    compilation_cache._cache, compilation_cache._cache_initialized = files, True
    return folder


class OwnFiles:
    """JAX's cache of compiled programs in files of this user. The class behind `jax_compilation_cache_dir` would read
    what anyone has planted in the folder, wait for ever for a named pipe, and take one program for another."""

    def __init__(self, folder: Path) -> None:
        self._path = folder

    def get(self, key: str) -> bytes | None:
        """The value stored under a key; None if it is absent or damaged."""
        try:
            content = read_own(self._path / f"{key}{SUFFIX}")
        except OSError:
            return None
        digest, value = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
        return value if digest == _digest(key, value) else None

    def put(self, key: str, value: bytes) -> None:
        path = self._path / f"{key}{SUFFIX}"
        beside = path.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):  # It is compiled again next time.
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with open(handle, "wb") as file:
                file.write(_digest(key, value) + value)
            os.replace(beside, path)


def read_own(path: Path) -> bytes:
    """The content of a regular file that this user owns and nobody else can write; `OSError` for any other."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        status = os.fstat(file.fileno())
        others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or others:
            raise PermissionError(f"{path} is not a file of this user alone")
        return file.read()


def _digest(key: str, value: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + value).digest()


def user_folder() -> Path:
    """The user's cache folder."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    return Path(home) if os.path.isabs(home) else Path.home() / ".cache"


def machine() -> str:
    """A name for the combination of processor, devices and compiler."""
    kinds = sorted({device.device_kind for device in jax.local_devices()})
    facts = (version("jax"), version("jaxlib"), platform.machine(), *kinds, *sorted(processor_features()))
    readable = re.sub(r"[^\w.]+", "-", f"{kinds[0]}-{version('jaxlib')}").strip("-")
    return f"{readable}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:12]}"


def processor_features() -> Iterable[str]:
    """Instruction set and name of this processor."""
    names = ("flags", "features", "model name")
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        found = (line.partition(":") for line in lines)
        return {word for name, _, value in found if name.strip().lower() in names for word in value.split()}
    return {platform.processor()}


def shrink(folder: Path, most: int) -> None:
    """Removes the least recently used files until the rest take at most `most` bytes."""
    files = []
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # another process may be doing the same
                status = os.stat(path := os.path.join(place, name))
                files.append((max(status.st_atime, status.st_mtime), status.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= most:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
