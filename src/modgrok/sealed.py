"""Files that carry the SHA-256 of themselves, and the one way in which stored files are read.

A sealed file is JSON, or begins with JSON (safetensors), and has a key `digest`. Its value is the SHA-256 of the whole
file with 64 zeros in the place of the value, so that no byte of the file can change unnoticed.
"""

import hashlib
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

from modgrok.errors import Damaged, ModgrokError

UNSEALED = "0" * 64
"""What stands in the place of the digest before `seal`."""
_DIGEST = re.compile(rb'"digest": ?"([0-9a-f]{64})"')


def seal(content: bytes | bytearray) -> bytearray:
    """The content with its digest in the place that `UNSEALED` kept for it; a `bytearray` is sealed where it is."""
    sealed = content if isinstance(content, bytearray) else bytearray(content)
    place = _DIGEST.search(sealed)
    assert place is not None
    start, end = place.span(1)
    sealed[start:end] = _digest(sealed, start, end)
    return sealed


def has_digest(content: bytes) -> bool:
    return _DIGEST.search(content) is not None


def check_seal(content: bytes, path: Path) -> None:
    """Raises `Damaged` where a file is not, byte for byte, what was sealed."""
    place = _DIGEST.search(content)
    if place is None:
        raise Damaged(f"{path} has lost its digest.")
    if _digest(content, *place.span(1)) != place[1]:
        raise Damaged(f"{path} is not what was written there: its digest does not fit its content.")


def _digest(content: bytes | bytearray, start: int, end: int) -> bytes:
    digest = hashlib.sha256()
    with memoryview(content) as view:
        for part in (view[:start], UNSEALED.encode(), view[end:]):
            digest.update(part)
    return digest.hexdigest().encode()


def read_file(path: Path) -> bytes:
    """The content of a regular file: `Damaged` where there is none, `ModgrokError` where it may not be read."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise Damaged(f"{path} is not a file.")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise Damaged(f"{path} is missing.") from error
    except (OSError, ValueError) as error:
        raise ModgrokError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    except MemoryError as error:
        raise ModgrokError(f"{path} is larger than this machine's memory.") from error


def exists(path: Path) -> bool:
    """Whether there is something; `ModgrokError` where that may not be known."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise ModgrokError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    return True


def parse_json(content: bytes | str) -> Any:
    """JSON without NaN, infinities and bottomless nesting; `ValueError` for anything else."""
    try:
        return json.loads(content, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("it nests too deeply") from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
