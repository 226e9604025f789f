"""Writes a run's folder, whose lock the caller holds: many runs in parallel, in the background while training goes on.
`Run` itself only reads."""

import dataclasses
import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from modgrok.disk import NoSpace, move, remove, remove_unfinished, sync, write_bytes
from modgrok.experiments.curves import Curves
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.run import CURVES, FORMAT, STATE, Run, write_settings
from modgrok.experiments.stored_json import write_sealed_json
from modgrok.networks import Network
from modgrok.networks.storage import network_bytes
from modgrok.networks.tensors import tensor_bytes
from modgrok.sealed import exists

SHARE = 0.05
"""The largest share of time spent on one kind of writes; large batches write less often."""
THREADS = 2
"""Threads that write for one batch; more would wait for Python, and have training wait for it."""
MOST_PENDING = 256
"""The most writes that may be pending while training continues."""
PENDING_BYTES = 1 << 28
"""The most bytes that they hold, where that is more than one write."""


class RunWriter:
    """Writes one run."""

    def __init__(self, run: Run) -> None:
        self.run, self.folder = run, run.folder
        self.curves = Curves(run.folder / CURVES, run.id)

    def begin(self, experiment: Experiment, environment: dict[str, Any]) -> None:
        """Writes the settings of a fresh run. What a run that was stopped before its first step left behind is
        deleted, checkpoints first, because they list the other files."""
        if exists(self.folder) and os.listdir(self.folder) != ["lock"]:
            remove_unfinished(self.folder)
            self.remove_checkpoints()
            for name in (CURVES, STATE):
                remove(self.folder / name)
            for step in self.run.snapshots:
                remove(self.run.snapshot_path(step))
        write_settings(self.folder, experiment.as_dict(), environment)
        self.run.__dict__["experiment"] = experiment

    def append(self, rows: list[dict[str, Any]]) -> None:
        """Appends points to the curves."""
        with self._naming_checkpoint():
            self.curves.append(rows)

    def truncate(self, step: int) -> None:
        """Removes the curve points after a step, which are about to be recomputed."""
        remove_unfinished(self.folder)
        self.curves.cut_after(step)

    def keep(self, step: int, network: Network) -> None:
        """Writes a snapshot."""
        with self._naming_checkpoint():
            write_bytes(self.run.snapshot_path(step), network_bytes(network, place=self.run.place(step)))

    def checkpoint(self, step: int, tensors: Mapping[str, np.ndarray]) -> None:
        """Writes a checkpoint; the previous one is kept too."""
        latest, before = self.folder / "checkpoint.safetensors", self.folder / "checkpoint.before.safetensors"
        about = {"format": FORMAT, "run": self.run.id, "step": step, "kept": self._manifest_now()}
        content = tensor_bytes(dict(tensors), {"modgrok": json.dumps(about)})
        with self._naming_checkpoint():
            if exists(latest):
                move(latest, before)
            write_bytes(latest, content)

    def finish(
        self, result: Mapping[str, Any], network: Network, state: Mapping[str, np.ndarray] | None = None
    ) -> None:
        """Writes the end of a run, with its last state where that is to be kept, the result last, since it is what says
        that the rest is there."""
        content = network_bytes(network, self.run.experiment.as_dict(), self.run.place(result["steps"]))
        with self._naming_checkpoint():
            if state is not None:
                about = {"format": FORMAT, "run": self.run.id, "step": result["steps"]}
                write_bytes(self.folder / STATE, tensor_bytes(dict(state), {"modgrok": json.dumps(about)}))
            write_bytes(self.folder / "network.safetensors", content)
            write_sealed_json(self.folder / "result.json", dict(result) | {"kept": self._manifest_now()})
        self.remove_checkpoints()

    def remove_checkpoints(self) -> None:
        for path in reversed(self.run.checkpoints):
            remove(path)

    def _manifest_now(self) -> dict[str, Any]:
        """`Manifest` as JSON, of files that are on the disk."""
        if exists(self.curves.path):
            sync(self.curves.path)
        return {"curves": dataclasses.asdict(self.curves.lines().end), "snapshots": self.run.snapshots}

    @contextmanager
    def _naming_checkpoint(self) -> Iterator[None]:
        """Adds to the error of a full disk that the run can resume, if it can."""
        try:
            yield
        except NoSpace as error:
            if self.run.checkpoints:
                raise NoSpace(f"{error} The run resumes from its last checkpoint, which is intact.") from error
            raise


@dataclass
class Pace:
    """When to write again: every few seconds, and so rarely that writing takes at most `SHARE` of the time."""

    seconds: float
    cost: float = 0.0
    """Of the last write, in seconds; at first a guess."""
    last: float = field(default_factory=time.monotonic)

    @property
    def due(self) -> bool:
        return time.monotonic() - self.last > max(self.seconds, self.cost / SHARE)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Around a write."""
        began = time.monotonic()
        yield
        self.last = time.monotonic()
        self.cost = self.last - began


def in_parallel(write: Callable[..., Any], *values: Sequence[Any]) -> list[Any]:
    """Calls a function that waits for the disk on all values, several at a time; returns when all have ended."""
    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(write, *values))


class BackgroundWriter:
    """Writes results and snapshots while training continues, and reports each in the order in which they were begun;
    leaving the context waits for all."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(THREADS)
        self.waiting: deque[tuple[Future[Any], Callable[[Any], None]]] = deque()

    def __enter__(self) -> "BackgroundWriter":
        return self

    def __exit__(self, *error: object) -> None:
        with self.threads:
            self.wait()

    def begin(self, write: Callable[[], Any], tell: Callable[[Any], None]) -> Future[Any]:
        """Starts a write; `tell` receives what it returns."""
        written = self.threads.submit(write)
        self.waiting.append((written, tell))
        return written

    def report_finished(self) -> None:
        """Reports finished writes, and waits if too many are pending; raises the error of a failed write."""
        self._tell(MOST_PENDING)

    def make_room(self, size: int) -> None:
        """Waits until one more write of this size, in bytes, may be pending."""
        self._tell(min(MOST_PENDING, PENDING_BYTES // size))

    def wait(self) -> None:
        """Waits for all writes."""
        self._tell(0)

    def _tell(self, most: int) -> None:
        while self.waiting and (len(self.waiting) > most or self.waiting[0][0].done()):
            written, tell = self.waiting.popleft()
            tell(written.result())
