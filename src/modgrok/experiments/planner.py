"""The one planner: experiments → batches of one program, cut to the device. Engines only say where batches run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from modgrok.experiments.cost import COMPILE_SECONDS, batch_seconds, check_memory, evaluated_examples
from modgrok.experiments.experiment import Experiment, describe_task
from modgrok.experiments.programs import program_of
from modgrok.experiments.store import Store
from modgrok.tasks import Examples, Split, Task
from modgrok.training.data import PaddedShape
from modgrok.training.devices import runs_per_device
from modgrok.training.kernels import kernel_for
from modgrok.training.program import Program

BatchLimit = Callable[[Program, PaddedShape, int], int]
"""The most runs in a batch, from its program, the padded shape of its arrays and the number of evaluated examples."""


@dataclass(frozen=True, eq=False)
class PlannedRun:
    """One experiment that is to be trained, and from where."""

    experiment: Experiment
    """Resolved."""
    task: Task
    step: int = 0
    """Step of its checkpoint; 0 for a fresh run."""

    @property
    def id(self) -> str:
        return self.experiment.content_hash

    @property
    def examples(self) -> Examples:
        """Built anew at every call, so that a plan of thousands of runs does not hold them all."""
        return self.experiment.split.examples_of(self.task)

    @property
    def examples_key(self) -> tuple[Split, Task]:
        """Equal for runs with the same examples, which sweeps over rates and strengths have in common."""
        return self.experiment.split, self.task

    def trained_inputs(self) -> np.ndarray:
        """Inputs of the training set."""
        examples = self.examples
        return examples.inputs[examples.trained]

    @cached_property
    def rows(self) -> int:
        """Length of the training set; of the test set where examples are fresh at every step."""
        trained, tested = self.experiment.split.counts(self.task)
        return trained or tested

    @property
    def evaluated(self) -> int:
        """Examples that one evaluation looks at."""
        return evaluated_examples(self.experiment, self.task)


@dataclass(frozen=True, eq=False)
class RunBatch:
    """Runs of one program, at one step."""

    program: Program
    members: tuple[PlannedRun, ...]
    padded_shape: PaddedShape
    attempts: int = 0
    """Failed attempts so far."""

    @property
    def step(self) -> int:
        return self.members[0].step

    @property
    def experiments(self) -> tuple[Experiment, ...]:
        return tuple(member.experiment for member in self.members)

    @property
    def schedule(self) -> tuple[Any, Any]:
        return self.members[0].experiment.schedule

    @property
    def evaluated(self) -> int:
        return self.members[0].evaluated

    @property
    def step_flops(self) -> float:
        """FLOPs of one step of all its runs, padding included."""
        rows = [
            self.program.batch_size or (m.rows if self.program.dynamic_blocks else self.padded_shape.rows)
            for m in self.members
        ]
        return sum(self.program.step_flops(length) for length in rows)

    @property
    def seconds(self) -> float:
        """On an H200, if all runs train to their last step."""
        steps = self.experiments[0].steps or 0
        return batch_seconds(self.program, steps * self.step_flops, steps)

    @property
    def short(self) -> bool:
        """Whether it takes less time than its compilation."""
        return self.seconds < COMPILE_SECONDS

    def halves(self) -> tuple["RunBatch", "RunBatch"]:
        middle = len(self.members) // 2
        parts = (self.members[:middle], self.members[middle:])
        return tuple(RunBatch(self.program, part, self.padded_shape) for part in parts)  # type: ignore[return-value]


@dataclass(frozen=True)
class Failure:
    """Experiments that could not be trained, and why."""

    experiments: tuple[Experiment, ...]
    reason: str

    def __str__(self) -> str:
        first, count = self.experiments[0], len(self.experiments)
        return f"{count} run{'s' if count > 1 else ''} of {describe_task(first)} failed: {self.reason}"


def plan_experiments(
    experiments: Sequence[Experiment], store: Store, platform: str, most: BatchLimit
) -> list[RunBatch]:
    """Resolved experiments in batches of equal programs and schedules, no larger than `most` allows; the longest
    training sets go first. Checkpoints are looked up when they train."""
    groups: dict[Any, list[PlannedRun]] = {}
    known: dict[int, tuple[Task, list[PlannedRun]]] = {}
    for e in experiments:
        if id(e.like) not in known:
            task = e.load_task(store.tables)
            program = program_of(e, task, platform)
            key = (program, e.steps, e.evaluations, e.snapshots, bool(e.parent), evaluated_examples(e, task))
            known[id(e.like)] = task, groups.setdefault(key, [])
        task, group = known[id(e.like)]
        group.append(PlannedRun(e, task))
    return [batch for key, group in groups.items() for batch in _cut(key[0], group, most)]


def plan_here(experiments: Sequence[Experiment], store: Store, devices: Sequence[Any] | None = None) -> list[RunBatch]:
    """Batches for the devices of this process, in the sizes that suit these; an error if a run does not fit in
    memory."""
    import jax

    used = tuple(devices or jax.local_devices())
    unlike = list({id(e.like): e.like for e in experiments}.values())
    check_memory(unlike, [e.load_task(store.tables) for e in unlike], used[0].platform == "cpu")
    return plan_experiments(experiments, store, used[0].platform, batch_limit(used))


def for_two_at_once(batches: Sequence[RunBatch]) -> list[RunBatch]:
    """Batches in an order for two workers: short ones, which mostly wait for compilations and files, evenly among long
    ones, whose steps keep the device busy meanwhile. Runs that start from others' weights stay behind these."""
    free = [batch for batch in batches if not batch.experiments[0].parent]
    long, short = [batch for batch in free if not batch.short], [batch for batch in free if batch.short]
    ends = np.cumsum([batch.seconds for batch in long])
    beside = np.searchsorted(ends, np.linspace(0, ends[-1], len(short), endpoint=False), side="right") if long else 0
    places = np.concatenate([np.arange(len(long)), np.broadcast_to(beside, len(short)) + 0.5])
    return [
        *((long + short)[i] for i in np.argsort(places, kind="stable")),
        *(batch for batch in batches if batch.experiments[0].parent),
    ]


