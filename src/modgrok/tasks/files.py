"""Tables of answers in files: `.npy` for any number of variables, `.csv` for two."""

import re
from pathlib import Path

import numpy as np
from jaxtyping import Shaped

from modgrok.errors import ModgrokError

SUFFIXES = (".npy", ".csv")


def read_table(path: Path) -> Shaped[np.ndarray, "..."]:
    """The array in a file, in whatever type the file has; an error that names the file where there is none."""
    if path.suffix.lower() not in SUFFIXES:
        raise ModgrokError(f"A table is read from a .npy or a .csv file, not from {str(path)!r}.")
    try:
        if path.suffix.lower() == ".npy":
            return np.asarray(np.load(path, allow_pickle=False))
        return _parse_csv(path.read_text(encoding="utf-8-sig"), path)
    except FileNotFoundError:
        raise ModgrokError(f"There is no file {str(path)!r}.") from None
    except (OSError, ValueError, EOFError) as error:
        raise ModgrokError(f"{str(path)!r} cannot be read as a table: {error}") from error


def _parse_csv(text: str, path: Path) -> Shaped[np.ndarray, "row column"]:
    """Rows n, columns m: integers separated by commas, without a header."""
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split(",")]
        for cell in cells:
            if not re.fullmatch("-?[0-9]{1,18}", cell):
                raise ModgrokError(f"Line {number} of {str(path)!r} has {cell!r} where an integer must stand.")
        rows.append([int(cell) for cell in cells])
        if len(cells) != len(rows[0]):
            raise ModgrokError(
                f"Line {number} of {str(path)!r} has {len(cells)} entries, and the first has {len(rows[0])}."
            )
    if not rows:
        raise ModgrokError(f"{str(path)!r} is empty; a table has p rows of p integers.")
    return np.array(rows, dtype=np.int64)
