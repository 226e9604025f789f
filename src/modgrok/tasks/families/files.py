"""Tables of answers in files: `.npy` for any number of variables, `.csv` for two."""

import re
import warnings
from pathlib import Path

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.shapes import Shaped
from modgrok.tasks.families.family import Family
from modgrok.tasks.task import HOLE, MOST_ENTRIES, Task, check_entries

SUFFIXES = (".npy", ".csv")
MOST_CSV_BYTES = 100_000_000


def read_table(path: Path) -> Shaped[np.ndarray, "..."]:
    """The array in a file, in whatever type the file has; an error that names the file where there is none."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ModgrokError(f"A table is read from a .npy or a .csv file, not from {str(path)!r}.")
    try:
        if not path.exists():
            raise ModgrokError(f"There is no file {str(path)!r}.")
        if not path.is_file():
            raise ModgrokError(f"{str(path)!r} is not a plain file.")
        return _read_npy(path) if suffix == ".npy" else _read_csv(path)
    except ModgrokError:
        raise
    except Exception as error:  # NumPy evaluates headers as Python, which can fail in every way
        raise ModgrokError(f"{str(path)!r} cannot be read as a table: {error}") from error


def _read_npy(path: Path) -> Shaped[np.ndarray, "..."]:
    """Mapped first, so that a header which asks for more than the file has is refused before anything is allocated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mapped = np.lib.format.open_memmap(path, mode="r")
    try:
        check_entries(mapped.shape)
    except ModgrokError as error:
        raise ModgrokError(f"{str(path)!r}: {error}") from None
    return np.array(mapped)


def _read_csv(path: Path) -> Shaped[np.ndarray, "row column"]:
    """Rows n, columns m: integers separated by commas, without a header; empty where an input does not occur."""
    if path.stat().st_size > MOST_CSV_BYTES:
        raise ModgrokError(f"{str(path)!r} has more than {MOST_CSV_BYTES // 10**6} MB; write such a table as .npy.")
    rows: list[list[int]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split(",")]
        for cell in cells:
            if not re.fullmatch("(-?[0-9]{1,18})?", cell):
                raise ModgrokError(f"Line {number} of {str(path)!r} has {cell!r} where an integer is required.")
        rows.append([int(cell) if cell else HOLE for cell in cells])
        if len(cells) != len(rows[0]):
            raise ModgrokError(
                f"Line {number} of {str(path)!r} has {len(cells)} entries, but the first has {len(rows[0])}."
            )
        if len(rows) * len(cells) > MOST_ENTRIES:
            raise ModgrokError(f"{str(path)!r} has more than {MOST_ENTRIES:,} entries, the most a table may have.")
    if not rows:
        raise ModgrokError(f"{str(path)!r} is empty; a table has a row of integers for each value of n.")
    return np.array(rows, dtype=np.int64)


FAMILY = Family(
    "file",
    r".*\.(npy|csv)",
    lambda text, _: Task.from_file(text),
    "table.npy or table.csv, a table of answers; empty cells are inputs that do not occur",
)
