"""The folder in which runs are kept, one folder for each, named by the hash of its settings."""

import dataclasses
import io
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import TABLE, Experiment, is_table_file, table_name
from modgrok.experiments.files import Lock, explained, write_bytes
from modgrok.experiments.run import Damaged, Run
from modgrok.networks import load_network
from modgrok.tasks import Task

RUN_NAME = re.compile("[0-9a-f]{12}")


class Store:
    """Runs on disk."""

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder or os.environ.get("MODGROK_STORE") or "runs")
        if self.folder.exists() and not self.folder.is_dir():
            raise ModgrokError(f"The store is a folder, and {self.folder} is a file.")

    @property
    def tables(self) -> Path:
        return self.folder / "tables"

    def add(self, experiment: Experiment) -> Run:
        """The place of an experiment, whose task's table is kept where it came from a file."""
        if is_table_file(experiment.task):
            self.add_table(experiment.load_task())
        return Run(self.folder / self.resolve(experiment).id)

    def add_table(self, task: Task) -> Path:
        """Keeps a task's table under its hash and says where."""
        content = io.BytesIO()
        np.save(content, task.table)
        path = self.tables / f"{table_name(task).removeprefix(TABLE)}.npy"
        write_bytes(path, content.getvalue())
        return path

    def resolve(self, experiment: Experiment) -> Experiment:
        """The experiment with every default written out, and its parent by its whole id, not by `last` or a prefix."""
        resolved = experiment.resolve()
        name, _, step = resolved.parent.partition("@")
        if not name or RUN_NAME.fullmatch(name):
            return resolved
        return dataclasses.replace(resolved, parent=f"{self.find(name).id}@{step}")

    def __iter__(self) -> Iterator[Run]:
        """All runs, the latest first."""
        if not self.folder.exists():
            return
        found = [path for path in self.folder.iterdir() if RUN_NAME.fullmatch(path.name)]
        written = [(path, path / "experiment.json") for path in found]
        dated = [(file.stat().st_mtime, path) for path, file in written if file.exists()]
        yield from (Run(path) for _, path in sorted(dated, reverse=True))

    def find(self, name: str) -> Run:
        """The run whose id begins so; `last` is the latest."""
        runs = list(self)
        if name == "last" and runs:
            return runs[0]
        matches = [run for run in runs if run.id.startswith(name)] if name else []
        if len(matches) == 1:
            return matches[0]
        if matches:
            ids = ", ".join(run.id for run in matches[:4])
            raise ModgrokError(
                f"{len(matches)} runs in {self.folder} begin with {name!r}: {ids}; write more of the id."
            )
        raise ModgrokError(f"There is no run {name!r} in {self.folder}; `modgrok runs list` shows those there are.")

    def remove(self, run: Run) -> None:
        """Deletes a run, unless a process is working on it."""
        lock = Lock(run.folder)
        if not lock.acquire(wait=False):
            raise ModgrokError(f"Run {run.id} is being trained right now; stop that first.")
        shutil.rmtree(run.folder)
        lock.release()

    def set_aside(self, run: Run) -> Path:
        """Moves a damaged run out of the way, whole, and says where to."""
        target = self.folder / "damaged" / f"{run.id}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
        with explained(target):
            target.parent.mkdir(exist_ok=True)
            os.replace(run.folder, target)
        return target


def check_intact(run: Run) -> None:
    """Raises `Damaged` where a folder that should hold a run does not."""
    if not (run.folder / "experiment.json").exists():
        # A run is born with a lock, empty curves and a hidden file that becomes experiment.json.
        born = {"lock", "curves.jsonl"}
        names = sorted(path.name for path in run.folder.glob("[!.]*") if path.name not in born)
        if names:
            raise Damaged(f"{run.folder} has no experiment.json beside {', '.join(names[:3])}.")
        return
    evaluated, _ = run.experiment.schedule
    result, checkpoint = run.result, run.read_checkpoint()
    if result is not None:
        if not {"status", "steps", "test_accuracy"} <= result.keys():
            raise Damaged(f"{run.folder / 'result.json'} does not hold a result.")
        try:
            _ = load_network(run.folder / "network.safetensors")
        except ModgrokError as error:
            raise Damaged(str(error)) from error
    reached = result["steps"] if result else checkpoint[0] if checkpoint else -1
    if [row["step"] for row in run.rows() if row["step"] <= reached] != evaluated[evaluated <= reached].tolist():
        raise Damaged(f"{run.folder / 'curves.jsonl'} does not have all points up to step {reached}.")
