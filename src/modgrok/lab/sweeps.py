"""The sweeps of a store as maps: which settings vary, and the outcome of every run."""

import math
import re
from pathlib import Path
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.experiments import Store
from modgrok.experiments.columns import read_csv
from modgrok.experiments.result import bad_ends
from modgrok.experiments.sweeps.summary import Cell
from modgrok.sealed import parse_json

SWEEP_NAME = re.compile(r"[0-9A-Za-z_-]{1,64}")
ROWS = 20_000
OUTCOMES = (
    "grokked_at",
    "memorized_at",
    "test_accuracy",
    "train_accuracy",
    "test_loss",
    "train_loss",
    "ipr",
    "task_ipr",
)


def sweeps(store: Store) -> list[dict[str, Any]]:
    """Name, title and number of rows of every sweep that has a table."""
    folder = store.folder / "sweeps"
    tables = sorted(folder.glob("*/table.csv"), key=lambda path: -path.stat().st_mtime) if folder.exists() else []
    return [
        {"sweep": path.parent.name, "title": _title(path.parent)}
        for path in tables
        if SWEEP_NAME.fullmatch(path.parent.name)
    ]


def sweep(store: Store, name: str) -> dict[str, Any]:
    """The table of one sweep: its axes, its outcomes and its rows."""
    path = _path(store, name)
    columns, rows = read_csv(path, ROWS, texts=("run",))
    if "run" not in columns:
        raise ModgrokError(f"The table of sweep {name!r} has no column run.")
    settings = columns[: columns.index("run")]
    axes = [name for name in settings if len({row[name] for row in rows}) > 1] or settings[-1:]
    outcomes = [name for name in OUTCOMES if name in columns]
    kept = [{key: row.get(key) for key in ("run", "status", *axes, *outcomes)} for row in rows]
    return {"sweep": name, "title": _title(path.parent), "axes": axes, "outcomes": outcomes, "rows": kept}


def sweep_map(store: Store, name: str, x: str, y: str | None, outcome: str) -> dict[str, Any]:
    """An outcome over two axes of a sweep: the cells of `sweeps.summary`, each with one of its runs to open."""
    found = sweep(store, name)
    for axis in filter(None, (x, y)):
        if axis not in found["axes"]:
            raise ModgrokError(f"{axis[:40]} does not vary in this sweep; {', '.join(found['axes'])} do.")
    if outcome not in found["outcomes"]:
        raise ModgrokError(f"This sweep has no outcome {outcome[:40]!r}.")
    places: dict[Any, list[dict[str, Any]]] = {}
    for row in found["rows"]:
        places.setdefault((row[y] if y else None, row[x]), []).append(row)
    x_values, y_values = (sorted({key[i] for key in places}, key=_order) for i in (1, 0))
    cells = [[_cell(places.get((at_y, at_x), []), outcome) for at_x in x_values] for at_y in y_values]
    return {"x": x, "y": y, "outcome": outcome, "x_values": x_values, "y_values": y_values, "cells": cells}


def _cell(rows: list[dict[str, Any]], outcome: str) -> dict[str, Any]:
    numbers = [(float(row[outcome]), row["run"]) for row in rows if isinstance(row[outcome], int | float)]
    ended = [row["status"] for row in rows if row["status"] != "unfinished"]
    cell = Cell(len(ended), tuple(value for value, _ in numbers), bad_ends(ended))
    median = cell.median
    nearest = min(numbers, key=lambda pair: abs(pair[0] - median))[1] if median is not None else None
    return cell.as_dict() | {"runs": len(rows), "run": nearest or (rows[0]["run"] if rows else None)}


def _order(value: Any) -> tuple[bool, Any]:
    return (True, str(value)) if isinstance(value, str) else (False, value if value is not None else -math.inf)


def _path(store: Store, name: str) -> Path:
    path = store.folder / "sweeps" / name / "table.csv"
    if not SWEEP_NAME.fullmatch(name) or not path.exists():
        raise ModgrokError(f"There is no sweep {name[:40]!r} in this store.")
    return path


def _title(folder: Path) -> str:
    try:
        base = parse_json((folder / "sweep.json").read_bytes())["experiment"]
        return f"{base['task']} mod {base.get('modulus', '?')}"
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return folder.name
