"""One batch while it trains: curves, snapshots and checkpoints go to the store as they come."""

import math
import time
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.batches import COMPILE_SECONDS, Batch, Planned, rates_of
from modgrok.experiments.environment import environment
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer
from modgrok.experiments.outcome import Progress, result_of
from modgrok.experiments.store import Store
from modgrok.networks import Network, as_numpy
from modgrok.training.batch import SHARING, compiled, divided, freeze, select, stack, unstack
from modgrok.training.evaluation import Measurement, training_statistics
from modgrok.training.examples import RunData, run_data
from modgrok.training.loop import NEVER, State
from modgrok.training.weights import as_network, from_network

CALL_SECONDS = 0.4
"""About how long one call of the compiled program may last: as long as it takes to notice Ctrl-C."""
SHARED_BY = "shared_by"
"""Name of the fact how many devices shared a run, beside where it was made: more than two find other bits than one."""
CHECKPOINT_SECONDS = 5.0
"""Least time between checkpoints."""
CHECKPOINT_SHARE = 0.05
"""The most of its time that training may spend on checkpoints: large batches make them more rarely."""


class Interrupted(ModgrokError):
    """Training was stopped before its end; everything done so far is stored."""


class BatchTraining:
    """One batch while it trains."""

    def __init__(self, batch: Batch, store: Store, observer: Observer, devices: tuple[Any, ...]) -> None:
        self.batch, self.store, self.observer = batch, store, observer
        self.step = batch.step
        self.members = list(batch.members)
        """The runs of the batch's axis, in order."""
        self.program, self.devices = divided(batch.program, len(self.members), batch.rows, devices, self._sharing())
        self.active = list(range(len(self.members)))
        """Which of them still train; the others are frozen where they ended."""
        self.progress = {m.run.id: Progress(m.experiment) for m in self.members}
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
                self._maybe_stop()
            self._end([(i, "finished") for i in self.active])
        except KeyboardInterrupt:
            # It may have come between any two instructions, so what is in memory is not to be trusted.
            stored = any(member.run.checkpoints for member in self.members)
            rest = "goes on from the last checkpoint" if stored else "starts again"
            raise Interrupted(f"Stopped at once; the same command {rest}.") from None

    def _begin(self) -> None:
        randomly, from_weights, self.advance = compiled(self.program, self.devices)
        size = len(self.members)
        padded = self._padded(range(size))
        data = [run_data(self.program, m.task, m.train, self.batch.rows, self.batch.slots) for m in self.members]
        self.data: RunData = stack([data[i] for i in padded], self.program, self.devices)
        experiments = [self.members[i].experiment for i in padded]
        self.rates = stack([rates_of(e) for e in experiments], self.program, self.devices)
        self.seeds = stack([np.uint32(e.seed) for e in experiments], self.program, self.devices)
        scales = stack(
            [np.asarray(e.init_scale, self.program.precision) for e in experiments], self.program, self.devices
        )
        fresh = (self.seeds, scales, self.rates, self.data.examples)
        if self.step > 0:
            self._resume(jax.eval_shape(randomly, *fresh), padded)
            return
        if experiments[0].parent:
            weights = [from_network(self._parent(e), self.program.precision) for e in experiments]
            self.state: State = from_weights(stack(weights, self.program, self.devices), self.rates, self.data.examples)
        else:
            self.state = randomly(*fresh)
        where = environment(self.devices[0]) | {SHARED_BY: self.program.shared}
        for member in self.members:
            member.run.begin(member.experiment, where)

    def _resume(self, shapes: State, padded: list[int]) -> None:
        saved = [m.run.read_checkpoint() for m in self.members]
        structure, names = jax.tree.structure(shapes), list(_named(shapes))
        states = [jax.tree.unflatten(structure, [parts[name] for name in names]) for _, parts in filter(None, saved)]
        self.state = stack([states[i] for i in padded], self.program, self.devices)
        for member in self.members:
            member.run.truncate(self.step)
            self.progress[member.run.id].restore(member.run.rows())

    def _sharing(self) -> int:
        """The most devices that may share a run: one that goes on is added up as it was begun, to end with its bits."""
        if self.step == 0:
            return SHARING
        return max(2, self.members[0].run.settings["environment"].get(SHARED_BY, 2))

    def _parent(self, experiment: Experiment) -> Network:
        name, _, step = experiment.parent.partition("@")
        network = self.store.find(name).snapshot(int(step))
        shape = (self.program.width, self.program.arity, self.program.modulus)
        if network.w_in.shape != shape:
            raise ModgrokError(
                f"A run starts from weights of its own shape (N, S, p) = {shape}, and those of {experiment.parent} "
                f"have {network.w_in.shape}; give it the parent's width and modulus."
            )
        return network

    def _padded(self, runs: Sequence[int]) -> list[int]:
        """Run numbers filled up with the last one to a multiple of the devices that each take runs of their own."""
        numbers = list(runs)
        return numbers if self.program.shared > 1 else numbers + [numbers[-1]] * (-len(numbers) % len(self.devices))

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
            if count > 0:
                self.steps_per_second = count / max(1e-9, time.monotonic() - began)
            self.observer.advanced(self.active_members, self.step, count * len(self.active))
            if measured:
                self._record(values)
                return
            self._maybe_stop()

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
        self.state = freeze(self.state, gone)
        if self._worth_shrinking():
            self._shrink()

    def _worth_shrinking(self) -> bool:
        """Whether a batch of the active runs alone saves more time than its compilation takes.

        On a CPU frozen runs cost nothing: there each run loops by itself.
        """
        if self.program.platform == "cpu" or 2 * len(self.active) > len(self.members):
            return False
        left = (self.batch.schedule[0][-1] - self.step) / self.steps_per_second
        return left * (1 - len(self.active) / len(self.members)) > 2 * COMPILE_SECONDS

    def _shrink(self) -> None:
        """Goes on with the active runs alone."""
        self.devices = self.devices[: len(self.active)]
        _, _, self.advance = compiled(self.program, self.devices)
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

    def _maybe_stop(self) -> None:
        """Stores the state if that is due, or if training is to stop here."""
        if self.observer.stop_requested():
            self._checkpoint()
            raise Interrupted(
                f"Stopped at step {self.step} of {self.batch.schedule[0][-1]}; the same command goes on from there."
            )
        if time.monotonic() - self.last_checkpoint > max(CHECKPOINT_SECONDS, self.checkpoint_cost / CHECKPOINT_SHARE):
            self._checkpoint()

    def _checkpoint(self) -> None:
        """Curves first, then the state: a checkpoint never stands beyond its curves."""
        began = time.monotonic()
        self._flush()
        states = unstack(self.state, len(self.members))
        for i in self.active:
            self.members[i].run.checkpoint(self.step, _named(states[i]))
        self.last_checkpoint = time.monotonic()
        self.checkpoint_cost = self.last_checkpoint - began


def _named(state: State) -> dict[str, Any]:
    """The arrays of a state by their places in it."""
    return {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(state)}


def _json_number(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None
