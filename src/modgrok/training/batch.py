"""Many runs at once: one run's program mapped over a leading axis, which is spread over the devices."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from modgrok.training.loop import advance, start, start_randomly
from modgrok.training.program import Program

RUNS = PartitionSpec("runs")


@lru_cache(maxsize=64)
def compiled(
    program: Program, devices: tuple[Any, ...]
) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """`start_randomly`, `start` and `advance` for a whole batch; its size must be a multiple of the number of devices."""
    shared = PartitionSpec()
    mesh = Mesh(np.array(devices), ("runs",))

    def over_runs(function: Callable[..., Any], mapped: int, fixed: int) -> Callable[..., Any]:
        many = jax.vmap(partial(function, program), in_axes=(0,) * mapped + (None,) * fixed)
        specs = (RUNS,) * mapped + (shared,) * fixed
        return jax.jit(jax.shard_map(many, mesh=mesh, in_specs=specs, out_specs=RUNS, check_vma=False))

    return over_runs(start_randomly, 4, 0), over_runs(start, 3, 0), over_runs(advance, 4, 2)


def stack(trees: Sequence[Any], devices: tuple[Any, ...]) -> Any:
    """Equal trees of arrays, one for each run, as one tree with a run axis, laid out over the devices."""
    sharding = NamedSharding(Mesh(np.array(devices), ("runs",)), RUNS)
    return jax.tree.map(
        lambda *leaves: jax.device_put(np.stack([np.asarray(leaf) for leaf in leaves]), sharding), *trees
    )


def take(tree: Any, run: int) -> Any:
    """One run's part of a stacked tree, on the host."""
    return jax.tree.map(lambda leaf: np.asarray(leaf[run]), tree)


def unstack(tree: Any, count: int) -> list[Any]:
    """All runs' parts of a stacked tree, on the host, fetched in one go."""
    host = jax.tree.map(np.asarray, tree)
    return [jax.tree.map(lambda leaf: leaf[run], host) for run in range(count)]  # noqa: B023


def freeze(state: Any, runs: Sequence[int]) -> Any:
    """The batch with some runs stopped where they are."""
    frozen = np.asarray(state.frozen).copy()
    frozen[list(runs)] = True
    return state._replace(frozen=jax.device_put(jnp.asarray(frozen), state.frozen.sharding))
