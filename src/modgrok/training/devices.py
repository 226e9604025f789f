"""Which devices train, and how many runs each holds at once."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import jax

from modgrok.training.data import PaddedShape
from modgrok.training.kernels import kernel_for
from modgrok.training.program import Program, free_bytes

BATCH_FLOATS = 1 << 20
"""Activations of all the runs of one batch on one CPU device, which they pass one after another: a call of the program
then lasts long enough for each run to take several steps."""
CPU_RUNS = 4
"""The fewest runs of a batch on one CPU device, however large they are."""
MEMORY_SHARE = 0.6
"""Part of a device's memory that a batch may plan with."""


def use_all_cores() -> None:
    """One CPU device for each core, so that the runs of a batch train side by side; call before JAX is first used."""
    with contextlib.suppress(RuntimeError):
        if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
            jax.config.update("jax_num_cpu_devices", cores())


def cores() -> int:
    """CPU cores that this process may use, which on a shared machine are not all there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextlib.contextmanager
def precision_of(program: Program) -> Iterator[None]:
    """Inside, arrays of the program's precisions can be made, and products have the precision it asks for: `highest`
    keeps all bits of float32 factors, of which a GPU otherwise takes eleven."""
    full = jax.default_matmul_precision("highest") if program.precision == "highest" else contextlib.nullcontext()
    with jax.enable_x64(program.x64), full:
        yield


def run_bytes(program: Program, padded: PaddedShape, evaluated: int) -> int:
    """Memory that one run of a batch needs while it trains."""
    return program.run_bytes(padded.rows, kernel_for(program).extra_floats(program, padded), evaluated)


def runs_per_device(program: Program, padded: PaddedShape, evaluated: int, device: Any) -> int:
    """How many runs one device trains at once: few on a CPU, what its memory holds elsewhere."""
    fits = max(1, int(MEMORY_SHARE * device_memory(device) / run_bytes(program, padded, evaluated)))
    if program.on.most_runs is not None:
        return min(fits, program.on.most_runs)
    return min(fits, max(CPU_RUNS, BATCH_FLOATS // (padded.rows * program.cost.activations)))


def device_memory(device: Any) -> int:
    """Bytes that one device may use: its own memory, or for CPU devices their share of what the machine has free."""
    if device.platform == "cpu":
        return free_bytes() // max(1, len(jax.local_devices(backend="cpu")))
    statistics = device.memory_stats() or {}
    return int(statistics.get("bytes_limit", 8 << 30))
