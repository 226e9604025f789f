"""Trains batches and keeps what they do: curves, snapshots and checkpoints go to the store as they come."""

import math
import time
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.batches import Batch, Planned, plan, rates_of
from modgrok.experiments.environment import environment
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.files import Lock
from modgrok.experiments.observer import Observer
from modgrok.experiments.outcome import Progress, result_of
from modgrok.experiments.run import Damaged, Run
from modgrok.experiments.store import Store, check_intact
from modgrok.networks import Network, as_numpy
from modgrok.training.batch import compiled, freeze, select, stack, unstack
from modgrok.training.devices import precision
from modgrok.training.evaluation import Measurement, training_statistics
from modgrok.training.examples import RunData, run_data
from modgrok.training.loop import NEVER, State
from modgrok.training.weights import as_network, from_network

CALL_SECONDS = 0.4
"""About how long one call of the compiled program may last: as long as it takes to notice Ctrl-C."""
CHECKPOINT_SECONDS = 5.0
"""Least time between checkpoints; batches whose checkpoints take long make them more rarely."""


class Interrupted(ModgrokError):
    """Training was stopped before its end; everything done so far is stored."""


def train_all(
    experiments: Sequence[Experiment],
    store: Store,
    observer: Observer | None = None,
    devices: Sequence[Any] | None = None,
) -> list[Run]:
    """Trains what the store does not have yet and returns all runs, in the order asked for."""
    observer = observer or Observer()
    devices = tuple(devices or jax.local_devices())
    runs = [store.add(experiment) for experiment in experiments]
    wanted = {run.id: (run, experiment.resolve()) for run, experiment in zip(runs, experiments, strict=True)}
    while pending := [_prepare(run, e, store, observer) for run, e in wanted.values() if run.result is None]:
        batches = plan(pending, devices)
        observer.planned(batches)
        for batch in batches:
            _train_locked(batch, store, observer, devices)
    return runs


def _prepare(run: Run, experiment: Experiment, store: Store, observer: Observer) -> Planned:
    """Where a run stands. A folder that does not hold a run is moved aside first."""
    try:
        check_intact(run)
        checkpoint = run.read_checkpoint()
    except Damaged as damage:
        moved = store.set_aside(run)
        observer.remark(f"Run {run.id} was damaged ({damage}) and moved to {moved}; it starts afresh.")
        checkpoint = None
    task = experiment.load_task(store.tables)
    train, _ = experiment.split.divide(task)
    return Planned(run, experiment, task, train, checkpoint[0] if checkpoint else 0)


def _train_locked(batch: Batch, store: Store, observer: Observer, devices: tuple[Any, ...]) -> None:
    """Trains a batch while holding its folders, in the order of their names so that no two processes wait in a ring."""
    locks = []
    try:
        for member in sorted(batch.members, key=lambda member: member.run.id):
            lock = Lock(member.run.folder)
            if not lock.acquire(wait=False):
                observer.remark(f"Run {member.run.id} is being trained by another process; waiting for it.")
                lock.acquire()
            locks.append(lock)
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


