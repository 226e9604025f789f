"""The folder in which runs are kept, one folder for each, named by the hash of its settings."""

import dataclasses
import hashlib
import io
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from modgrok.disk import Lock, move, write_bytes
from modgrok.errors import Damaged, ModgrokError
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.named_task import TABLE, given_name, is_table_file, table_name
from modgrok.experiments.observer import Observer
from modgrok.experiments.run import Run
from modgrok.experiments.run_writer import RunWriter
from modgrok.experiments.user_code import unknown_parts
from modgrok.measures.cleaning import turn_phases
from modgrok.networks import Network
from modgrok.networks.storage import network_bytes, read_network
from modgrok.sealed import exists
from modgrok.tasks import Task

RUN_NAME = re.compile("[0-9a-f]{12}")
NETWORK = "network:"
"""Prefix of a parent that is not a run but weights that were brought along."""
NAMELESS = ("<lambda>", "function", "table")
"""Names of tables that were given none."""
BORN = {"lock", "label.json"}
"""What a folder may hold before it has settings."""


class Store:
    """Runs on disk."""

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder or os.environ.get("MODGROK_STORE") or "runs")
        if exists(self.folder) and not self.folder.is_dir():
            raise ModgrokError(f"The store is a folder, and {self.folder} is a file.")

    @property
    def tables(self) -> Path:
        return self.folder / "tables"

    def network_file(self, parent: str) -> Path:
        """Where the weights are that an experiment's parent names as `network:HASH`."""
        return self.folder / "networks" / f"{parent.removeprefix(NETWORK)}.safetensors"

    def add(self, experiment: Experiment) -> Run:
        """The run of an experiment, trained or not. A table from a file is stored too."""
        return self.run(self.register(experiment).content_hash)

    def register(self, experiment: Experiment) -> Experiment:
        """The experiment resolved; a table that came from a file is kept."""
        if is_table_file(experiment.task):
            self.add_table(experiment.load_task())
        return self.resolve(experiment)

    def run(self, name: str) -> Run:
        """The run with this full id, whether it exists or not."""
        return Run(self.folder / name)

    def add_table(self, task: Task) -> Path:
        """Keeps a task's table under its hash, beside it the name it was given, and says where."""
        content = io.BytesIO()
        np.save(content, task.table)
        path = self.tables / f"{table_name(task).removeprefix(TABLE)}.npy"
        write_bytes(path, content.getvalue())
        name = Path(task.name).name if is_table_file(task.name) else task.name
        if name not in NAMELESS and name != path.name and given_name(path) != name:
            write_bytes(path.with_suffix(".txt"), f"{name}\n".encode())
        return path

    def add_network(self, network: Network) -> str:
        """Keeps weights to start from, and says by which name an experiment's parent calls them."""
        content = network_bytes(network)
        name = hashlib.sha256(content).hexdigest()[:16]
        write_bytes(self.network_file(name), content)
        return f"{NETWORK}{name}"

    def starting_network(self, parent: str) -> Network:
        """The weights that an experiment's parent names."""
        if parent.startswith(NETWORK):
            return read_network(self.network_file(parent)).network
        name, _, at = parent.partition("@")
        step, _, gaps = at.partition(":")
        run = self.find(name)
        network = run.snapshot(int(step))
        return turn_phases(network, gaps, run.task, seed=run.experiment.seed) if gaps else network

    def resolve(self, experiment: Experiment) -> Experiment:
        """The experiment with every default written out, and its parent by its whole id, not by `last` or a prefix."""
        resolved = experiment.resolve()
        name, _, step = resolved.parent.partition("@")
        if not name or RUN_NAME.fullmatch(name) or name.startswith(NETWORK):
            return resolved
        return dataclasses.replace(resolved, parent=f"{self.find(name).id}@{step}")

    def __iter__(self) -> Iterator[Run]:
        """All runs, the latest first."""
        dated = [(_written(folder / "experiment.json"), folder) for folder in self._folders()]
        found = sorted(((written, folder) for written, folder in dated if written is not None), reverse=True)
        yield from (Run(folder) for _, folder in found)

    def remains(self) -> Iterator[Run]:
        """Folders that should hold a run, and hold something without settings that is not about to become one."""
        for folder in self._folders():
            if _written(folder / "experiment.json") is None and _contents(folder) - BORN:
                yield Run(folder)

    def _folders(self) -> list[Path]:
        if not exists(self.folder):
            return []
        return [self.folder / name for name in sorted(_contents(self.folder)) if RUN_NAME.fullmatch(name)]

    def find(self, name: str) -> Run:
        """The run with this name, or whose id begins with it; `last` is the latest."""
        runs = list(self)
        if name == "last" and runs:
            return runs[0]
        matches = [run for run in runs if run.id.startswith(name)] if name else []
        matches = matches or ([run for run in runs if _is_called(run, name)] if name else [])
        if len(matches) == 1:
            return matches[0]
        if matches:
            ids = ", ".join(run.id for run in matches[:4])
            raise ModgrokError(
                f"{len(matches)} runs in {self.folder} are called {name!r}: {ids}; write one of these ids."
            )
        raise ModgrokError(f"There is no run {name!r} in {self.folder}; `modgrok runs list` shows those there are.")

    def remove(self, run: Run) -> None:
        """Deletes a run, unless a process is working on it."""
        if run.folder.is_symlink():
            raise ModgrokError(f"{run.folder} is a link to {os.readlink(run.folder)}; remove the link, or that folder.")
        lock = Lock(run.folder)
        if not lock.acquire(wait=False):
            raise ModgrokError(f"Run {run.id} is being trained right now{lock.holder}; stop that first.")
        with lock:
            try:
                shutil.rmtree(run.folder)
            except OSError as error:
                raise ModgrokError(f"{run.folder} could not be removed: {error.strerror or error}.") from error

    def set_aside(self, run: Run, file: Path | None = None) -> Path:
        """Moves a damaged run out of the way, whole or one file of it, and says where to."""
        moment = f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**9:09d}"
        target = self.folder / "damaged" / f"{run.id}-{moment}"
        if file is not None:
            target = target / file.relative_to(run.folder)
        move(run.folder if file is None else file, target)
        return target

    def lock(self, run: Run, observer: Observer) -> Lock:
        """A run's lock, waited for if another process has it."""
        lock = Lock(run.folder)
        if not lock.acquire(wait=False):
            observer.remark(f"Run {run.id} is being trained by another process{lock.holder}; waiting for it.")
            lock.acquire()
        return lock

    def repair(self, run: Run, observer: Observer) -> None:
        """Makes a run ready to be trained or returned: what is damaged is named and moved aside, under lock.

        A folder that does not hold a run is moved as a whole, a damaged checkpoint beside an intact one alone.
        Checkpoints left by a process that was killed at the end of a run are deleted.
        """
        if not _needs_repair(run):
            return
        with self.lock(run, observer):
            try:
                check_intact(run, snapshots=True)  # Another process may have been at work on it before.
                if run.result is not None:
                    RunWriter(run).remove_checkpoints()
                for path, damage in _damaged_checkpoints(run):
                    moved = self.set_aside(run, path)
                    observer.remark(f"{damage} It was moved to {moved}; the run resumes from another.")
            except Damaged as damage:
                moved = self.set_aside(run)
                observer.remark(f"Run {run.id} was damaged ({damage}) and moved to {moved}; it starts over.")


