"""Tables in files, written and read in one place: columns by name, all of one length, as CSV or Parquet."""

import csv
import io
import math
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from modgrok.disk import write_bytes
from modgrok.errors import ModgrokError, import_extra

Columns = Mapping[str, Sequence[Any]]


def to_parquet(columns: Columns, metadata: Mapping[str, str] | None = None) -> bytes:
    """The columns as a Parquet file, with texts beside them."""
    pyarrow, parquet = (
        import_extra(name, "Parquet needs pyarrow", "export") for name in ("pyarrow", "pyarrow.parquet")
    )
    table = pyarrow.table(uniform(columns))
    buffer = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata(metadata), buffer)
    return buffer.getvalue()


def uniform(columns: Columns) -> dict[str, Sequence[Any]]:
    """Columns of one type each: one that mixes texts and numbers, such as auto and 0.1, as texts."""
    kinds = {name: {type(x) for x in column if x is not None} for name, column in columns.items()}
    return {
        name: [None if x is None else str(x) for x in column] if str in kinds[name] else column
        for name, column in columns.items()
    }


class Frame(dict[str, Any]):
    """Columns by name, all of one length, which is its own: `pandas.DataFrame(frame)` and `frame["step"]` work."""

    words = ("table", "column")
    """What it is called, and what it holds."""

    def __len__(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.values()), ()))

    def __missing__(self, name: str) -> Any:
        whole, part = self.words
        close = get_close_matches(str(name), self, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(self)}."
        raise ModgrokError(f"The {whole} has no {part} {name!r}; {hint}")

    def to_pandas(self) -> Any:
        """The columns as a data frame."""
        pandas = import_extra("pandas", "A data frame needs pandas", "frames")
        return pandas.DataFrame(self).astype(dict.fromkeys(self._empty(), float))

    def to_polars(self) -> Any:
        """The columns as a data frame of polars."""
        polars = import_extra("polars", "This data frame needs polars", "frames")
        return polars.DataFrame(uniform(self), schema_overrides=dict.fromkeys(self._empty(), polars.Float64))

    def to_csv(self) -> str:
        """Comma-separated text with a header; empty where there is no value."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self)
        cells = ([None if x != x else x for x in column] for column in self.values())
        writer.writerows(zip(*cells, strict=True))
        return text.getvalue()

    def write(self, path: str | Path) -> None:
        """To a `.csv` or `.parquet` file."""
        path = Path(path)
        if path.suffix not in (".csv", ".parquet"):
            raise ModgrokError(f"A table is written to a .csv or .parquet file, not to {path.name}.")
        write_bytes(path, self.to_csv().encode() if path.suffix == ".csv" else to_parquet(self))

    def _empty(self) -> list[str]:
        """Columns of numbers that hold none."""
        return []


def read_csv(path: Path, most: int, texts: Collection[str] = ()) -> tuple[list[str], list[dict[str, Any]]]:
    """The names of the columns and up to `most` rows: numbers where a field is one and the column is not one of
    `texts`, None where it is empty."""
    try:
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            reader = csv.DictReader(file)
            rows = [row for row, _ in zip(reader, range(most), strict=False)]
    except csv.Error as error:
        raise ModgrokError(f"{path} cannot be read: {error}.") from error
    names = list(reader.fieldnames or [])
    return names, [{n: row.get(n) if n in texts else _value(row.get(n)) for n in names} for row in rows]


def _value(text: str | None) -> Any:
    if text is None or text == "" or text.lower() in ("nan", "none", "null"):
        return None
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return None
    return int(text) if text.lstrip("+-").isdecimal() else number
