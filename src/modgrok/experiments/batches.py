"""Experiments grouped into batches that train as one array program."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from modgrok.experiments.experiment import Experiment
from modgrok.experiments.optimizers import OPTIMIZERS
from modgrok.experiments.run import Run
from modgrok.tasks import Task
from modgrok.training.devices import runs_per_device
from modgrok.training.examples import capacity, slots
from modgrok.training.optimizer import Rates
from modgrok.training.program import Program

PADDING = {"cpu": 1.0, "gpu": 1.4}
"""How much longer than the smallest the largest training set of a batch may be: shorter ones are padded to it.

On a CPU only equal lengths go together, so that a run's bits do not depend on its neighbours.
"""
COMPILE_SECONDS = 3.0
"""What a compilation takes on a GPU."""
ROW_SECONDS = 1.2e-13
"""What a GPU takes for one step of one run: this, times training examples, neurons and answers."""


@dataclass(frozen=True, eq=False)
class Planned:
    """One run that is to be trained, and from where."""

    run: Run
    experiment: Experiment
    """Resolved."""
    task: Task
    train: Int[np.ndarray, "train"]
    step: int
    """Where its checkpoint stands; 0 for a fresh run."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Runs of one program, at one step."""

    program: Program
    members: tuple[Planned, ...]
    rows: int
    slots: int

    @property
    def step(self) -> int:
        return self.members[0].step

    @property
    def schedule(self) -> tuple[Any, Any]:
        return self.members[0].experiment.schedule


def program_of(experiment: Experiment, arity: int, platform: str) -> Program:
    """The static part of a resolved experiment."""
    optimizer = OPTIMIZERS[experiment.optimizer]
    return Program(
        experiment.modulus,
        arity,
        experiment.width,
        experiment.activation,
        experiment.parametrization,
        experiment.loss,
        optimizer.family,
        optimizer.nesterov,
        experiment.batch_size,
        experiment.dropout > 0,
        experiment.batch_norm,
        experiment.precision,
        platform,
    )


def rates_of(experiment: Experiment) -> Rates:
    """The numbers of a resolved experiment that may differ within a batch."""
    decay = experiment.weight_decay
    rates = Rates(
        experiment.lr,
        experiment.momentum,
        0.0 if experiment.decoupled else decay,
        decay if experiment.decoupled else 0.0,
        experiment.beta1,
        experiment.beta2,
        experiment.epsilon,
        experiment.dropout,
    )
    return Rates(*(np.asarray(rate, dtype=experiment.precision) for rate in rates))


def plan(members: Sequence[Planned], devices: Sequence[Any]) -> list[Batch]:
    """Batches of equal programs and schedules, cut to what the devices hold; the longest training sets go first."""
    platform = devices[0].platform
    groups: dict[Any, list[Planned]] = {}
    for member in members:
        program = program_of(member.experiment, member.task.arity, platform)
        e = member.experiment
        # Minibatches are drawn from the whole training set, so its length is part of their program.
        length = len(member.train) if program.batch_size is not None else None
        key = (program, e.steps, e.evaluations, e.snapshots, member.step, length, bool(e.parent))
        groups.setdefault(key, []).append(member)
    return [batch for key, group in groups.items() for batch in _cut(key[0], group, devices)]


def _cut(program: Program, group: list[Planned], devices: Sequence[Any]) -> list[Batch]:
    group = sorted(group, key=lambda member: -len(member.train))
    batches: list[Batch] = []
    while group:
        rows = len(group[0].train)
        steps = group[0].experiment.steps or 0
        near = group[: together(program, [len(member.train) for member in group], steps)]
        longest = max(slots(member.task, member.train) for member in near) if program.gathers else 0
        rows = capacity(rows) if program.gathers else rows
        size = runs_per_device(program, rows, longest, devices[0]) * len(devices)
        count = -(-len(near) // size)
        size = -(-len(near) // count)  # equal batches, so that one compilation serves them all
        batches += [
            Batch(program, tuple(near[start : start + size]), rows, longest) for start in range(0, len(near), size)
        ]
        group = group[len(near) :]
    return batches


def together(program: Program, lengths: Sequence[int], steps: int) -> int:
    """How many training sets of these lengths, the longest first, share a batch, padded to the longest: on a GPU also
    those whose padding takes less time than a compilation of their own would."""
    padding = PADDING["cpu" if program.platform == "cpu" else "gpu"]
    wasted = 0.0
    for number, length in enumerate(lengths):
        wasted += (lengths[0] - length) * program.width * program.modulus * steps * ROW_SECONDS
        if lengths[0] > padding * length and (program.platform == "cpu" or wasted > COMPILE_SECONDS):
            return number
    return len(lengths)
