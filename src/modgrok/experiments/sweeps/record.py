"""A sweep in its store: `sweeps/ID/sweep.json` says what it is, `table.csv` beside it what came out so far."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.experiments.files import write_json
from modgrok.experiments.store import Store
from modgrok.experiments.sweeps.results import Results
from modgrok.experiments.sweeps.sweep import Sweep
from modgrok.experiments.sweeps.table import sweep_table

WRITE_SECONDS = 2.0
"""Least time between two versions of a growing table; large tables, which take longer to write, come more rarely."""


class Record:
    """One sweep's folder."""

    def __init__(self, sweep: Sweep, store: Store) -> None:
        self.sweep, self.store = sweep, store
        self.folder = store.folder / "sweeps" / sweep.id
        self._written, self._cost = 0.0, 0.0

    def begin(self) -> None:
        """Writes down what the sweep is."""
        path = self.folder / "sweep.json"
        if not path.exists():
            about = {"id": self.sweep.id, "runs": len(self.sweep), "created": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
            write_json(path, about | self.sweep.as_dict())

    def update(self, results: Results) -> None:
        """Writes the table, unless that was done a moment ago."""
        if time.monotonic() - self._written > max(WRITE_SECONDS, 20 * self._cost):
            self.write(results)

    def write(self, results: Results) -> None:
        """Writes the table."""
        began = time.monotonic()
        sweep_table(self.sweep, results).write(self.folder / "table.csv")
        self._written = time.monotonic()
        self._cost = self._written - began


def stored_sweeps(store: Store) -> Iterator[dict[str, Any]]:
    """What is written down about every sweep of the store, the latest first."""
    paths = (store.folder / "sweeps").glob("*/sweep.json")
    for path in sorted(paths, key=lambda path: -path.stat().st_mtime):
        yield _read(path)


def find_sweep(store: Store, name: str) -> Sweep:
    """The sweep whose id begins so; `last` is the latest."""
    found = list(stored_sweeps(store))
    matches = found[:1] if name == "last" else [one for one in found if name and one["id"].startswith(name)]
    if not matches:
        raise ModgrokError(f"There is no sweep {name!r} in {store.folder}; `modgrok sweep list` shows those there are.")
    if len(matches) > 1:
        raise ModgrokError(f"{len(matches)} sweeps in {store.folder} begin with {name!r}; write more of the id.")
    return Sweep.from_dict(matches[0])


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text())
        assert isinstance(content, dict)
        Sweep.from_dict(content)
    except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
        raise ModgrokError(f"{path} does not describe a sweep: {error}.") from error
    return content
