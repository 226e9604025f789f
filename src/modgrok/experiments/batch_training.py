"""One batch while it trains: curves, snapshots and checkpoints go to the store as they come."""

import itertools
import math
import time
from collections.abc import Iterable
from concurrent.futures import Future
from functools import partial
from typing import Any

import numpy as np

from modgrok.errors import Interrupted, ModgrokError
from modgrok.experiments.cost import COMPILE_SECONDS
from modgrok.experiments.environment import environment
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer
from modgrok.experiments.outcome import RunProgress
from modgrok.experiments.placed_runs import place_batch
from modgrok.experiments.planner import PlannedRun, RunBatch
from modgrok.experiments.result import Result
from modgrok.experiments.run import Run
from modgrok.experiments.run_writer import RunWriter
from modgrok.experiments.store import Store
from modgrok.experiments.writing import BackgroundWriter, in_parallel
from modgrok.networks import Network
from modgrok.training.evaluation import recorded_names
from modgrok.training.loop import NEVER, State, from_named_tensors, named_tensors

CALL_SECONDS = 0.4
"""About how long one call of the compiled program may last: as long as it takes to notice Ctrl-C."""
SHARED_BY = "shared_by"
"""Name of the fact how many devices shared a run, beside where it was made: more than two find other bits than one."""
FLUSH_SECONDS, FLUSH_SHARE = 0.5, 0.05
"""Least time between writes of curves, and the most of its time that training may spend on them."""
CHECKPOINT_SECONDS = 5.0
"""Least time between checkpoints."""
CHECKPOINT_SHARE = 0.05
"""The most of its time that training may spend on checkpoints: large batches make them more rarely."""
DISK_RATE = 3e8
"""Bytes that a disk takes in a second: a first guess of what a checkpoint costs, corrected by the first."""
PARTS = 8
"""Into how many parts the steps between two evaluations are cut where a threshold was crossed between them."""
ACCURACIES = ("train_accuracy", "test_accuracy")
Crossed = tuple[int, str]
"""A run of the batch and the curve of it that crossed its threshold."""


class Member:
    """One run of a batch: what is planned, and where it is stored."""

    def __init__(self, planned: PlannedRun, store: Store) -> None:
        self.experiment, self.task, self.step = planned.experiment, planned.task, planned.step
        self.planned, self.id = planned, planned.id
        self.run: Run = store.run(planned.id)
        self.writer = RunWriter(self.run)
        self.progress = RunProgress(planned.experiment)
        self.snapshots: dict[int, Future[None]] = {}
        """Those that were begun to be written, by their steps."""


