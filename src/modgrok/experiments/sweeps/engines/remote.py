"""Trains one batch on a worker of a cluster, in a folder of its own, and reports events."""

import contextlib
import os
import pickle
import queue
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from modgrok.disk import Lock, write_bytes
from modgrok.errors import ModgrokError
from modgrok.experiments.cost import Speed
from modgrok.experiments.observer import Observer
from modgrok.experiments.planner import RunBatch, out_of_memory
from modgrok.experiments.result import Result
from modgrok.experiments.run import Run
from modgrok.experiments.store import Store
from modgrok.experiments.sweeps.engines import reaper
from modgrok.experiments.train import train_batches
from modgrok.experiments.user_code import register_parts

PREFIX = "modgrok-worker-"
YOUNG_SECONDS = 60.0
"""A folder that is younger may not have its lock yet."""
TELL_SECONDS = 0.5
"""Least time between two events of progress."""


Event = tuple[Any, ...]
"""What an observer hears, by its name: `advanced` with the number of active runs, their step and the run-steps since
the last time, `ended` with a run and all its files, `remark`. Or `failed`: why, and whether memory was short."""
Parcel = bytes
"""A batch as it travels, with the parts of a user's own that it needs."""


def unpack(parcel: Parcel) -> RunBatch:
    """The batch; what it needs is known here from now on."""
    try:
        parts, batch = pickle.loads(parcel)
    except ImportError as error:
        raise ModgrokError(
            f"{error}. What the runs use is defined in this module; install it where the workers are, define it in the "
            f"script itself, or train on the engine local."
        ) from error
    register_parts(parts)
    assert isinstance(batch, RunBatch)
    return batch


def measure(parcel: Parcel) -> Speed:
    """Speed of a batch on this worker."""
    from modgrok.experiments.placement import measure_speed

    return measure_speed(unpack(parcel))


def train_batch(parcel: Parcel, begun: dict[str, dict[str, bytes]]) -> Iterator[Event]:
    """Trains a batch, given the files of runs that have begun. Closing the iterator stops training."""
    batch = unpack(parcel)
    with private_store() as store:
        for name, files in begun.items():
            write_files(store.run(name), files)
        teller = _Teller()
        thread = threading.Thread(target=_train, args=(batch, store, teller), daemon=True)
        thread.start()
        try:
            while (event := teller.events.get()) is not None:
                yield event
        finally:
            teller.stopped = True
            thread.join()


@contextlib.contextmanager
def private_store() -> Iterator[Store]:
    """A store for the length of a batch; what killed workers left is deleted first.

    A cluster of a machine's own has a folder that is deleted after it, and its workers have theirs inside.
    """
    parent = Path(os.environ.get(reaper.SESSION) or tempfile.gettempdir())
    remove_leftovers(parent)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=parent) as folder, Lock(Path(folder)):
        yield Store(folder)


def remove_leftovers(parent: Path) -> None:
    """Deletes the folders of workers that are no more: those of this user that nobody holds the lock of."""
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError, ModgrokError):
            found = folder.lstat()
            young = time.time() - found.st_mtime < YOUNG_SECONDS
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not young:
                lock = Lock(folder)
                if lock.acquire(wait=False):
                    shutil.rmtree(folder, ignore_errors=True)
                    lock.release()


def files_of(run: Run) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in run.files.items()}


def write_files(run: Run, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        write_bytes(run.folder / name, content)


def _train(batch: RunBatch, store: Store, teller: "_Teller") -> None:
    try:
        train_batches([batch], store, teller)
    except Exception as error:
        teller.events.put(("failed", f"{type(error).__name__}: {error}", out_of_memory(error)))
    teller.events.put(None)


class _Teller(Observer):
    """An observer that turns calls into events."""

    def __init__(self) -> None:
        self.events: queue.Queue[Event | None] = queue.Queue()
        self.stopped = False
        self._told, self._run_steps = time.monotonic(), 0

    def advanced(self, members: Sequence[Any], step: int, run_steps: int) -> None:
        self._active, self._step, self._run_steps = len(members), step, self._run_steps + run_steps
        if time.monotonic() - self._told > TELL_SECONDS:
            self._tell()

    def ended(self, run: Run, result: Result) -> None:
        if self._run_steps:
            self._tell()
        self.events.put(("ended", run.id, files_of(run)))

    def _tell(self) -> None:
        self.events.put(("advanced", self._active, self._step, self._run_steps))
        self._told, self._run_steps = time.monotonic(), 0

    def remark(self, sentence: str) -> None:
        self.events.put(("remark", sentence))

    def stop_requested(self) -> bool:
        return self.stopped
