"""Trains one batch, and stores curves, snapshots and checkpoints on the way."""

import itertools
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from modgrok.errors import Interrupted, ModgrokError
from modgrok.experiments.cost import COMPILE_SECONDS
from modgrok.experiments.environment import environment
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer
from modgrok.experiments.placement import place_batch
from modgrok.experiments.planner import PlannedRun, RunBatch
from modgrok.experiments.result import BatchProgress, Result, RunProgress, Values, row_of
from modgrok.experiments.run import Run
from modgrok.experiments.run_writer import BackgroundWriter, Pace, RunWriter, in_parallel
from modgrok.experiments.store import Store
from modgrok.experiments.turn import Turn
from modgrok.networks import Network
from modgrok.training.devices import precision_of
from modgrok.training.evaluation import recorded_names
from modgrok.training.loop import NEVER, State, from_named_tensors, named_tensors

CALL_SECONDS = 0.4
"""Approximate duration of one call of the compiled program, and so the delay of Ctrl-C."""
BETWEEN_SECONDS = 0.01
"""The same for a batch that trains beside one that goes first, and takes what that leaves while it records: with calls
as long as the other's they would keep step, end together, and leave the device idle while the next two are prepared."""
SHARED_BY = "shared_by"
"""Entry of the run's environment: how many devices shared it. More than two round differently from one."""
SHRINK_SECONDS = 1.0
"""What it takes to move the runs of a batch into a smaller one, by way of the host."""
FLUSH_SECONDS, CHECKPOINT_SECONDS = 0.5, 5.0
"""Least time between writes of curves, and between checkpoints."""
DISK_RATE = 3e8
"""Bytes per second that a disk writes: a first guess for the cost of a checkpoint."""
FILE_SECONDS = 1e-3
"""Time that a file takes besides, likewise; with hundreds of runs it is most of a checkpoint."""
PARTS = 8
"""Number of parts into which the steps between two evaluations are divided when a threshold was crossed."""
ACCURACIES = ("train_accuracy", "test_accuracy")
Crossed = tuple[int, str]
"""A run of the batch and the curve of it that crossed its threshold."""


class Member:
    """One run of a batch, and what is written of it."""

    def __init__(self, planned: PlannedRun, store: Store) -> None:
        self.experiment, self.run = planned.experiment, store.run(planned.id)
        self.writer = RunWriter(self.run)
        self.progress = RunProgress(planned.experiment)
        self.snapshots: dict[int, Future[None]] = {}
        """Snapshots being written, by step."""


