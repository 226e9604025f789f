"""The devices that train, and what a run takes of their memory, cause by cause; `benchmarks/memory.py` measures it.

Counts of arrays are those that XLA's buffer assignment has for the programs of `loop.py`.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modgrok.training.data import PaddedShape
from modgrok.training.kernels import kernel_for
from modgrok.training.program import Program

BATCH_FLOATS = 1 << 20
"""Activations of a batch's runs on one CPU device, which trains them in turn, each several steps per call."""
CPU_RUNS = 4
"""The fewest runs of a batch on one CPU device, regardless of their size."""
MEMORY_SHARE = 0.6
"""Share of a device's memory that a batch may use."""
AVERAGES = {"trace": 1, "nesterov": 1, "rmsprop": 1, "lion": 1, "muon": 1}
"""Arrays of the weights' size in an optimizer's state, by scaling; two for all others, as in Adam's."""
LIVE = {"two-layer": (2, 2)}
"""Arrays of a block's activations and outputs that are alive at once on a CPU, by architecture."""
GENERIC = (1, 6)
"""The same for `value_and_grad`: one-hot inputs and answers are as large as outputs."""
GPU_COPIES = 8
"""Arrays of the weights' size on a GPU, where runs take their steps together: states before and after a call, and what
a step makes between them."""
COMPILATION = 170 << 20
"""What libraries and the compilation of a program take."""
MEMINFO = Path("/proc/meminfo")


def use_all_cores() -> None:
    """Makes JAX offer one CPU device per core, so that runs train in parallel; call before JAX is first used."""
    import jax

    with contextlib.suppress(RuntimeError):
        if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
            jax.config.update("jax_num_cpu_devices", cores())


@contextlib.contextmanager
def precision_of(program: Program) -> Iterator[None]:
    """Enables float64 and full-precision products if the program asks for them: `highest` keeps all bits of float32
    factors, where a GPU otherwise keeps eleven."""
    import jax

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
    import jax

    if device.platform == "cpu":
        return free_bytes() // max(1, len(jax.local_devices(backend="cpu")))
    statistics = device.memory_stats() or {}
    return int(statistics.get("bytes_limit", 8 << 30))


class Memory(NamedTuple):
    """Bytes of one run, by cause."""

    state: int
    """Weights, gradient and optimizer, on each device that shares the run."""
    step: int
    """What a step or an evaluation needs beside the state, likewise."""
    data: int
    """The examples, likewise."""
    task: int
    """The table and what is known of it, on the host."""
    host: int
    """Making the examples, before training starts."""
    files: int
    """A network that is written while the next steps are taken: its copy, and the content of its file."""

    def alone(self, devices: int) -> int:
        """Of a process that trains the run alone, shared by this many devices."""
        return COMPILATION + max(self.host, devices * (self.state + self.step + self.data) + self.files + self.task)

    @property
    def resident(self) -> int:
        """What each run of a batch takes, whichever of them takes a step."""
        return self.state + self.data + self.files


def memory_of(program: Program, rows: int, evaluated: int, extra: int = 0, shared: int = 1) -> Memory:
    """Of a run with `rows` training examples; an evaluation looks at `evaluated`, a kernel keeps `extra` numbers."""
    item, cost, variables = np.dtype(program.dtype).itemsize, program.cost, max(1, len(program.signature.sizes))
    weights = item * cost.parameters
    arrays = 1 + program.exact_gradient + AVERAGES.get(program.scaling, 2) + program.window
    arrays += len({"grokfast_ema", "decay_to_start"} & program.features)
    counted = evaluated if program.dynamic_blocks else rows
    data = 10 * evaluated + (8 + 4 * variables) * counted
    # The table and the numbers of its entries stay; inputs are made in 64 bits before they are in 32.
    task, host = 24 * evaluated, (20 + 32 * variables) * evaluated
    if not program.on.separate:
        blocks, block = program.blocks(rows)
        block = max((5 if blocks == 1 else 4) * block, 3 * program.evaluation_blocks(max(1, evaluated))[1])
        kept = item * (block * (cost.activations + program.signature.outputs) + extra + 8 * evaluated)
        step = (GPU_COPIES + program.window - arrays) * weights + kept
        return Memory(arrays * weights, step, 0, task, host, 2 * weights)
    activations, outputs = LIVE.get(program.architecture.name, GENERIC)
    example = item * (activations * cost.activations + outputs * program.signature.outputs)
    if "dropout" in program.features:
        example += 2 * item * cost.activations  # the mask and its random bits
    halves = 0 if shared > 1 else 1  # one device adds up two parts
    update = (arrays + halves) * weights  # the state after a step is made beside the state before
    gradient = (2 + halves) * weights + program.blocks(rows)[1] * example
    evaluation = (
        item * program.evaluation_blocks(max(1, evaluated))[1] * 2 * (cost.activations + program.signature.outputs)
    )
    if program.architecture.has_waves:
        evaluation += 2 * item * sum(size**2 for size in program.signature.sizes)  # cosines and sines of the spectra
    return Memory(arrays * weights, max(update, gradient, evaluation) + item * extra, data, task, host, 2 * weights)


def free_bytes() -> int:
    """Memory that this machine has left, with what it would give back from caches of files."""
    with contextlib.suppress(OSError, StopIteration):
        lines = MEMINFO.read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    pages = "SC_AVPHYS_PAGES" if "SC_AVPHYS_PAGES" in os.sysconf_names else "SC_PHYS_PAGES"
    return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")


def cores() -> int:
    """CPU cores available to this process, which may be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
