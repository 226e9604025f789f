"""One batch on a worker of a cluster: it trains in a folder of its own, and tells what happens as events."""

import contextlib
import os
import queue
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from modgrok.disk import Lock
from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer
from modgrok.experiments.planner import out_of_memory
from modgrok.experiments.result import Result
from modgrok.experiments.run import Run
from modgrok.experiments.store import Store
from modgrok.experiments.sweeps.engines import reaper

PREFIX = "modgrok-worker-"
YOUNG_SECONDS = 60.0
"""A folder that is younger may not have its lock yet."""
TELL_SECONDS = 0.5
"""Least time between two events of progress."""


class Advanced(NamedTuple):
    """The batch has come further."""

    active: int
    step: int
    run_steps: int


class Ended(NamedTuple):
    """A run has its result: all of its files."""

    run: str
    files: dict[str, bytes]


class Remark(NamedTuple):
    """Something a person should know."""

    sentence: str


class Failed(NamedTuple):
    """The batch could not be trained to its end."""

    reason: str
    out_of_memory: bool


Event = Advanced | Ended | Remark | Failed


def train_batch(settings: Sequence[dict[str, Any]], tables: dict[str, bytes]) -> Iterator[Event]:
    """Trains resolved experiments; `tables` are those they need, by file name. Closing the iterator stops training."""
    with private_store(tables) as store:
        teller = _Teller()
        experiments = [Experiment.from_dict(one) for one in settings]
        thread = threading.Thread(target=_train, args=(experiments, store, teller), daemon=True)
        thread.start()
        try:
            while (event := teller.events.get()) is not None:
                yield event
        finally:
            teller.stopped = True
            thread.join()


@contextlib.contextmanager
def private_store(tables: dict[str, bytes]) -> Iterator[Store]:
    """A store for the length of a batch, with these tables; what killed workers left is deleted first.

    A cluster of a machine's own has a folder that is deleted after it, and its workers have theirs inside.
    """
    place = Path(os.environ.get(reaper.SESSION) or tempfile.gettempdir())
    remove_leftovers(place)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=place) as folder:
        lock = Lock(Path(folder))
        lock.acquire()
        try:
            store = Store(folder)
            for name, content in tables.items():
                store.tables.mkdir(exist_ok=True)
                (store.tables / name).write_bytes(content)
            yield store
        finally:
            lock.release()


def remove_leftovers(place: Path) -> None:
    """Deletes the folders of workers that are no more: those of this user that nobody holds the lock of."""
    for folder in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError, ModgrokError):
            found = folder.lstat()
            young = time.time() - found.st_mtime < YOUNG_SECONDS
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not young:
                lock = Lock(folder)
                if lock.acquire(wait=False):
                    shutil.rmtree(folder, ignore_errors=True)
                    lock.release()


def files_of(run: Run) -> dict[str, bytes]:
    """A run that has ended, by file name; the result comes last, since it says that the rest is there."""
    snapshots = [run.snapshot_path(step) for step in run.snapshots]
    names = ("experiment.json", "curves.jsonl", "network.safetensors", "result.json")
    paths: list[Path] = [*snapshots, *(run.folder / name for name in names)]
    return {str(path.relative_to(run.folder)): path.read_bytes() for path in paths}


def _train(experiments: Sequence[Experiment], store: Store, teller: "_Teller") -> None:
    from modgrok.experiments.trainer import train_stored

    try:
        train_stored(experiments, store, teller)
    except Exception as error:
        teller.events.put(Failed(f"{type(error).__name__}: {error}", out_of_memory(error)))
    teller.events.put(None)


class _Teller(Observer):
    """Turns what an observer hears into events."""

    def __init__(self) -> None:
        self.events: queue.Queue[Event | None] = queue.Queue()
        self.stopped = False
        self._told, self._pending = time.monotonic(), Advanced(0, 0, 0)

    def advanced(self, members: Sequence[Any], step: int, run_steps: int) -> None:
        self._pending = Advanced(len(members), step, self._pending.run_steps + run_steps)
        if time.monotonic() - self._told > TELL_SECONDS:
            self._tell()

    def ended(self, run: Run, result: Result) -> None:
        if self._pending.run_steps:
            self._tell()
        self.events.put(Ended(run.id, files_of(run)))

    def _tell(self) -> None:
        self.events.put(self._pending)
        self._told, self._pending = time.monotonic(), Advanced(0, 0, 0)

    def remark(self, sentence: str) -> None:
        self.events.put(Remark(sentence))

    def stop_requested(self) -> bool:
        return self.stopped
