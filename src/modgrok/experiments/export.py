"""Curves of stored runs for other programs: CSV, Parquet, TensorBoard."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.experiments.disk import translate_os_errors, write_bytes
from modgrok.experiments.run import Run
from modgrok.sealed import exists

EXTRA = "it comes with pip install 'modgrok[export]'"


def long_rows(runs: Sequence[Run]) -> Iterator[dict[str, Any]]:
    """One row for each evaluation of each run: the run's id, then its curves; None where a number does not exist."""
    return ({"run": run.id} | row for run in runs for row in run.rows())


def to_csv(runs: Sequence[Run]) -> str:
    """All curves as text, an empty field where a number does not exist."""
    rows = list(long_rows(runs))
    text = io.StringIO()
    names = dict.fromkeys(name for row in rows for name in row) or {"run": None, "step": None}
    writer = csv.DictWriter(text, list(names), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_csv(runs: Sequence[Run], path: Path) -> None:
    """`to_csv` into a file."""
    write_bytes(path, to_csv(runs).encode())


def write_parquet(runs: Sequence[Run], path: Path) -> None:
    """All curves as one table, whose metadata holds the settings of every run under `modgrok`."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ModgrokError(f"Parquet needs pyarrow; {EXTRA}.") from error
    table = pyarrow.Table.from_pylist(list(long_rows(runs)))
    settings = json.dumps({run.id: run.experiment.as_dict() for run in runs})
    buffer = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({"modgrok": settings}), buffer)
    write_bytes(path, buffer.getvalue())


def write_tensorboard(runs: Sequence[Run], folder: Path) -> None:
    """One folder for each run, with its curves as scalars and its settings as text."""
    try:
        from tensorboardX import SummaryWriter
    except ImportError as error:
        raise ModgrokError(f"TensorBoard files need tensorboardX; {EXTRA}.") from error
    for run in runs:
        place = folder / run.id
        if exists(place):
            raise ModgrokError(f"{place} is there already; TensorBoard would show both, so name another folder.")
        with translate_os_errors(place), SummaryWriter(str(place)) as writer:
            writer.add_text("settings", f"```json\n{json.dumps(run.experiment.as_dict(), indent=1)}\n```", 0)
            for row in run.rows():
                for name, value in row.items():
                    if name != "step" and value is not None:
                        writer.add_scalar(name, value, row["step"])


WRITERS = {"csv": write_csv, "parquet": write_parquet, "tensorboard": write_tensorboard}