def start_afresh(experiments: Iterable[Experiment], store: Store, observer: Observer) -> None:
    """Removes what the store has of resolved experiments that are to be trained again, and says why where it was not
    asked for; what was compiled of code that cannot be compared is compiled again."""
    unknown: dict[str, None] = {}
    for experiment in experiments:
        if experiment.has_unknown_code:
            unknown |= dict.fromkeys(unknown_parts(experiment))
        if exists((run := store.run(experiment.content_hash)).folder):
            store.remove(run)
    if unknown:
        from modgrok.training.together import forget_programs

        forget_programs()
        observer.remark(
            f"Trained again, because nobody can tell whether the code is that of a stored run: it uses "
            f"{', '.join(unknown)}. Give the function or class an attribute `version` to name its state yourself."
        )


def _is_called(run: Run, name: str) -> bool:
    try:
        return run.labels.name == name
    except ModgrokError:  # Its label is damaged, which harms nobody else.
        return False


def check_intact(run: Run, snapshots: bool = False) -> None:
    """Raises `Damaged` where a folder that should hold a run does not; the snapshots' content is checked if asked."""
    while True:
        before = _state(run.folder)
        try:
            if exists(run.folder / "experiment.json"):
                run.check(snapshots)
            elif names := sorted(before.keys() - BORN):
                raise Damaged(f"{run.folder} has no experiment.json beside {', '.join(names[:3])}.")
            return
        except Damaged:
            if _state(run.folder) == before:
                raise  # Otherwise it was read while another process wrote.


def _needs_repair(run: Run) -> bool:
    if not exists(run.folder):
        return False
    try:
        check_intact(run, snapshots=True)
    except Damaged:
        return True
    return bool(_damaged_checkpoints(run)) or (bool(run.checkpoints) and run.result is not None)


def _damaged_checkpoints(run: Run) -> list[tuple[Path, Damaged]]:
    """Checkpoints that are not what was written, and why not."""
    found = []
    for path in run.checkpoints:
        try:
            run.read_checkpoint_file(path)
        except Damaged as damage:
            if exists(path):
                found.append((path, damage))
    return found


def _state(folder: Path) -> dict[str, float | None]:
    """What changes when a process works in a folder: when each file was written, by its name."""
    return {name: _written(folder / name) for name in _contents(folder)} if exists(folder) else {}


def _contents(folder: Path) -> set[str]:
    """The names in a folder, without those of files that are being written."""
    try:
        return {name for name in os.listdir(folder) if not name.startswith(".")}
    except (FileNotFoundError, NotADirectoryError):
        return set()
    except OSError as error:
        raise ModgrokError(f"{folder} cannot be read: {error.strerror}.") from error


def _written(path: Path) -> float | None:
    """When a file was written; now where that may not be known, None where there is none."""
    try:
        return os.stat(path).st_mtime
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return time.time()


StoreLike = Store | str | Path | None
"""What names a store: itself, its folder, or nothing for the usual one."""


def as_store(place: StoreLike) -> Store:
    """The store that a value names."""
    return place if isinstance(place, Store) else Store(place)