class BatchTraining:
    """One batch while it trains."""

    def __init__(self, batch: RunBatch, store: Store, observer: Observer, devices: tuple[Any, ...]) -> None:
        self.batch, self.store, self.observer = batch, store, observer
        self.step = batch.step
        self.members = [Member(planned, store) for planned in batch.members]
        """The runs of the batch's axis, in order."""
        self.active = list(range(len(self.members)))
        """Which of them still train; the others are frozen where they ended."""
        self.last_checkpoint = self.last_flush = self.started = time.monotonic()
        self.flush_cost = 0.0
        self.steps_per_second = 20.0
        """A first guess, corrected after every call; it decides how many steps one call takes."""
        self.evaluated: tuple[int, Any] | None = None
        """Step and state of the last evaluation, while runs that refine are on the way to the next."""
        self.placed = place_batch(batch, devices, self._sharing())
        self._begin()
        self.checkpoint_cost = self.placed.nbytes / DISK_RATE

    def run(self) -> None:
        """Trains to the end of the schedule, or until every run has ended."""
        evaluated, kept = (set(steps.tolist()) for steps in self.batch.schedule)
        targets = sorted(step for step in evaluated if step > self.step or (step == 0 and self.step == 0))
        try:
            with BackgroundWriter() as self.writing:
                self._train(targets, kept)
        except KeyboardInterrupt:
            # It may have come between any two instructions, so what is in memory is not to be trusted.
            stored = any(member.run.checkpoints for member in self.members)
            rest = "goes on from the last checkpoint" if stored else "starts again"
            raise Interrupted(f"Stopped at once; the same command {rest}.") from None

    def _train(self, targets: list[int], kept: set[int]) -> None:
        for target in targets:
            self._advance_to(target)
            if not self.active:
                return
            if target in kept:
                self._keep_snapshots()
            self._maybe_stop()
        self._end([(i, "finished") for i in self.active])

    def _begin(self) -> None:
        if self.step > 0:
            self.placed.restore(self._saved_states())
            for member in self.members:
                member.writer.truncate(self.step)
                member.progress.restore(member.run.rows())
            return
        experiments = [member.experiment for member in self.members]
        if experiments[0].parent:
            self.placed.begin_with([self._parent(e) for e in experiments])
        else:
            self.placed.begin()
        where = environment(self.placed.devices[0]) | {SHARED_BY: self.placed.program.shared}
        in_parallel(lambda member: member.writer.begin(member.experiment, where), self.members)

    def _saved_states(self) -> list[State]:
        """What the runs' checkpoints hold, each in the form of a state."""
        form, states = self.placed.form, []
        for member in self.members:
            saved = member.run.read_checkpoint()
            assert saved is not None
            try:
                states.append(from_named_tensors(form, saved[1]))
            except KeyError as missing:
                raise ModgrokError(f"The checkpoint of run {member.run.id} has no tensor {missing}.") from None
        return states

    def _sharing(self) -> int | None:
        """The most devices that may share a run: one that goes on is added up as it was begun, to end with its bits."""
        if self.step == 0:
            return None
        return max(2, self.members[0].run.settings["environment"].get(SHARED_BY, 2))

    def _parent(self, experiment: Experiment) -> dict[str, Any]:
        network = self.store.starting_network(experiment.parent)
        program = self.placed.program
        shapes = program.architecture.shapes(program.signature)
        found = {key: value.shape for key, value in network.parameters.items() if key in shapes}
        if network.architecture.name != program.architecture.name or found != shapes:
            described = ", ".join(f"{key} {shape}" for key, shape in shapes.items())
            raise ModgrokError(
                f"A run starts from weights of its own shapes, {described}, and those of {experiment.parent} are of "
                f"others; give it the parent's network, width and modulus."
            )
        return {key: np.asarray(network.parameters[key], program.dtype) for key in shapes}

    def _advance_to(self, target: int) -> None:
        refines = any(member.experiment.refine for member in self.active_members)
        self.evaluated = (self.step, self.placed.copied(self.placed.state)) if refines else None
        while True:
            count = self._call_steps(target - self.step)
            measured = self.step + count == target
            began = time.monotonic()
            self.placed.state, values = self.placed.advance(self.placed.state, self.step, count, measured)
            self.step += count
            if count > 0:
                self.steps_per_second = count / max(1e-9, time.monotonic() - began)
            self.observer.advanced(self.active_members, self.step, count * len(self.active))
            if measured:
                if self.evaluated is not None and (crossed := self._crossings(values, range(len(self.members)))):
                    self._refine(*self.evaluated, crossed)
                self.evaluated = None
                self._record(values)
                return
            self._maybe_stop()

    def _call_steps(self, most: int) -> int:
        return min(most, max(1, int(CALL_SECONDS * self.steps_per_second)))

    def _crossings(self, values: dict[str, Any], runs: Iterable[int]) -> set[Crossed]:
        """Which accuracies of active runs that ask for it reach their threshold here for the first time."""
        found = set()
        for i in set(runs) & set(self.active):
            progress, e = self.members[i].progress, self.members[i].experiment
            for curve in ACCURACIES if e.refine and progress.rows else ():
                if values[curve][i] >= e.threshold and progress.crossing(curve).at is None:
                    found.add((i, curve))
        return found

    def _refine(self, low: int, state: Any, crossed: set[Crossed]) -> None:
        """Goes from an evaluation to the next once more, from the state kept there, and adds points to the curves of
        the runs that crossed a threshold between the two. The training itself is not touched."""
        rows: dict[int, dict[int, dict[str, Any]]] = {i: {} for i, _ in crossed}
        self._search(state, low, self.step, crossed, rows)
        for i, found in rows.items():
            for step in sorted(found):
                self.members[i].progress.add(found[step])
                self.observer.measured(self.members[i].run, found[step])

    def _search(
        self, state: Any, low: int, high: int, crossed: set[Crossed], rows: dict[int, dict[int, dict[str, Any]]]
    ) -> None:
        """Measures at a few steps between two, then between those two of them where each threshold was crossed."""
        points = np.unique(np.linspace(low, high, PARTS + 1).round().astype(int)).tolist()
        runs = {i for i, _ in crossed}
        state = self.placed.frozen(state, set(range(len(self.members))) - runs)
        for start, end in itertools.pairwise(points):
            reached, here = state, crossed
            if end < high:
                reached, values = self._go(self.placed.copied(state), start, end)
                here = crossed & self._crossings(values, runs)
                for i in {i for i, _ in crossed}:
                    rows[i][end] = self._row(end, values, i)
            if here and end - start > 1:
                self._search(state, start, end, here, rows)
            state, crossed = reached, crossed - here
            if not crossed:
                return

    def _go(self, state: Any, start: int, end: int) -> tuple[Any, dict[str, Any]]:
        """In parts that are short enough to notice Ctrl-C."""
        while True:
            count = self._call_steps(end - start)
            state, values = self.placed.advance(state, start, count, start + count == end)
            start += count
            if start == end:
                return state, values
            self._maybe_stop()

    def _row(self, step: int, values: dict[str, Any], i: int) -> dict[str, Any]:
        return {"step": step} | {name: _json_number(values[name][i]) for name in recorded_names(self.placed.program)}

    def _record(self, values: dict[str, Any]) -> None:
        diverged, ended = self.placed.diverged_at(), []
        for i in self.active:
            member = self.members[i]
            row = self._row(self.step, values, i)
            member.progress.add(row)
            self.observer.measured(member.run, row)
            if diverged[i] != NEVER:
                member.progress.diverged_at = int(diverged[i])
                ended.append((i, "diverged"))
            elif member.progress.collapsed:
                ended.append((i, "collapsed"))
            elif member.progress.may_stop:
                ended.append((i, "finished"))
        if time.monotonic() - self.last_flush > max(FLUSH_SECONDS, self.flush_cost / FLUSH_SHARE):
            self._flush()
        if ended:
            self._end(ended)

    def _end(self, ended: list[tuple[int, str]]) -> None:
        """Has the results of runs that have ended written, and trains them no further."""
        gone = [i for i, _ in ended]
        networks, states = dict(zip(gone, self.placed.networks(gone), strict=True)), self._last_states(ended)
        step, seconds = self.step, time.monotonic() - self.started
        keep = step in set(self.batch.schedule[1].tolist())

        def write(i: int, member: Member, status: str) -> Result:
            member.writer.append(member.progress.unwritten())
            for snapshot in member.snapshots.values():
                snapshot.result()
            if step not in member.snapshots and (keep or member.run.snapshots):
                member.writer.keep(step, networks[i])
            result = member.progress.result(member.run.id, status, seconds)
            member.writer.finish(result, networks[i], states.get(i))
            return result

        for i, status in ended:
            member = self.members[i]
            self.writing.begin(partial(write, i, member, status), partial(self.observer.ended, member.run))
        self.active = [i for i in self.active if i not in gone]
        if not self.active:
            return
        self.placed.state = self.placed.frozen(self.placed.state, gone)
        if self._worth_shrinking():
            self.placed.shrink(self.active)
            self.members = self.active_members
            self.active = list(range(len(self.members)))

    def _last_states(self, ended: list[tuple[int, str]]) -> dict[int, dict[str, np.ndarray]]:
        """The states from which more steps can go on, of those runs that keep weights on the way too."""
        kept = [i for i, status in ended if status == "finished" and self.members[i].experiment.snapshots > 0]
        states = self.placed.states(self.placed.state, kept) if kept else []
        return {i: named_tensors(state) for i, state in zip(kept, states, strict=True)}

    def _worth_shrinking(self) -> bool:
        """Whether a batch of the active runs alone saves more time than its compilation takes."""
        if not self.placed.idle_cost or 2 * len(self.active) > len(self.members):
            return False
        left = (self.batch.schedule[0][-1] - self.step) / self.steps_per_second
        return left * (1 - len(self.active) / len(self.members)) > 2 * COMPILE_SECONDS

    @property
    def active_members(self) -> list[Member]:
        return [self.members[i] for i in self.active]

    def _keep_snapshots(self) -> None:
        """Has them written while training goes on."""
        for member, network in zip(self.active_members, self.placed.networks(self.active), strict=True):

            def tell(_: None, run: Run = member.run, step: int = self.step, network: Network = network) -> None:
                self.observer.kept(run, step, network)

            member.snapshots[self.step] = self.writing.begin(partial(member.writer.keep, self.step, network), tell)

    def _flush(self) -> None:
        began = time.monotonic()
        for member in self.active_members:
            member.writer.append(member.progress.unwritten())
        self.last_flush = time.monotonic()
        self.flush_cost = self.last_flush - began

    def _maybe_stop(self) -> None:
        """Stores the state if that is due, or if training is to stop here; tells of what has been written."""
        self.writing.report_finished()
        if self.observer.stop_requested():
            step = self._checkpoint()
            raise Interrupted(
                f"Stopped at step {step} of {self.batch.schedule[0][-1]}; the same command goes on from there."
            )
        if time.monotonic() - self.last_checkpoint > max(CHECKPOINT_SECONDS, self.checkpoint_cost / CHECKPOINT_SHARE):
            self._checkpoint()

    def _checkpoint(self) -> int:
        """Snapshots and curves first, then the state: a checkpoint never stands beyond them. Runs that look back to
        their last evaluation are stored as they were there. Returns the step."""
        began = time.monotonic()
        self.writing.wait()
        self._flush()
        step, state = self.evaluated or (self.step, self.placed.state)
        states = self.placed.states(state, self.active)
        in_parallel(lambda member, one: member.writer.checkpoint(step, named_tensors(one)), self.active_members, states)
        self.last_checkpoint = time.monotonic()
        self.checkpoint_cost = self.last_checkpoint - began
        return step


def _json_number(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None
