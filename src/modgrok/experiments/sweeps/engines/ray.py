"""Batches as tasks of a Ray cluster. Only this process plans, keeps track and writes to the store."""

import inspect
import logging
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from modgrok.disk import Lock
from modgrok.errors import Interrupted, ModgrokError, import_extra
from modgrok.experiments.cost import Speed
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer
from modgrok.experiments.planner import Failure, PlannedRun, RunBatch, plan_experiments
from modgrok.experiments.run import Run
from modgrok.experiments.run_writer import RunWriter
from modgrok.experiments.store import Store
from modgrok.experiments.sweeps.engines import Engine, reaper, remote
from modgrok.experiments.train import remaining
from modgrok.experiments.user_code import user_parts

ATTEMPTS = 4
"""How often a batch may lose its worker before it counts as failed."""
GPU_RUNS, CPU_RUNS = 512, 64
"""The most runs of one batch, and so the most that a dying worker loses."""
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
"""What makes a cluster of this machine's own listen on 127.0.0.1, as Ray does on other systems, and tell nobody."""
WAIT_SECONDS = 0.2
"""Seconds between checks whether training should stop."""
CONNECT_SECONDS = 5.0
"""How long the head of a cluster may take to answer for the first time."""
STARTS = 3
"""How often a cluster of this machine's own is started: Ray gives up after half a minute, however busy the machine."""
CANCEL_SECONDS = 2.0
"""How long a worker may take to stop; it looks twice a second."""
HEAD_SECONDS = 8.0
"""How long the head of a cluster may be silent before it counts as dead."""
SHORT_PATH = 20
"""Characters of a temporary folder that leave room for the names of Ray's sockets, 107 in all."""


@dataclass
class _Job:
    """A batch in training."""

    batch: RunBatch
    stream: Any
    members: dict[str, PlannedRun]
    """Its unfinished runs, by id."""
    run_steps: int = 0
    """Steps already reported for unfinished runs."""


