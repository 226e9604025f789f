"""What a sweep will cost: time from a measured step, memory and disk from the shapes."""

import dataclasses
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from modgrok.experiments.experiment import Experiment
from modgrok.experiments.run import Run
from modgrok.experiments.store import Store
from modgrok.experiments.sweeps.units import Unit

EVALUATION = 3
"""Steps that one evaluation takes the time of: it looks at all inputs, and takes a gradient beside."""
ROW_BYTES = 260
"""Length of a line of curves."""
MEASURED_SECONDS = 0.3


@dataclass(frozen=True)
class Speed:
    """How fast a batch trains on the devices of one process."""

    devices: str
    run_steps_per_second: float
    memory: int
    """Bytes on each device while it trains."""
    work: float
    """Operations of one of its run-steps; other batches scale with theirs."""
    compilation: float
    """Seconds that its compilation took."""


@dataclass(frozen=True)
class Estimate:
    """Sums over all batches. The time is that of runs that train to their last step, and of compilation; runs that grok
    stop early."""

    speed: Speed
    workers: int
    """Batches that train at the same time, each at that speed."""
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


def estimate(plan: Sequence[Unit], speed: Speed, store: Store, workers: int = 1) -> Estimate:
    """The cost of a plan where `workers` processes train side by side at the measured speed."""
    from modgrok.experiments.batches import program_of

    workers = min(workers, len(plan))
    seconds, run_steps, disk = 0.0, 0, 0
    shapes = set()
    for unit in plan:
        first = unit.experiments[0]
        table = first.load_task(store.tables).table
        arity = table.ndim
        shapes.add((program_of(first, arity, "cpu"), round(first.fraction * table.size), len(unit.experiments)))
        for e in unit.experiments:
            assert e.steps is not None
            steps = e.steps + EVALUATION * min(e.evaluations, e.steps)
            seconds += steps * work(e, arity) / speed.work / speed.run_steps_per_second
            run_steps += e.steps
            weights = (arity + 1) * e.modulus * e.width * (4 if e.precision == "float32" else 8)
            disk += (1 + e.snapshots) * weights + ROW_BYTES * e.evaluations
    seconds += max(0, len(shapes) - 1) * speed.compilation  # one of them was compiled to be measured
    return Estimate(speed, workers, seconds / workers, run_steps, disk)


def work(experiment: Experiment, arity: int) -> float:
    """Operations of one step: three matrix products over the training set, and the update of the weights."""
    p, width = experiment.modulus, experiment.width
    rows = experiment.batch_size or experiment.fraction * p**arity
    return 6 * rows * width * p + 20 * (arity + 1) * p * width


def measure_speed(experiments: Sequence[Experiment], store: Store) -> Speed:
    """Trains the first batch of these for a moment, in a place of its own; its compilation serves the sweep too."""
    import jax
    import numpy as np

    from modgrok.experiments.batches import Planned, plan
    from modgrok.experiments.observer import Observer
    from modgrok.experiments.trainer import BatchTraining
    from modgrok.training.devices import precision, run_bytes

    devices = tuple(jax.local_devices())
    with tempfile.TemporaryDirectory(prefix="modgrok-") as folder:
        place = Store(folder)
        members = []
        for experiment in experiments:
            e = dataclasses.replace(experiment, parent="").resolve()
            task = e.load_task(store.tables)
            members.append(Planned(Run(place.folder / e.id), e, task, e.split.divide(task)[0], 0))
        batch = plan(members, devices)[0]
        with precision(batch.program.precision):
            training = BatchTraining(batch, place, Observer(), devices)

            def seconds(count: int) -> float:
                began = time.monotonic()
                parts = (training.state, training.data, training.rates, training.seeds)
                state, _ = training.advance(*parts, np.int32(0), np.int32(count), np.bool_(False))
                jax.block_until_ready(state)
                return time.monotonic() - began

            compilation = seconds(1)
            count = 1
            while (spent := seconds(count)) < MEASURED_SECONDS and count < 4096:
                count *= 4
    per_device = -(-len(batch.members) // len(training.devices))
    first = batch.members[0]
    return Speed(
        f"{len(training.devices)} × {devices[0].device_kind}",
        len(batch.members) * count / spent,
        per_device * run_bytes(batch.program, batch.rows, batch.slots),
        work(first.experiment, first.task.arity),
        compilation,
    )
