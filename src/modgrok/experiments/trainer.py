"""Trains experiments into a store: what it has is returned, the rest is locked, planned into batches and trained."""

from collections.abc import Iterable, Sequence
from typing import Any

import jax

from modgrok.experiments.batch_training import BatchTraining, Interrupted
from modgrok.experiments.cost import check_memory
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.extension import extend, extended_runs
from modgrok.experiments.observer import Observer
from modgrok.experiments.planner import Batch, Most, Planned, plan
from modgrok.experiments.run import Damaged, Run
from modgrok.experiments.store import Store
from modgrok.sealed import exists
from modgrok.training.devices import precision_of, runs_per_device

__all__ = ["Interrupted", "train_stored"]


def train_stored(
    experiments: Sequence[Experiment],
    store: Store,
    observer: Observer | None = None,
    devices: Sequence[Any] | None = None,
) -> list[Run]:
    """Trains what the store does not have yet and returns all runs, in the order asked for."""
    observer = observer or Observer()
    runs = [store.add(experiment) for experiment in experiments]
    wanted = {run.id: (run, store.resolve(e)) for run, e in zip(runs, experiments, strict=True)}
    for run, _ in wanted.values():
        store.repair(run, observer)
    _extend(wanted.values(), store, observer)
    while pending := [_prepare(run, e, store) for run, e in wanted.values() if run.result is None]:
        check_memory([planned.experiment for planned in pending], [planned.task for planned in pending])
        devices = tuple(devices or jax.local_devices())
        batches = plan(pending, devices[0].platform, batch_limit(devices))
        observer.planned(batches)
        for batch in batches:
            _train_locked(batch, store, observer, devices)
    return runs


def _extend(wanted: Iterable[tuple[Run, Experiment]], store: Store, observer: Observer) -> None:
    """Runs that have not begun take over what shorter runs of their experiments have done."""
    fresh = [(run, e) for run, e in wanted if e.snapshots > 0 and not exists(run.folder / "experiment.json")]
    shorter = extended_runs(store) if fresh else {}
    for run, experiment in fresh if shorter else ():
        lock = store.lock(run, observer)
        try:
            if not exists(run.folder / "experiment.json"):
                extend(run, experiment, shorter, observer)
        except Damaged as damage:
            observer.remark(f"{damage} Nothing is taken over from there.")
        finally:
            lock.release()


def batch_limit(devices: Sequence[Any]) -> Most:
    """The most runs of one batch on these devices."""
    return lambda program, room, evaluated: runs_per_device(program, room, evaluated, devices[0]) * len(devices)


def _prepare(run: Run, experiment: Experiment, store: Store) -> Planned:
    """A run, and where it stands."""
    checkpoint = run.read_checkpoint()
    return Planned(experiment, experiment.load_task(store.tables), checkpoint[0] if checkpoint else 0)


def _train_locked(batch: Batch, store: Store, observer: Observer, devices: tuple[Any, ...]) -> None:
    """Trains a batch while holding its folders, in the order of their names so that no two processes wait in a ring."""
    locks = []
    try:
        for member in sorted(batch.members, key=lambda member: member.id):
            locks.append(store.lock(store.run(member.id), observer))  # noqa: PERF401, those got are released if one fails
        if any(_moved_on(store.run(member.id), member.step) for member in batch.members):
            return  # Another process got further meanwhile: plan again.
        with precision_of(batch.program):
            BatchTraining(batch, store, observer, devices).run()
    finally:
        for lock in locks:
            lock.release()


def _moved_on(run: Run, step: int) -> bool:
    if run.result is not None:
        return True
    checkpoint = run.read_checkpoint()
    return (checkpoint[0] if checkpoint else 0) != step
