"""Puts a planned batch on devices: to train it, to measure its speed, or to compile its program ahead of training."""

import time
from typing import Any

import jax
import numpy as np

from modgrok.experiments.cost import Speed
from modgrok.experiments.planner import PlannedRun, RunBatch
from modgrok.experiments.programs import rates_of
from modgrok.training.batch import LiveBatch, RunInputs, assign_devices, place
from modgrok.training.compilation_cache import enable_cache
from modgrok.training.data import PaddedShape, run_data
from modgrok.training.devices import precision_of, run_bytes
from modgrok.training.program import Program
from modgrok.training.together import compile_advance, compiled_batch, lay_out, stacked_shapes

MEASURED_SECONDS = 0.3
"""Duration of a speed measurement."""


MOVING = (
    "lr lr_embedding coupled_decay coupled_decay_embedding decoupled_decay decoupled_decay_embedding update_noise "
    "weight_noise"
).split()
"""Rates without which no weight changes, so that no run diverges."""


def place_batch(
    batch: RunBatch, devices: tuple[Any, ...], sharing: int | None = None, still: bool = False
) -> LiveBatch:
    """The runs of a batch, ready to train; a single run may be shared by `sharing` devices. Runs that stand still take
    the same steps with weights that do not change."""
    program, used = assign_devices(batch.program, len(batch.members), batch.padded_shape.rows, devices, sharing)
    # Those of runs that differ in their seeds are the same.
    rates = {id(e.like): rates_of(e) for e in {id(e.like): e for e in batch.experiments}.values()}
    zero = {name: np.zeros((), program.dtype) for name in MOVING} if still else {}
    data = {
        key: run_data(program, member.task, member.examples, batch.padded_shape)
        for key, member in {member.examples_key: member for member in batch.members}.items()
    }
    runs = [
        RunInputs(
            data[member.examples_key],
            {name: zero.get(name, rate) for name, rate in rates[id(member.experiment.like)].items()},
            np.uint32(member.experiment.seed),
            np.asarray(1.0 if still else member.experiment.init_scale, program.dtype),
        )
        for member in batch.members
    ]
    return place(program, runs, used)


def measure_speed(batch: RunBatch) -> Speed:
    """Speed of a batch here, from a few steps without divergence; training reuses the compiled program."""
    devices = tuple(jax.local_devices())
    with precision_of(batch.program):
        placed = place_batch(batch, devices, still=True)
        placed.begin()

        def seconds(count: int) -> float:
            began = time.monotonic()
            placed.state, _ = placed.advance(placed.state, 0, count, measured=False)
            return time.monotonic() - began

        compilation, count = seconds(1), 1
        while (spent := seconds(count)) < MEASURED_SECONDS and count < 4096:
            count *= 4
    runs = len(batch.members)
    return Speed(
        f"{len(placed.devices)} × {devices[0].device_kind}",
        runs * count / spent,
        run_bytes(batch.program, batch.padded_shape, batch.evaluated, -(-runs // len(placed.devices))),
        count * batch.step_flops / spent,
        compilation,
    )


def precompile(program: Program, padded: PaddedShape, first: PlannedRun, count: int, devices: tuple[Any, ...]) -> None:
    """Compiles a batch's program into the compilation cache, from one run and the shapes of all."""
    enable_cache()
    with precision_of(program):
        program, used = assign_devices(program, count, padded.rows, devices)
        randomly = compiled_batch(program, used)[0]
        slots = len(lay_out(count, len(used))[0])
        parts = (
            run_data(program, first.task, first.examples, padded),
            rates_of(first.experiment),
            np.uint32(0),
            np.ones((), program.dtype),
        )
        data, rates, seeds, scales = (stacked_shapes(part, slots, used) for part in parts)
        fresh = (seeds, scales, rates)
        randomly.lower(*fresh).compile()
        compile_advance(program, used, count, randomly.eval_shape(*fresh), data, rates, seeds)