class BatchTraining:
    """The training of one batch."""

    def __init__(self, batch: RunBatch, store: Store, observer: Observer, devices: tuple[Any, ...]) -> None:
        self.batch, self.store, self.observer = batch, store, observer
        self.step = batch.step
        self.members = [Member(planned, store) for planned in batch.members]
        """The runs of the batch's axis, in order."""
        self.active = list(range(len(self.members)))
        """Indices of those that still train; the others are frozen."""
        self.started = time.monotonic()
        self.steps_per_second = 20.0
        """Updated after every call; determines how many steps one call takes."""
        self.smaller: tuple[int, Future[None]] | None = None
        """Number of runs of a smaller batch, and when its program is compiled."""
        self.evaluated: tuple[int, Any] | None = None
        """Step and state of the last evaluation, kept until the next one if a run refines its crossings."""
        self.live = place_batch(batch, devices, self._sharing())
        alone = self.live.program.on.separate or threading.current_thread() is threading.main_thread()
        self.turn = Turn(alone, batch.short)
        self._begin()
        self.progress = BatchProgress([member.progress for member in self.members])
        files = FILE_SECONDS * len(self.members)
        self.flushes = Pace(FLUSH_SECONDS, files)
        self.checkpoints = Pace(CHECKPOINT_SECONDS, files + self.live.nbytes / DISK_RATE, self.started)

    def run(self) -> None:
        """Trains to the end of the schedule, or until every run has ended."""
        evaluated, kept = (set(steps.tolist()) for steps in self.batch.schedule)
        targets = sorted(step for step in evaluated if step > self.step or (step == 0 and self.step == 0))
        try:
            with BackgroundWriter() as self.writing, self.turn.training():
                self._train(targets, kept)
        except KeyboardInterrupt:
            # It may have come between any two instructions, so what is in memory is not to be trusted.
            stored = any(member.run.checkpoints for member in self.members)
            rest = "resume from the last checkpoint" if stored else "start over"
            raise Interrupted(f"Stopped; rerun the command to {rest}.") from None

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
            self.live.restore(self._saved_states())
            for member in self.members:
                member.writer.truncate(self.step)
                member.progress.restore(member.run.rows())
            return
        experiments = [member.experiment for member in self.members]
        self.live.begin([self._parent(e) for e in experiments] if experiments[0].parent else None)
        where = environment(self.live.devices[0]) | {SHARED_BY: self.live.program.shared}
        in_parallel(lambda member: member.writer.begin(member.experiment, where), self.members)

    def _saved_states(self) -> list[State]:
        """The states in the runs' checkpoints."""
        form, states = self.live.state_shapes, []
        for member in self.members:
            saved = member.run.read_checkpoint()
            assert saved is not None
            try:
                states.append(from_named_tensors(form, saved[1]))
            except KeyError as missing:
                raise ModgrokError(f"The checkpoint of run {member.run.id} has no tensor {missing}.") from None
        return states

    def _sharing(self) -> int | None:
        """The most devices that may share a run. A resumed run keeps its number of partial sums, and so its bits."""
        if self.step == 0:
            return None
        return max(2, self.members[0].run.settings["environment"].get(SHARED_BY, 2))

    def _parent(self, experiment: Experiment) -> dict[str, Any]:
        network = self.store.starting_network(experiment.parent)
        program = self.live.program
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
        self.evaluated = (self.step, self.live.copy_state(self.live.state)) if refines else None
        while True:
            count = self._call_steps(target - self.step)
            measured = self.step + count == target
            with self.turn:
                began = time.monotonic()
                self.live.state, found = self.live.advance(self.live.state, self.step, count, measured)
                seconds = time.monotonic() - began
            self.step += count
            if count > 0:
                self.steps_per_second = count / max(1e-9, seconds)
            self.observer.advanced(self.active_members, self.step, count * len(self.active))
            if measured:
                values = self._finite(self.live.fetch(found))
                if self.evaluated is not None:
                    self.progress.hand_out(self.active)
                    if crossed := self._crossings(values, range(len(self.members))):
                        self._refine(*self.evaluated, crossed)
                self.evaluated = None
                self._record(values)
                return
            self._maybe_stop()

    def _call_steps(self, most: int) -> int:
        seconds = BETWEEN_SECONDS if self.turn.follows else CALL_SECONDS
        return min(most, max(1, int(seconds * self.steps_per_second)))

    def _crossings(self, values: dict[str, Any], runs: Iterable[int]) -> set[Crossed]:
        """Which accuracies of active runs with `refine` reach their threshold here for the first time."""
        found = set()
        for i in set(runs) & set(self.active):
            progress, e = self.members[i].progress, self.members[i].experiment
            for curve in ACCURACIES if e.refine and progress.rows else ():
                if values[curve][i] >= e.threshold and progress.crossing(curve).at is None:
                    found.add((i, curve))
        return found

    def _refine(self, low: int, state: Any, crossed: set[Crossed]) -> None:
        """Repeats the steps since the last evaluation from the state kept there, and adds points to the curves of the
        runs that crossed a threshold meanwhile. The training itself is unaffected."""
        rows: dict[int, dict[int, dict[str, Any]]] = {i: {} for i, _ in crossed}
        self._search(state, low, self.step, crossed, rows)
        for i, found in rows.items():
            for step in sorted(found):
                self.members[i].progress.add(found[step])
                self.observer.measured(self.members[i].run, found[step])
            self.progress.look_again(i)

    def _search(
        self, state: Any, low: int, high: int, crossed: set[Crossed], rows: dict[int, dict[int, dict[str, Any]]]
    ) -> None:
        """Measures at a few steps between two, then recurses into the interval where each threshold was crossed."""
        points = np.unique(np.linspace(low, high, PARTS + 1).round().astype(int)).tolist()
        runs = {i for i, _ in crossed}
        state = self.live.freeze(state, set(range(len(self.members))) - runs)
        for start, end in itertools.pairwise(points):
            reached, here = state, crossed
            if end < high:
                reached, values = self._go(self.live.copy_state(state), start, end)
                here = crossed & self._crossings(values, runs)
                for i in {i for i, _ in crossed}:
                    rows[i][end] = row_of(i, end, values)
            if here and end - start > 1:
                self._search(state, start, end, here, rows)
            state, crossed = reached, crossed - here
            if not crossed:
                return

    def _go(self, state: Any, start: int, end: int) -> tuple[Any, dict[str, Any]]:
        """Advances in calls short enough to notice Ctrl-C."""
        while True:
            count = self._call_steps(end - start)
            with self.turn:
                state, found = self.live.advance(state, start, count, start + count == end)
            start += count
            if start == end:
                return state, self._finite(self.live.fetch(found))
            self._maybe_stop()

    def _finite(self, values: dict[str, Any]) -> Values:
        """What is recorded, in order."""
        names = recorded_names(self.live.program)
        return {name: np.where(np.isfinite(values[name]), values[name], np.nan) for name in names}

    def _record(self, values: Values) -> None:
        self.progress.add(self.step, values)
        active = self.active
        self.observer.recorded([self.members[i].run for i in active], lambda place: self.progress.last(active[place]))
        diverged, collapsed, may_stop = self.live.diverged_at(), self.progress.collapsed, self.progress.may_stop
        ended = []
        for i in np.intersect1d(active, np.flatnonzero((diverged != NEVER) | collapsed | may_stop)).tolist():
            if diverged[i] != NEVER:
                self.members[i].progress.diverged_at = int(diverged[i])
                ended.append((i, "diverged"))
            else:
                ended.append((i, "collapsed" if collapsed[i] else "finished"))
        if self.flushes.due:
            self._flush()
        if ended:
            self._end(ended)
        if len(self.active) in range(1, len(self.members)):
            self._shrink()

    def _end(self, ended: list[tuple[int, str]]) -> None:
        """Starts to write the results of finished runs, and freezes these."""
        self.progress.hand_out(self.active)
        gone = [i for i, _ in ended]
        networks, states = dict(zip(gone, self.live.networks(gone), strict=True)), self._last_states(ended)
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
        if self.active:
            self.live.end(gone)

    def _last_states(self, ended: list[tuple[int, str]]) -> dict[int, dict[str, np.ndarray]]:
        """Final states, from which longer runs can continue, of runs that keep snapshots."""
        kept = [i for i, status in ended if status == "finished" and self.members[i].experiment.snapshots > 0]
        states = self.live.states(self.live.state, kept) if kept else []
        return {i: named_tensors(state) for i, state in zip(kept, states, strict=True)}

    def _shrink(self) -> None:
        """Goes on with a smaller batch where that saves time. Its program is compiled while this one trains on; runs
        that end meanwhile come along. Python waits for a compilation that has begun before it exits."""
        if self.smaller is None:
            if self._saved_seconds(COMPILE_SECONDS) > SHRINK_SECONDS:
                self.smaller = len(self.active), self._compile_smaller(len(self.active))
            return
        count, compiled = self.smaller
        if not compiled.done():
            return
        if (failure := compiled.exception()) is not None:
            self.observer.remark(f"The whole batch trains on, since a smaller one did not compile: {failure}")
            self.smaller = count, Future()  # not tried again
            return
        self.smaller = None
        if self._saved_seconds() > SHRINK_SECONDS:
            ended = [i for i in range(len(self.members)) if i not in set(self.active)]
            stay = self.active + ended[: count - len(self.active)]
            self.progress.hand_out(self.active)
            self.live.shrink(stay)
            self.members, self.active = [self.members[i] for i in stay], list(range(len(self.active)))
            self.progress = BatchProgress([member.progress for member in self.members])

    def _compile_smaller(self, count: int) -> Future[None]:
        def compile_it() -> None:
            with precision_of(self.live.program):
                self.live.compile_smaller(count)

        threads = ThreadPoolExecutor(1)
        try:
            return threads.submit(compile_it)
        finally:
            threads.shutdown(wait=False)

    def _saved_seconds(self, later: float = 0.0) -> float:
        """What active runs would save with a batch of their own from so many seconds on; nothing where runs take their
        steps separately."""
        idle = self.live.idle_share * (len(self.members) - len(self.active))
        left = (self.batch.schedule[0][-1] - self.step) / self.steps_per_second
        return (left - later) * idle / (idle + len(self.active))

    @property
    def active_members(self) -> list[Member]:
        return [self.members[i] for i in self.active]

    def _keep_snapshots(self) -> None:
        """Starts to write snapshots of all active runs."""
        program = self.live.program
        self.writing.make_room(np.dtype(program.dtype).itemsize * program.cost.parameters)
        for member, network in zip(self.active_members, self.live.networks(self.active), strict=True):

            def tell(_: None, run: Run = member.run, step: int = self.step, network: Network = network) -> None:
                self.observer.kept(run, step, network)

            member.snapshots[self.step] = self.writing.begin(partial(member.writer.keep, self.step, network), tell)

    def _flush(self) -> None:
        with self.flushes.writing():
            self.progress.hand_out(self.active)
            for member in self.active_members:
                member.writer.append(member.progress.unwritten())

    def _maybe_stop(self) -> None:
        """Reports finished writes, and writes a checkpoint if one is due or training is to stop."""
        self.writing.report_finished()
        if self.observer.stop_requested():
            step = self._checkpoint()
            raise Interrupted(f"Stopped at step {step} of {self.batch.schedule[0][-1]}; rerun the command to resume.")
        if self.checkpoints.due:
            self._checkpoint()

    def _checkpoint(self) -> int:
        """Writes snapshots and curves first, then the state, so that a checkpoint is never ahead of them. With `refine`
        the state is that of the last evaluation. Returns the step."""
        step, state = self.evaluated or (self.step, self.live.state)
        with self.checkpoints.writing():
            self.writing.wait()
            self._flush()
            states = self.live.states(state, self.active)
            write = lambda member, one: member.writer.checkpoint(step, named_tensors(one))  # noqa: E731
            in_parallel(write, self.active_members, states)
        return step
