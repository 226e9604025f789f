"""Which devices train, and how many runs each holds at once."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from modgrok.training.program import Program

BATCH_FLOATS = 1 << 20
"""Activations of all the runs of one batch on one CPU device, which they pass one after another: a call of the program
then lasts long enough for each run to take several steps."""
CPU_RUNS = 4
"""The fewest runs of a batch on one CPU device, however large they are."""
GPU_RUNS = 512
"""The most runs of one batch on a GPU: by then it is busy, and smaller batches lose less when one is interrupted."""
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
def precision(name: str) -> Iterator[None]:
    """Inside, arrays of that precision can be made."""
    with jax.enable_x64(name == "float64"):
        yield


def run_bytes(program: Program, rows: int, slots: int) -> int:
    """Memory that one run of a batch needs while it trains: weights, optimizer, activations and their derivatives."""
    weights = (program.arity + 1) * program.modulus * program.width
    blocks, block = program.blocks(rows)
    activations = (5 if blocks == 1 else 4) * block * (program.width + program.modulus)
    gathered = program.arity * program.modulus * slots * program.width if program.gathers else 0
    table = 4 * program.modulus**program.arity
    return np.dtype(program.precision).itemsize * (8 * weights + activations + gathered + table)


def runs_per_device(program: Program, rows: int, slots: int, device: Any) -> int:
    """How many runs one device trains at once: few on a CPU, what its memory holds elsewhere."""
    fits = max(1, int(MEMORY_SHARE * device_memory(device) / run_bytes(program, rows, slots)))
    if device.platform != "cpu":
        return min(fits, GPU_RUNS)
    return min(fits, max(CPU_RUNS, BATCH_FLOATS // (rows * program.width)))


def device_memory(device: Any) -> int:
    """Bytes that one device may use: its own memory, or for CPU devices their share of what the machine has free."""
    if device.platform == "cpu":
        pages = "SC_AVPHYS_PAGES" if "SC_AVPHYS_PAGES" in os.sysconf_names else "SC_PHYS_PAGES"
        free = os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
        return free // max(1, len(jax.local_devices(backend="cpu")))
    statistics = device.memory_stats() or {}
    return int(statistics.get("bytes_limit", 8 << 30))
