"""What is timed against each other: our program, for one run and for a batch, and its matrix products alone."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from modgrok.experiments.bench import Workload
from modgrok.experiments.placement import place_batch
from modgrok.experiments.planner import RunBatch, batch_limit, plan_experiments
from modgrok.experiments.store import Store
from modgrok.shapes import Float


class ModgrokTraining:
    """Our own compiled program, on `runs` networks at once."""

    def __init__(self, workload: Workload, runs: int, devices: Sequence[Any]) -> None:
        self.runs = runs
        batch = planned_batch(workload, runs, devices)
        self._runs = place_batch(batch, tuple(devices))
        self._runs.begin()
        self._step = 0

    def take(self, steps: int) -> None:
        self._runs.state, _ = self._runs.advance(self._runs.state, self._step, steps, measured=False)
        jax.block_until_ready(self._runs.state)
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


def planned_batch(workload: Workload, runs: int, devices: Sequence[Any]) -> RunBatch:
    """One batch of `runs` networks."""
    experiments = [workload.experiment(seed) for seed in range(runs)]
    (batch,) = plan_experiments(experiments, Store(), devices[0].platform, lambda *_: runs)
    return batch


def preferred_runs(workload: Workload, devices: Sequence[Any]) -> int:
    """How many networks these devices train at once."""
    batch = planned_batch(workload, 1, devices)
    return batch_limit(devices)(batch.program, batch.padded_shape, batch.evaluated)


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
