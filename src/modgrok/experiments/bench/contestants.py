"""What is timed against each other: our program, for one run and for a batch, and its matrix products alone."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from modgrok.experiments.batches import program_of, rates_of
from modgrok.experiments.bench.workload import Workload
from modgrok.training.batch import compiled, divided, stack
from modgrok.training.devices import runs_per_device
from modgrok.training.examples import capacity, run_data, slots
from modgrok.training.program import Program


class Training:
    """Our own compiled program, on `runs` networks at once."""

    def __init__(self, workload: Workload, runs: int, devices: Sequence[Any]) -> None:
        experiments = [workload.experiment(seed) for seed in range(runs)]
        task = experiments[0].load_task()
        program = program_of(experiments[0], task.arity, devices[0].platform)
        train = [e.split.divide(task)[0] for e in experiments]
        rows, slot_count = shape_of(program, workload, train)
        program, used = divided(program, runs, rows, tuple(devices))
        begin, _, self._advance = compiled(program, used)
        self._data = stack([run_data(program, task, examples, rows, slot_count) for examples in train], program, used)
        self._rates = stack([rates_of(e) for e in experiments], program, used)
        self._seeds = stack([np.uint32(e.seed) for e in experiments], program, used)
        scales = stack([np.float32(e.init_scale) for e in experiments], program, used)
        self._state = begin(self._seeds, scales, self._rates, self._data.examples)
        self._step = 0

    def take(self, steps: int) -> None:
        numbers = np.int32(self._step), np.int32(steps), np.bool_(False)
        self._state, _ = self._advance(self._state, self._data, self._rates, self._seeds, *numbers)
        jax.block_until_ready(self._state)
        self._step += steps


class JaxProducts:
    """The three products of a step in JAX, for `runs` networks at once; each step feeds the next: none is skipped."""

    def __init__(self, workload: Workload, runs: int = 1) -> None:
        hidden, readout = operands(workload)
        self._hidden = jnp.broadcast_to(jnp.asarray(hidden), (runs, *hidden.shape))
        self._readout = jnp.broadcast_to(jnp.asarray(readout), (runs, *readout.shape))

    def take(self, steps: int) -> None:
        jax.block_until_ready(_products(self._hidden, self._readout, np.int32(steps)))


class NumpyProducts:
    """The three products of a step in NumPy."""

    def __init__(self, workload: Workload) -> None:
        self._hidden, self._readout = operands(workload)

    def take(self, steps: int) -> None:
        for _ in range(steps):
            out = self._hidden @ self._readout.T
            _ = out @ self._readout
            _ = out.T @ self._hidden


def preferred_runs(workload: Workload, devices: Sequence[Any]) -> int:
    """How many networks these devices train at once."""
    experiment = workload.experiment(0)
    task = experiment.load_task()
    program = program_of(experiment, task.arity, devices[0].platform)
    rows, slot_count = shape_of(program, workload, [experiment.split.divide(task)[0]])
    return runs_per_device(program, rows, slot_count, devices[0]) * len(devices)


def shape_of(program: Program, workload: Workload, train: Sequence[np.ndarray]) -> tuple[int, int]:
    """Rows and slots that hold these training sets."""
    if not program.gathers:
        return workload.examples, 0
    task = workload.experiment(0).load_task()
    return capacity(workload.examples), max(slots(task, examples) for examples in train)


def operands(workload: Workload) -> tuple[Float[np.ndarray, "train N"], Float[np.ndarray, "p N"]]:
    """Activations, and a readout with orthonormal rows or columns: repeated products neither grow nor vanish."""
    random = np.random.default_rng(0)
    p, width = workload.modulus, workload.width
    basis = np.linalg.qr(random.standard_normal((max(p, width), min(p, width))))[0]
    readout = basis if p >= width else basis.T
    hidden = random.standard_normal((workload.examples, width))
    return hidden.astype(np.float32), np.ascontiguousarray(readout.astype(np.float32))


@jax.jit
def _products(hidden: Any, readout: Any, steps: Any) -> Any:
    def body(_: Any, state: Any) -> Any:
        hidden, _ = state
        out = jnp.einsum("btn,bpn->btp", hidden, readout)
        return jnp.einsum("btp,bpn->btn", out, readout), jnp.einsum("btp,btn->bpn", out, hidden)

    return jax.lax.fori_loop(jnp.zeros_like(steps), steps, body, (hidden, readout))
