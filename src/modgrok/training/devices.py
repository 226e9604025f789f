"""Which devices train, and how many runs each holds at once."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import jax

from modgrok.training.data import PaddedShape
from modgrok.training.kernels import kernel_for
from modgrok.training.memory import cores, free_bytes, memory_of
from modgrok.training.program import Program

BATCH_FLOATS = 1 << 20
"""Activations of all runs of a batch on one CPU device, which trains them in turn: small enough for each run to take
several steps per call."""
CPU_RUNS = 4
"""The fewest runs of a batch on one CPU device, regardless of their size."""
MEMORY_SHARE = 0.6
"""Share of a device's memory that a batch may use."""


def use_all_cores() -> None:
    """Makes JAX offer one CPU device per core, so that runs train in parallel; call before JAX is first used."""
    with contextlib.suppress(RuntimeError):
        if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
            jax.config.update("jax_num_cpu_devices", cores())


@contextlib.contextmanager
def precision_of(program: Program) -> Iterator[None]:
    """Enables float64 and full-precision products if the program asks for them: `highest` keeps all bits of float32
    factors, where a GPU otherwise keeps eleven."""
    full = jax.default_matmul_precision("highest") if program.precision == "highest" else contextlib.nullcontext()
    with jax.enable_x64(program.x64), full:
        yield


def run_bytes(program: Program, padded: PaddedShape, evaluated: int, runs: int = 1) -> int:
    """Memory that this many runs of a batch take on one device."""
    each, once = _bytes(program, padded, evaluated)
    return runs * each + once


def _bytes(program: Program, padded: PaddedShape, evaluated: int) -> tuple[int, int]:
    """What each run takes, and what one takes a step in where they take turns."""
    extra = kernel_for(program).extra_floats(padded)
    one = memory_of(program, padded.rows, evaluated, extra)
    return (one.resident, one.step) if program.on.separate else (one.state + one.step, 0)


def runs_per_device(program: Program, padded: PaddedShape, evaluated: int, device: Any) -> int:
    """How many runs one device trains at once: few on a CPU, as many as fit in memory elsewhere."""
    each, once = _bytes(program, padded, evaluated)
    fits = max(1, int((MEMORY_SHARE * device_memory(device) - once) / each))
    if program.on.most_runs is not None:
        return min(fits, program.on.most_runs)
    return min(fits, max(CPU_RUNS, BATCH_FLOATS // (padded.rows * program.cost.activations)))


def device_memory(device: Any) -> int:
    """Bytes that one device may use: its own memory, or for CPU devices their share of what the machine has free."""
    if device.platform == "cpu":
        return free_bytes() // max(1, len(jax.local_devices(backend="cpu")))
    statistics = device.memory_stats() or {}
    return int(statistics.get("bytes_limit", 8 << 30))
