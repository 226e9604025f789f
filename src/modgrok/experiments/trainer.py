"""Trains experiments into a store: what it has is returned, the rest is locked, planned into batches and trained."""

from collections.abc import Sequence
from typing import Any

import jax

from modgrok.experiments.batch_training import BatchTraining, Interrupted
from modgrok.experiments.batches import Batch, Planned, plan
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer
from modgrok.experiments.run import Run
from modgrok.experiments.store import Store
from modgrok.training.devices import precision

__all__ = ["Interrupted", "train_all"]


def train_all(
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
    while pending := [_prepare(run, e, store) for run, e in wanted.values() if run.result is None]:
        devices = tuple(devices or jax.local_devices())
        batches = plan(pending, devices)
        observer.planned(batches)
        for batch in batches:
            _train_locked(batch, store, observer, devices)
    return runs


def _prepare(run: Run, experiment: Experiment, store: Store) -> Planned:
    """A run, and where it stands."""
    checkpoint = run.read_checkpoint()
    task = experiment.load_task(store.tables)
    train, _ = experiment.split.divide(task)
    return Planned(run, experiment, task, train, checkpoint[0] if checkpoint else 0)


def _train_locked(batch: Batch, store: Store, observer: Observer, devices: tuple[Any, ...]) -> None:
    """Trains a batch while holding its folders, in the order of their names so that no two processes wait in a ring."""
    locks = []
    try:
        for member in sorted(batch.members, key=lambda member: member.run.id):
            locks.append(store.lock(member.run, observer))  # noqa: PERF401, those got are released if one fails
        if any(_moved_on(member) for member in batch.members):
            return  # Another process got further meanwhile: plan again.
        with precision(batch.program.precision):
            BatchTraining(batch, store, observer, devices).run()
    finally:
        for lock in locks:
            lock.release()


def _moved_on(member: Planned) -> bool:
    if member.run.result is not None:
        return True
    checkpoint = member.run.read_checkpoint()
    return (checkpoint[0] if checkpoint else 0) != member.step