class BatchTraining:
    """One batch while it trains."""

    def __init__(self, batch: Batch, store: Store, observer: Observer, devices: tuple[Any, ...]) -> None:
        self.batch, self.store, self.observer = batch, store, observer
        self.devices = devices[: len(batch.members)]
        self.program = batch.program
        self.members = list(batch.members)
        """The runs of the batch's axis, in order."""
        self.active = list(range(len(self.members)))
        """Which of them still train; the others are frozen where they ended."""
        self.progress = {m.run.id: Progress(m.experiment) for m in self.members}
        self.step = batch.step
        self.last_checkpoint = self.last_flush = self.started = time.monotonic()
        self.checkpoint_cost = 0.0
        self.steps_per_second = 20.0
        """A first guess, corrected after every call; it decides how many steps one call takes."""
        self._begin()

    def run(self) -> None:
        """Trains to the end of the schedule, or until every run has ended."""
        evaluated, kept = (set(steps.tolist()) for steps in self.batch.schedule)
        targets = sorted(step for step in evaluated if step > self.step or (step == 0 and self.step == 0))
        try:
            for target in targets:
                self._advance_to(target)
                if not self.active:
                    return
                if target in kept:
                    self._keep_snapshots()
                self._maybe_checkpoint()
                if self.observer.stop_requested():
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            self._checkpoint()
            raise Interrupted(
                f"Stopped at step {self.step} of {targets[-1]}; the same command goes on from there."
            ) from None
        self._end([(i, "finished") for i in self.active])

    def _begin(self) -> None:
        randomly, from_weights, self.advance = compiled(self.program, self.devices)
        size = len(self.members)
        padded = self._padded(range(size))
        data = [run_data(self.program, m.task, m.train, self.batch.rows, self.batch.slots) for m in self.members]
        self.data: RunData = stack([data[i] for i in padded], self.devices)
        experiments = [self.members[i].experiment for i in padded]
        self.rates = stack([rates_of(e) for e in experiments], self.devices)
        self.seeds = stack([np.uint32(e.seed) for e in experiments], self.devices)
        if any(e.parent for e in experiments):
            weights = [from_network(self._parent(e), self.program.precision) for e in experiments]
            self.state: State = from_weights(stack(weights, self.devices), self.rates, self.data.examples)
        else:
            scales = stack([np.asarray(e.init_scale, self.program.precision) for e in experiments], self.devices)
            self.state = randomly(self.seeds, scales, self.rates, self.data.examples)
        where = environment(self.devices[0])
        if self.step == 0:
            for member in self.members:
                member.run.begin(member.experiment, where)
            return
        treedef = jax.tree.structure(self.state)
        saved = [m.run.read_checkpoint() for m in self.members]
        trees = [jax.tree.unflatten(treedef, leaves) for _, leaves in filter(None, saved)]
        self.state = stack([trees[i] for i in padded], self.devices)
        for member in self.members:
            member.run.truncate(self.step)
            for row in member.run.rows():
                self.progress[member.run.id].add(row)

    def _parent(self, experiment: Experiment) -> Network:
        if not experiment.parent:
            raise ModgrokError("Runs that start from another run's weights train in batches of their own.")
        name, _, step = experiment.parent.partition("@")
        return self.store.find(name).snapshot(int(step))

    def _padded(self, runs: Sequence[int]) -> list[int]:
        """Run numbers filled up with the last one to a multiple of the number of devices."""
        numbers = list(runs)
        return numbers + [numbers[-1]] * (-len(numbers) % len(self.devices))

    def _advance_to(self, target: int) -> None:
        while True:
            count = min(target - self.step, max(1, int(CALL_SECONDS * self.steps_per_second)))
            measured = self.step + count == target
            began = time.monotonic()
            step, of_step = np.int32(self.step), np.int32(count)
            state, measurement = self.advance(
                self.state, self.data, self.rates, self.seeds, step, of_step, np.bool_(measured)
            )
            values = jax.tree.map(np.asarray, measurement)
            self.state, self.step = state, self.step + count
            if count > 1:
                self.steps_per_second = count / max(1e-9, time.monotonic() - began)
            self.observer.advanced(self.active_members, self.step, count * len(self.active))
            if measured:
                self._record(values)
                return
            if self.observer.stop_requested():
                raise KeyboardInterrupt

    def _record(self, values: Measurement) -> None:
        diverged = np.asarray(self.state.diverged_at)
        ended = []
        for i in self.active:
            member = self.members[i]
            row: dict[str, Any] = {"step": self.step}
            row |= {name: _json_number(value[i]) for name, value in zip(values._fields, values, strict=True)}
            progress = self.progress[member.run.id]
            progress.add(row)
            self.observer.measured(member.run, row)
            if diverged[i] != NEVER:
                progress.diverged_at = int(diverged[i])
                ended.append((i, "diverged"))
            elif progress.collapsed:
                ended.append((i, "collapsed"))
            elif progress.may_stop:
                ended.append((i, "finished"))
        if time.monotonic() - self.last_flush > 0.5:
            self._flush()
        if ended:
            self._end(ended)

    def _end(self, ended: list[tuple[int, str]]) -> None:
        """Writes the results of runs that have ended, and trains them no further."""
        self._flush()
        networks = self._networks()
        for i, status in ended:
            member = self.members[i]
            progress = self.progress[member.run.id]
            if self.step in set(self.batch.schedule[1].tolist()) or len(member.run.snapshots):
                member.run.keep(self.step, networks[i])
            seconds = time.monotonic() - self.started
            result = result_of(member.run.id, status, progress, seconds)
            member.run.finish(result, networks[i])
            self.observer.ended(member.run, result)
        gone = [i for i, _ in ended]
        self.active = [i for i in self.active if i not in gone]
        if not self.active:
            return
        if 2 * len(self.active) <= len(self.members):
            self._shrink()
        else:
            self.state = freeze(self.state, gone)

    def _shrink(self) -> None:
        """Goes on with the active runs alone: worth a compilation once they are half of the batch."""
        chosen = self._padded(self.active)
        parts = (self.state, self.data, self.rates, self.seeds)
        self.state, self.data, self.rates, self.seeds = (select(part, chosen, self.devices) for part in parts)
        self.members = self.active_members
        self.active = list(range(len(self.members)))

    @property
    def active_members(self) -> list[Planned]:
        return [self.members[i] for i in self.active]

    def _networks(self) -> list[Network]:
        """The networks of the whole batch, on the host."""
        states = unstack(self.state.weights, len(self.members))
        examples = unstack(self.data.examples, len(self.members)) if self.program.batch_norm else None
        networks = []
        for i, weights in enumerate(states):
            norm = None if examples is None else training_statistics(self.program, weights, examples[i])
            networks.append(as_numpy(as_network(weights, self.program.activation, self.program.parametrization, norm)))
        return networks

    def _keep_snapshots(self) -> None:
        networks = self._networks()
        for i in self.active:
            self.members[i].run.keep(self.step, networks[i])
            self.observer.kept(self.members[i].run, self.step, networks[i])

    def _flush(self) -> None:
        for member in self.active_members:
            member.run.append(self.progress[member.run.id].unwritten())
        self.last_flush = time.monotonic()

    def _maybe_checkpoint(self) -> None:
        if time.monotonic() - self.last_checkpoint > max(CHECKPOINT_SECONDS, 20 * self.checkpoint_cost):
            self._checkpoint()

    def _checkpoint(self) -> None:
        """Curves first, then the state: a checkpoint never stands beyond its curves."""
        began = time.monotonic()
        self._flush()
        states = unstack(self.state, len(self.members))
        for i in self.active:
            self.members[i].run.checkpoint(self.step, jax.tree.leaves(states[i]))
        self.last_checkpoint = time.monotonic()
        self.checkpoint_cost = self.last_checkpoint - began


def _json_number(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None
