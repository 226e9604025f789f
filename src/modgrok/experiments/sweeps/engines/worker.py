"""One batch on a worker of a cluster: it trains in a folder of its own, and tells what happens as events."""

import contextlib
import queue
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer
from modgrok.experiments.planner import out_of_memory
from modgrok.experiments.result import Result
from modgrok.experiments.run import Run
from modgrok.experiments.store import Store

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
    """A store for the length of a batch, with these tables."""
    with tempfile.TemporaryDirectory(prefix="modgrok-") as folder:
        store = Store(folder)
        for name, content in tables.items():
            store.tables.mkdir(exist_ok=True)
            (store.tables / name).write_bytes(content)
        yield store


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
