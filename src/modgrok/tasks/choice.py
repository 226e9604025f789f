"""Training inputs chosen one by one, as the text that an experiment keeps: `9409:` and the bits of their mask."""

import base64
import math
import zlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.shapes import Int

if TYPE_CHECKING:
    from modgrok.tasks.task import Task

SUFFIXES = (".npy", ".csv")
MOST_INPUTS = 10_000_000
"""Of a table whose training inputs are written down one by one."""


def write_choice(given: Any, task: "Task") -> str:
    """The text of a choice: of a mask of the table's shape, of indices into the raveled table, of inputs as rows
    (n, m), of a file with one of these, or of such a text."""
    if isinstance(given, str | Path):
        if not str(given).lower().endswith(SUFFIXES):
            read_choice(str(given), task)
            return str(given)
        from modgrok.tasks.families.files import read_table

        given = read_table(Path(given))
    if not task.enumerable:
        raise ModgrokError(f"{task.name!r} has too many inputs to choose from; give a number of examples.")
    size = math.prod(task.sizes)
    if size > MOST_INPUTS:
        raise ModgrokError(f"train_on can choose among at most {MOST_INPUTS:,} inputs, not {size:,}.")
    mask = np.zeros(size, dtype=bool)
    mask[_indices(np.asarray(given), task, size)] = True
    packed = base64.b85encode(zlib.compress(np.packbits(mask).tobytes(), 9)).decode()
    return f"{size}:{packed}"


def read_choice(text: str, task: "Task") -> Int[np.ndarray, "train"]:
    """The chosen inputs as ascending indices into the raveled table."""
    if text.lower().endswith(SUFFIXES):
        text = write_choice(text, task)
    size = math.prod(task.sizes)
    chosen = _decoded(text)
    if int(text.partition(":")[0]) != size:
        raise ModgrokError(
            f"train_on chooses among {text.partition(':')[0]} inputs, and {task.name!r} has {size:,}; choose again."
        )
    answers = task.table.reshape(-1)
    if (answers[chosen] < 0).any():
        where = np.unravel_index(int(chosen[answers[chosen] < 0][0]), task.sizes)
        raise ModgrokError(
            f"train_on has the input {tuple(map(int, where))}, which does not occur in {task.name!r}; leave it out."
        )
    if not 0 < len(chosen) < len(task.present):
        raise ModgrokError(
            f"train_on must leave inputs on both sides, but it chooses {len(chosen)} of {len(task.present)}."
        )
    return chosen


@lru_cache(maxsize=64)
def _decoded(text: str) -> Int[np.ndarray, "train"]:
    size, _, packed = text.partition(":")
    try:
        if not 0 < int(size) <= MOST_INPUTS:
            raise ValueError
        unpacked = zlib.decompressobj().decompress(base64.b85decode(packed), int(size) // 8 + 1)
        if len(unpacked) != -(-int(size) // 8):
            raise ValueError
        chosen = np.flatnonzero(np.unpackbits(np.frombuffer(unpacked, dtype=np.uint8), count=int(size)))
    except (ValueError, zlib.error) as error:
        raise ModgrokError(
            f"train_on is a mask, an array of indices or a .npy or .csv file with one of these, not {text[:40]!r}."
        ) from error
    chosen.setflags(write=False)
    return chosen


def _indices(given: np.ndarray, task: "Task", size: int) -> Int[np.ndarray, "train"]:
    is_mask = given.shape in (task.sizes, (size,)) and (given.dtype == bool or set(np.unique(given)) <= {0, 1})
    if is_mask and (given.dtype == bool or task.arity > 1 or size > 2):
        return np.flatnonzero(given.reshape(-1))
    if given.dtype.kind not in "iu":
        raise ModgrokError(
            f"train_on is a mask of the shape {task.sizes} or an array of whole numbers, not one of {given.dtype} of "
            f"the shape {given.shape}."
        )
    if given.ndim == 2 and given.shape[1] == task.arity:
        inside = ((given >= 0) & (given < np.array(task.sizes))).all()
        indices = np.ravel_multi_index(tuple(given.T), task.sizes) if inside else np.array([-1])
    else:
        indices = given.reshape(-1)
    if len(indices) and not (indices.min() >= 0 and indices.max() < size):
        raise ModgrokError(f"train_on has inputs beyond the {size:,} of {task.name!r}, which count from 0.")
    return indices