class RayEngine(Engine):
    """A running cluster, or one that is started on this machine and listens on loopback only."""

    def __init__(self, address: str | None = None) -> None:
        if address is None:
            os.environ.update(LOOPBACK)
        self.ray = ray = import_extra("ray", "The engine ray needs an extra", "ray")
        if not ray.is_initialized():
            _start() if address is None else _connect(address)
        self._head = _Head(ray.get_runtime_context().gcs_address)

    @property
    def on_gpus(self) -> bool:
        """Whether batches train on GPUs: they do where the cluster has any."""
        return self._resources.get("GPU", 0) >= 1

    @property
    def workers(self) -> int:
        """Batches that train in parallel: one per GPU, or per core without GPUs."""
        return max(1, int(self._resources.get("GPU" if self.on_gpus else "CPU", 1)))

    @property
    def _resources(self) -> dict[str, float]:
        return self.ray.cluster_resources()

    @property
    def _needs(self) -> dict[str, Any]:
        return {"num_gpus": 1, "num_cpus": 1} if self.on_gpus else {"num_cpus": 1}

    def plan(self, experiments: Sequence[Experiment], store: Store) -> list[RunBatch]:
        """Batches large enough to keep a worker busy, and small enough to keep all workers busy."""
        if any(experiment.parent for experiment in experiments):
            raise ModgrokError("Runs that start from another run's weights train on the engine local only.")
        most = GPU_RUNS if self.on_gpus else CPU_RUNS
        share = -(-len(experiments) // (2 * self.workers))
        self._check_parts(experiments)
        return plan_experiments(experiments, store, "gpu" if self.on_gpus else "cpu", lambda *_: min(most, share))

    def _check_parts(self, experiments: Sequence[Experiment]) -> None:
        """Raises, before anything starts, where workers could not get a part of the user's own."""
        for (kind, name), part in _parts(experiments).items():
            try:
                self.ray.cloudpickle.dumps(part)
            except Exception as error:  # whatever the objects of a user raise
                raise ModgrokError(
                    f"The {kind} {name} cannot be sent to Ray's workers ({str(error).rstrip('.')}). Train on the "
                    f"engine local, or put it into a module that is installed on every machine."
                ) from error

    def _parcel(self, batch: RunBatch) -> remote.Parcel:
        """The batch with all parts of the user's own that it needs: by value where a script or a notebook defines them,
        by reference where a module does."""
        return self.ray.cloudpickle.dumps((_parts(batch.experiments), batch))

    def measure(self, batch: RunBatch) -> Speed:
        measure = self.ray.remote(remote.measure).options(**self._needs, max_retries=ATTEMPTS)
        try:
            return self.ray.get(measure.remote(self._parcel(batch)))
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None  # Its own text is a traceback.

    def train(self, plan: Sequence[RunBatch], store: Store, observer: Observer) -> list[Failure]:
        waiting, jobs, failures = deque(plan), list[_Job](), list[Failure]()
        try:
            while waiting or jobs:
                self._head.check()
                while waiting and len(jobs) < 2 * self.workers:
                    jobs += self._start(waiting.popleft(), store, observer)
                if observer.stop_requested():
                    raise Interrupted("Stopped; what has ended is stored. Rerun the command to resume.")
                ready = self._ready(jobs)
                for job in ready:
                    outcome = self._listen(job, store, observer)
                    if outcome is None:
                        continue
                    jobs.remove(job)
                    waiting.extendleft(outcome) if isinstance(outcome, list) else failures.append(outcome)
        finally:
            if self._head.answers():
                self._cancel(jobs)
        return failures

    def _cancel(self, jobs: list[_Job]) -> None:
        """Ends batches in training. A worker that has not ended in time is killed: it may have missed the request, and
        would train on for nobody."""
        for job in jobs:
            self.ray.cancel(job.stream)
        until = time.monotonic() + CANCEL_SECONDS
        while jobs and time.monotonic() < until:
            for job in self._ready(jobs):
                try:
                    self.ray.get(next(job.stream))
                except (StopIteration, self.ray.exceptions.RayError):
                    jobs.remove(job)
        for job in jobs:
            self.ray.cancel(job.stream, force=True)

    def _start(self, batch: RunBatch, store: Store, observer: Observer) -> list[_Job]:
        """Submits the unfinished runs of a batch, with the files of those that have begun."""
        # Repeating a batch is done here, where it is known which of its runs have come in already.
        stream = inspect.unwrap(remote.train_batch)  # Ray wants the generator itself, whatever checks are put round it.
        task = self.ray.remote(stream).options(**self._needs, max_retries=0, num_returns="streaming")
        left = remaining(batch, store, observer)
        observer.planned(left)
        return [
            _Job(one, task.remote(self._parcel(one), _begun(one, store)), {member.id: member for member in one.members})
            for one in left
        ]

    def _ready(self, jobs: list[_Job]) -> list[_Job]:
        if not jobs:
            return []
        ready, _ = self.ray.wait([job.stream for job in jobs], num_returns=1, timeout=WAIT_SECONDS)
        return [job for job in jobs if any(job.stream is stream for stream in ready)]

    def _listen(self, job: _Job, store: Store, observer: Observer) -> list[RunBatch] | Failure | None:
        """Handles one event. Returns None while the batch continues, then the batches left of it, or a failure."""
        errors = self.ray.exceptions
        try:
            event = self.ray.get(next(job.stream))
        except StopIteration:
            return self._lost(job, "it ended early", observer)
        except errors.OutOfMemoryError as error:
            event = "failed", str(error).splitlines()[0], True
        except errors.RayTaskError as error:
            event = "failed", str(error.cause), False
        except errors.RayError as error:
            return self._lost(job, type(error).__name__, observer)
        match event:
            case "advanced", active, step, run_steps:
                job.run_steps += run_steps
                observer.advanced(list(job.members.values())[:active], step, run_steps)
            case "ended", name, files:
                del job.members[name]
                run = store.run(name)
                _receive(run, files)
                result = run.result
                assert result is not None
                job.run_steps -= result.steps
                observer.ended(run, result)
            case "remark", sentence:
                observer.remark(sentence)
            case "failed", reason, out_of_memory:
                return self._failed(job, reason, out_of_memory, observer)
        return None

    def _lost(self, job: _Job, what: str, observer: Observer) -> list[RunBatch] | Failure:
        """Handles the loss of a worker; if all of its runs have arrived, its batch is complete."""
        if not job.members:
            return []
        attempts = job.batch.attempts + 1
        if attempts >= ATTEMPTS:
            return self._failed(job, f"its worker died {attempts} times ({what})", False, observer)
        observer.remark(f"A worker was lost ({what}); its {len(job.members)} unfinished runs train again.")
        observer.advanced(list(job.members.values()), 0, -job.run_steps)
        return [replace(job.batch, attempts=attempts)]

    def _failed(self, job: _Job, reason: str, out_of_memory: bool, observer: Observer) -> list[RunBatch] | Failure:
        left = replace(job.batch, members=tuple(job.members.values()))
        if out_of_memory and len(left.members) > 1:
            observer.remark(f"{len(left.members)} runs at once need too much memory; trying half of them.")
            return list(left.halves())
        failure = Failure(left.experiments, reason)
        observer.remark(str(failure))
        return failure


def _parts(experiments: Sequence[Experiment]) -> dict[tuple[str, str], Any]:
    return {key: part for experiment in experiments for key, part in user_parts(experiment).items()}


class _Head:
    """The process that a cluster cannot do without (GCS): asking it for anything hangs for a minute when it is dead."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self.address = host.strip("[]"), int(port)
        self._watched = self.answers()  # It may be out of reach from here, behind Ray's client.
        self._heard = time.monotonic()

    def answers(self) -> bool:
        try:
            socket.create_connection(self.address, timeout=2).close()
        except OSError:
            return False
        return True

    def check(self) -> None:
        """Returns when it answers; `ModgrokError` where it does not for some seconds."""
        while self._watched and not self.answers():
            if time.monotonic() - self._heard > HEAD_SECONDS:
                raise ModgrokError(
                    f"The head of the Ray cluster at {self.address[0]}:{self.address[1]} has died. What has ended is "
                    "stored; start a cluster and rerun the command to resume."
                )
            time.sleep(WAIT_SECONDS)
        self._heard = time.monotonic()


QUIET: Any = {"log_to_driver": False, "logging_level": logging.ERROR}


def _connect(address: str) -> None:
    import ray

    host, _, port = address.rpartition(":")
    try:
        if host and "/" not in host and port.isdigit():  # Ray itself would try for minutes.
            socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()
        ray.init(address, **QUIET)
    except (OSError, OverflowError, RuntimeError, ValueError) as error:
        raise ModgrokError(
            f"No Ray cluster answers at {address} ({error}); `ray start --head` starts one, docs/clusters.md says how."
        ) from error


def _start() -> None:
    """Starts a cluster on this machine, on loopback."""
    import ray

    here: Any = {"num_cpus": os.cpu_count(), "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    for left in reversed(range(STARTS)):
        try:
            ray.init("local", _temp_dir=_private_folder(), **here, **QUIET)
            return
        except Exception as error:  # Ray has no class of its own for this.
            ray.shutdown()
            if not left:
                raise ModgrokError(f"Ray could not start a cluster on this machine: {error}") from error


def _private_folder() -> str:
    """A folder for a cluster of this machine's own, which no other user reads, and which is gone after it."""
    temporary = tempfile.gettempdir()
    folder = tempfile.mkdtemp(prefix="modgrok-ray-", dir=temporary if len(temporary) <= SHORT_PATH else "/tmp")
    subprocess.Popen([sys.executable, reaper.__file__, folder], stdin=subprocess.PIPE, start_new_session=True)
    os.environ[reaper.SESSION] = folder
    return f"{folder}/r"  # Ray opens its folder to everybody, so it gets one inside.


def _begun(batch: RunBatch, store: Store) -> dict[str, dict[str, bytes]]:
    """The files of those runs of a batch that do not start afresh."""
    return {member.id: remote.files_of(store.run(member.id)) for member in batch.members if member.step > 0}


def _receive(run: Run, files: dict[str, bytes]) -> None:
    """Writes a run that has ended elsewhere into the store, unless another process has brought it in."""
    with Lock(run.folder):
        if run.result is None:
            remote.write_files(run, files)
            RunWriter(run).remove_checkpoints()
