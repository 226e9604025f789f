"""Compiled programs kept on disk, so that only the first start of a program compiles it.

The folder is `$MODGROK_CACHE`, or `modgrok` in the user's cache folder; `MODGROK_CACHE=off` keeps nothing. Inside it
every kind of processor, device and compiler has a folder of its own: code compiled for another processor can crash. Who
told JAX of a folder already keeps that one.
"""

import contextlib
import hashlib
import logging
import os
import platform
import re
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import jax
from jax.experimental.compilation_cache import compilation_cache

OFF = ("off", "no", "0", "false")
MOST_BYTES = 1 << 29
"""Beyond that the programs that were not used for longest are removed."""
WORTH_SECONDS = 0.05
"""What takes less time to compile is not kept."""


@cache
def enable_cache() -> Path | None:
    """Keeps what is compiled from now on; the folder, or None where nothing is kept."""
    asked = os.environ.get("MODGROK_CACHE", "")
    if asked.lower() in OFF or jax.config.values.get("jax_compilation_cache_dir"):
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
    return folder


def user_folder() -> Path:
    """Where a user's programs keep what they can make again."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    return Path(home) if os.path.isabs(home) else Path.home() / ".cache"


def machine() -> str:
    """A name for processor, devices and compiler together."""
    kinds = sorted({device.device_kind for device in jax.local_devices()})
    facts = (version("jax"), version("jaxlib"), platform.machine(), *kinds, *sorted(processor_features()))
    readable = re.sub(r"[^\w.]+", "-", f"{kinds[0]}-{version('jaxlib')}").strip("-")
    return f"{readable}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:12]}"


def processor_features() -> Iterable[str]:
    """The instructions that this processor knows, and its name."""
    names = ("flags", "features", "model name")
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        found = (line.partition(":") for line in lines)
        return {word for name, _, value in found if name.strip().lower() in names for word in value.split()}
    return {platform.processor()}


def shrink(folder: Path, most: int) -> None:
    """Removes the files that were not used for longest until the others have at most so many bytes."""
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
