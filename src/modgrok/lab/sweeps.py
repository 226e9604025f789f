"""The sweeps of a store as maps: which settings vary, and the outcome of every run."""

import csv
import json
import re
from pathlib import Path
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.experiments import Store

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
    path = store.folder / "sweeps" / name / "table.csv"
    if not SWEEP_NAME.fullmatch(name) or not path.exists():
        raise ModgrokError(f"There is no sweep {name[:64]!r} in this store.")
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        columns = list(reader.fieldnames or [])
        rows = [row for row, _ in zip(reader, range(ROWS), strict=False)]
    if "run" not in columns:
        raise ModgrokError(f"The table of sweep {name!r} has no column run.")
    settings = columns[: columns.index("run")]
    axes = [name for name in settings if len({row[name] for row in rows}) > 1] or settings[-1:]
    outcomes = [name for name in OUTCOMES if name in columns]
    kept = [{key: _value(row.get(key)) for key in ("run", "status", *axes, *outcomes)} for row in rows]
    return {"sweep": name, "title": _title(path.parent), "axes": axes, "outcomes": outcomes, "rows": kept}


def _title(folder: Path) -> str:
    try:
        stored = json.loads((folder / "sweep.json").read_text())
    except (OSError, ValueError):
        return folder.name
    base = stored.get("experiment") if isinstance(stored, dict) else None
    if not isinstance(base, dict) or "task" not in base:
        return folder.name
    return f"{base['task']} mod {base.get('modulus', '?')}"


def _value(text: str | None) -> Any:
    if text is None or text == "" or text.lower() in ("nan", "none", "null"):
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text
