"""A sweep in its store: `sweeps/ID/sweep.json` says what it is, `table.csv` beside it what came out so far."""

import dataclasses
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modgrok.errors import Damaged, ModgrokError, Unknown
from modgrok.experiments.label import read_label
from modgrok.experiments.run_writer import Pace
from modgrok.experiments.store import Store
from modgrok.experiments.stored_json import build, read_sealed_json, write_sealed_json
from modgrok.experiments.sweeps.sweep import Sweep
from modgrok.experiments.sweeps.table import Results, sweep_table

WRITE_SECONDS = 5.0
"""Least time between two versions of a growing table; large tables, which take longer to write, come more rarely."""


class Record:
    """One sweep's folder."""

    def __init__(self, sweep: Sweep, store: Store) -> None:
        self.sweep, self.store = sweep, store
        self.folder = store.folder / "sweeps" / sweep.id
        self._pace = Pace(WRITE_SECONDS, last=-math.inf)

    def begin(self) -> None:
        """Writes down what the sweep is."""
        path = self.folder / "sweep.json"
        if not path.exists():
            about = {"id": self.sweep.id, "runs": len(self.sweep), "created": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
            write_sealed_json(path, about | self.sweep.as_dict())

    def update(self, results: Results) -> None:
        """Writes the table, unless that was done a moment ago."""
        if self._pace.due:
            self.write(results)

    def write(self, results: Results) -> None:
        """Writes the table."""
        with self._pace.writing():
            sweep_table(self.sweep, results).write(self.folder / "table.csv")


@dataclass(frozen=True)
class SweepFile:
    """What `sweep.json` holds."""

    id: str
    runs: int
    created: str
    experiment: dict[str, Any]
    vary: list[dict[str, Any]]


def stored_sweeps(store: Store) -> Iterator[dict[str, Any]]:
    """What is written down about every sweep, the latest first; `id` and `reason` of one that cannot be read."""
    paths = [path for path in (store.folder / "sweeps").glob("*/sweep.json") if path.is_file()]
    for path in sorted(paths, key=lambda path: -path.stat().st_mtime):
        try:
            yield dataclasses.asdict(_read(path)) | {"label": dataclasses.asdict(read_label(path.parent))}
        except ModgrokError as error:
            yield {"id": path.parent.name, "reason": str(error)}


def find_sweep(store: Store, name: str) -> Sweep:
    """The sweep whose id begins so, or that was given this name; `last` is the latest."""
    found = list(stored_sweeps(store))
    matches = found[:1] if name == "last" else [one for one in found if name and one["id"].startswith(name)]
    matches = matches or [one for one in found if name and one.get("label", {}).get("name") == name]
    if not matches:
        raise ModgrokError(f"There is no sweep {name!r} in {store.folder}; `modgrok sweep list` lists what is there.")
    if len(matches) > 1:
        raise ModgrokError(f"{len(matches)} sweeps in {store.folder} begin with {name!r}; write more of the id.")
    if "reason" in matches[0]:
        raise ModgrokError(matches[0]["reason"])
    return Sweep.from_dict(matches[0])


def _read(path: Path) -> SweepFile:
    found = build(SweepFile, read_sealed_json(path), path)
    try:
        Sweep.from_dict(dataclasses.asdict(found))
    except Unknown as error:
        raise Unknown(f"The {error.what} of {path} is not known here; import what registers it first.") from error
    except (ModgrokError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise Damaged(f"{path} does not describe a sweep: {error}") from error
    if found.id != path.parent.name:
        raise Damaged(f"{path} is not that of sweep {path.parent.name}.")
    return found
