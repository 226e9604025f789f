"""Many runs at once: one run's program mapped over a leading axis, which is spread over the devices.

On a GPU all runs of a device take each step together. On a CPU, whose cache holds one run's activations but not ten
runs', each takes all its steps before the next begins, so that a run in a batch is as fast as alone, and as exact.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from modgrok.training.loop import State, advance, start, start_randomly
from modgrok.training.program import Program

RUNS = PartitionSpec("runs")
OPTIONS: dict[str, dict[str, Any]] = {"gpu": {"xla_gpu_enable_triton_gemm": False}}
"""Compiler options of each platform: without Triton the products are as fast, and compile in a third of the time."""


@lru_cache(maxsize=64)
def compiled(
    program: Program, devices: tuple[Any, ...]
) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """`start_randomly`, `start` and `advance` for a batch whose size is a multiple of the number of devices."""
    shared = PartitionSpec()
    mesh = Mesh(np.array(devices), ("runs",))

    def over_runs(function: Callable[..., Any], mapped: int, fixed: int) -> Callable[..., Any]:
        one = partial(function, program)
        if program.platform == "cpu":

            def many(*values: Any) -> Any:
                return jax.lax.map(lambda run: one(*run, *values[mapped:]), values[:mapped])

        else:
            many = jax.vmap(one, in_axes=(0,) * mapped + (None,) * fixed)
        specs = (RUNS,) * mapped + (shared,) * fixed
        spread = many
        if len(devices) > 1:
            spread = jax.shard_map(many, mesh=mesh, in_specs=specs, out_specs=RUNS, check_vma=False)
        # The layout of `stack`, so that a state is the same to the compiler whether it was made, advanced or restored.
        return jax.jit(spread, out_shardings=NamedSharding(mesh, RUNS), compiler_options=OPTIONS.get(program.platform))

    return over_runs(start_randomly, 4, 0), over_runs(start, 3, 0), over_runs(advance, 4, 3)


def stack(trees: Sequence[Any], devices: tuple[Any, ...]) -> Any:
    """Equal trees of arrays, one for each run, as one tree with a run axis, laid out over the devices."""
    sharding = NamedSharding(Mesh(np.array(devices), ("runs",)), RUNS)
    return jax.tree.map(
        lambda *leaves: jax.device_put(np.stack([np.asarray(leaf) for leaf in leaves]), sharding), *trees
    )


def unstack(tree: Any, count: int) -> list[Any]:
    """All runs' parts of a stacked tree, on the host, fetched in one go."""
    host = jax.tree.map(np.asarray, tree)
    return [jax.tree.map(lambda leaf: np.asarray(leaf[run]), host) for run in range(count)]  # noqa: B023


def select(tree: Any, runs: Sequence[int], devices: tuple[Any, ...]) -> Any:
    """A smaller batch of some of the runs."""
    sharding = NamedSharding(Mesh(np.array(devices), ("runs",)), RUNS)
    chosen = np.asarray(runs)
    return jax.tree.map(lambda leaf: jax.device_put(leaf[chosen], sharding), tree)


def freeze(state: State, runs: Sequence[int]) -> State:
    """The batch with some runs stopped where they are."""
    frozen = np.asarray(state.frozen).copy()
    frozen[list(runs)] = True
    return state._replace(frozen=jax.device_put(frozen, state.frozen.sharding))