def batch_limit(devices: Sequence[Any]) -> BatchLimit:
    """The most runs of one batch on these devices."""
    return lambda program, padded, evaluated: runs_per_device(program, padded, evaluated, devices[0]) * len(devices)


def _cut(program: Program, group: list[PlannedRun], most: BatchLimit) -> list[RunBatch]:
    group = sorted(group, key=lambda member: -member.rows)
    batches: list[RunBatch] = []
    while group:
        steps = group[0].experiment.steps or 0
        near = group[: batch_size_that_pays(program, [member.rows for member in group], steps)]
        padded = _padded_shape(program, near)
        size = max(1, most(program, padded, near[0].evaluated))
        count = -(-len(near) // size)
        size = -(-len(near) // count)  # equal batches, so that one compilation serves them all
        cuts = [near[start : start + size] for start in range(0, len(near), size)]
        if program.dynamic_blocks:
            batches += [RunBatch(program, tuple(cut), _padded_shape(program, cut)) for cut in cuts]
        else:
            batches += [RunBatch(program, tuple(cut), padded) for cut in cuts]
        group = group[len(near) :]
    return batches


def _padded_shape(program: Program, members: list[PlannedRun]) -> PaddedShape:
    """The shape that fits all members; the first is the longest."""
    if program.dynamic_blocks:
        return PaddedShape(members[0].rows)
    unlike = {member.examples_key: member for member in members}.values()
    shapes = [kernel_for(program).padded_shape(member.trained_inputs, members[0].rows) for member in unlike]
    return PaddedShape(*(max(lengths) for lengths in zip(*shapes, strict=True)))


def batch_size_that_pays(program: Program, lengths: Sequence[int], steps: int) -> int:
    """How many training sets of these lengths, longest first, share a batch: all if the number of blocks is data, or
    every step takes a minibatch; equal ones if a run's bits must not depend on its neighbors; otherwise, padded to the
    longest, those whose padding costs less time than a separate compilation."""
    if program.dynamic_blocks or program.batch_size is not None:
        return len(lengths)
    if program.on.separate:
        return lengths.count(lengths[0])
    wasted = 0.0
    for number, length in enumerate(lengths):
        wasted += (lengths[0] - length) * 3 * program.cost.flops * steps / program.architecture.h200_flops
        if lengths[0] > program.on.padding * length and wasted > COMPILE_SECONDS:
            return number
    return len(lengths)


def out_of_memory(error: BaseException) -> bool:
    """Whether the batch did not fit in memory; half of it may."""
    return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error) or "ut of memory" in str(error)
