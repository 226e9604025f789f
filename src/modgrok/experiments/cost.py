"""The one cost model: an experiment states operations and bytes, a device has a measured rate, and estimates of time,
limits of memory and plans of batches follow from the two."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.programs import program_of
from modgrok.tasks import Task
from modgrok.text import size
from modgrok.training.devices import cores, free_bytes, memory_of
from modgrok.training.program import Program

COMPILE_SECONDS = 3.0
"""Duration of a compilation."""
STEP_SECONDS = 2e-4
"""Overhead of a step on a CPU besides its products."""
GPU_STEP_SECONDS = 4e-5
"""The shortest step on an H200."""
CPU_EFFICIENCY = 0.75
"""Share of NumPy's rate of matrix products that training reaches."""
LAST_STATE = 4
"""Size of the final state of a run with snapshots, in units of its weights: with gradient and moving averages."""
ROW_BYTES = 300
"""Bytes of a line of curves."""
RUN_SHARE = 0.8
"""Share of the free memory that one run may use."""


@dataclass(frozen=True)
class Work:
    """The cost of one resolved experiment."""

    program: Program
    flops: float
    """FLOPs of all steps and evaluations."""
    steps: int
    memory: int
    """Bytes of a process that trains it alone."""
    disk: int
    """Bytes of its networks and curves in the store."""

    @property
    def cpu_seconds(self) -> float:
        """Time on the CPU of this machine."""
        return self.flops / cpu_rate() + self.steps * STEP_SECONDS


def work(experiment: Experiment, task: Task, on_cpu: bool = True) -> Work:
    """The cost of a resolved experiment; of memory only what the host needs, where other devices train it."""
    assert experiment.steps is not None
    program = program_of(experiment, task, "cpu")
    trained, tested = experiment.split.counts(task)
    rows = experiment.batch_size or trained
    largest = trained or rows  # Evaluations take the gradient over the training set.
    shared = program.sharing(largest, min(program.on.most_sharing, cores()))
    evaluated, evaluations = evaluated_examples(experiment, task), min(experiment.evaluations + 2, experiment.steps + 1)
    # An evaluation looks at everything once and takes the gradient over the training set.
    evaluation = evaluated * program.cost.flops + program.step_flops(trained or tested)
    item = np.dtype(program.dtype).itemsize
    kept = experiment.snapshots + LAST_STATE if experiment.snapshots else 0
    return Work(
        program,
        experiment.steps * program.step_flops(rows) + evaluations * evaluation,
        experiment.steps,
        memory_of(program, largest, evaluated, shared=shared).alone(shared if on_cpu else 0),
        (1 + kept) * item * program.cost.parameters + ROW_BYTES * evaluations,
    )


def evaluated_examples(experiment: Experiment, task: Task) -> int:
    """Number of examples in one evaluation: the whole table, holes included, or all examples."""
    return math.prod(task.sizes) if task.table is not None else sum(experiment.split.counts(task))


def check_memory(experiments: Sequence[Experiment], tasks: Sequence[Task], on_cpu: bool = True) -> None:
    """Raises, before anything is allocated, where a run needs more memory than this machine has free."""
    free = free_bytes()
    for experiment, task in dict(zip(experiments, tasks, strict=True)).items():
        needed = work(experiment, task, on_cpu).memory
        if needed > RUN_SHARE * free:
            raise ModgrokError(
                f"{experiment.task} with a {experiment.network} network of width {experiment.architecture.width} needs "  # type: ignore[attr-defined]
                f"about {size(needed)} while it trains, and {size(free)} are free; take a smaller width, "
                f"modulus or batch."
            )


def gpu_seconds(parts: Sequence[Work]) -> float:
    """Time on an H200, where the runs of a program train together."""
    batches: dict[Program, list[Work]] = {}
    for part in parts:
        batches.setdefault(part.program, []).append(part)
    return sum(
        batch_seconds(program, sum(part.flops for part in some), max(part.steps for part in some))
        for program, some in batches.items()
    )


def batch_seconds(program: Program, flops: float, steps: int) -> float:
    """Time of a batch on an H200, from the FLOPs of all its runs."""
    return max(flops / program.architecture.h200_flops, GPU_STEP_SECONDS * steps)


@cache
def cpu_rate() -> float:
    """FLOPs per second that training reaches on this CPU, from a tenth of a second of matrix products."""
    a, b = np.ones((2048, 500), np.float32), np.ones((500, 97), np.float32)
    best = math.inf
    for _ in range(6):
        began = time.perf_counter()
        a @ b
        best = min(best, time.perf_counter() - began)
    return CPU_EFFICIENCY * 2 * a.size * b.shape[1] / best


@dataclass(frozen=True)
class Speed:
    """Measured speed of a batch on the devices of one process."""

    devices: str
    run_steps_per_second: float
    memory: int
    """Memory per device, in bytes."""
    rate: float
    """FLOPs per second, assumed to be the same for other batches."""
    compilation: float
    """Duration of its compilation."""


@dataclass(frozen=True)
class Estimate:
    """Sums over all batches, compilation included, if all runs train to their last step; runs that grok stop early."""

    speed: Speed
    workers: int
    """Batches that train in parallel, each at that speed."""
    seconds: float
    run_steps: int
    disk: int
    """Bytes of networks and curves in the store."""

    def as_dict(self) -> dict[str, Any]:
        """The estimate as JSON values."""
        return {
            "workers": self.workers,
            "devices": self.speed.devices,
            "run_steps_per_second": round(self.speed.run_steps_per_second, 1),
            "memory_bytes": self.speed.memory,
            "seconds": round(self.seconds, 1),
            "run_steps": self.run_steps,
            "disk_bytes": self.disk,
        }


def estimate(batches: Sequence[Any], speed: Speed, workers: int = 1) -> Estimate:
    """The cost of a plan where `workers` processes train side by side at the measured speed."""
    workers = max(1, min(workers, len(batches)))
    parts = [work(member.experiment, member.task) for batch in batches for member in batch.members]
    shapes = {(batch.program, batch.padded_shape, len(batch.members)) for batch in batches}
    compiling = max(0, len(shapes) - 1) * speed.compilation  # one of them was compiled to be measured
    seconds = sum(part.flops for part in parts) / speed.rate + compiling
    return Estimate(
        speed, workers, seconds / workers, sum(part.steps for part in parts), sum(part.disk for part in parts)
    )
