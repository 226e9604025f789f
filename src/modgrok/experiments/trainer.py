"""Trains batches into a store: stored runs are not trained again, and one process at a time trains a run."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from modgrok.experiments.batch_training import BatchTraining
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.extension import extend, extended_runs
from modgrok.experiments.observer import Observer
from modgrok.experiments.planner import PlannedRun, RunBatch, plan_here
from modgrok.experiments.run import Damaged, Run
from modgrok.experiments.store import Store, start_afresh
from modgrok.sealed import exists
from modgrok.training.devices import precision_of


def train_stored(
    experiments: Sequence[Experiment],
    store: Store,
    observer: Observer | None = None,
    devices: Sequence[Any] | None = None,
    force: bool = False,
) -> list[Run]:
    """Trains what the store does not have yet, or everything with `force`, and returns all runs in the given order."""
    observer = observer or Observer()
    resolved = [store.register(experiment) for experiment in experiments]
    wanted = {e.content_hash: e for e in resolved}
    start_afresh([e for e in wanted.values() if force or e.has_unknown_code], store, observer)
    for name in wanted:
        store.repair(store.run(name), observer)
    if pending := [e for name, e in wanted.items() if store.run(name).result is None]:
        train_batches(plan_here(pending, store, devices), store, observer, devices)
    return [store.run(e.content_hash) for e in resolved]


def train_batches(
    batches: Iterable[RunBatch], store: Store, observer: Observer, devices: Sequence[Any] | None = None
) -> None:
    """Trains batches on the devices of this process, each spread over all of them."""
    import jax

    used = tuple(devices or jax.local_devices())
    waiting = [current for batch in batches for current in remaining(batch, store, observer)]
    observer.planned(waiting)
    while waiting:
        batch = waiting.pop(0)
        if not _train_locked(batch, store, observer, used):
            waiting = [*remaining(batch, store, observer), *waiting]


def remaining(batch: RunBatch, store: Store, observer: Observer) -> list[RunBatch]:
    """The unfinished runs of a batch, grouped by the step of their checkpoints. Damaged files are moved aside, and new
    runs continue from shorter runs of the same experiment."""
    for member in batch.members:
        store.repair(store.run(member.id), observer)
    _extend(batch.members, store, observer)
    standing: dict[int, list[PlannedRun]] = {}
    for member in batch.members:
        run = store.run(member.id)
        if run.result is None:
            standing.setdefault(step_of(run), []).append(member)
    return [
        replace(batch, members=tuple(replace(member, step=step) for member in members))
        for step, members in standing.items()
    ]


def step_of(run: Run) -> int:
    """Step of a run's checkpoint; 0 without one."""
    checkpoint = run.read_checkpoint()
    return checkpoint[0] if checkpoint else 0


def _extend(members: Iterable[PlannedRun], store: Store, observer: Observer) -> None:
    fresh = [m for m in members if m.experiment.snapshots > 0 and not _begun(store.run(m.id))]
    shorter = extended_runs(store) if fresh else {}
    for member in fresh if shorter else ():
        run = store.run(member.id)
        lock = store.lock(run, observer)
        try:
            if not _begun(run):
                extend(run, member.experiment, shorter, observer)
        except Damaged as damage:
            observer.remark(f"{damage} Nothing is taken over from there.")
        finally:
            lock.release()


def _begun(run: Run) -> bool:
    return exists(run.folder / "experiment.json")


def _train_locked(batch: RunBatch, store: Store, observer: Observer, devices: tuple[Any, ...]) -> bool:
    """Trains a batch while holding the locks of its runs, acquired in the order of their ids so that processes cannot
    deadlock. Returns False, without training, if another process has advanced a run meanwhile."""
    locks = []
    try:
        for member in sorted(batch.members, key=lambda member: member.id):
            locks.append(store.lock(store.run(member.id), observer))  # noqa: PERF401, those got are released if one fails
        runs = [store.run(member.id) for member in batch.members]
        if any(run.result is not None or step_of(run) != batch.step for run in runs):
            return False
        with precision_of(batch.program):
            BatchTraining(batch, store, observer, devices).run()
        return True
    finally:
        for lock in locks:
            lock.release()
