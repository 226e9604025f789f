"""Runs that take every step together: one run's program under `vmap`, sharded over the devices."""

import gc
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from modgrok.networks.architecture import Parameters
from modgrok.training.batch import LiveBatch, RunInputs, assign_devices
from modgrok.training.data import RunData
from modgrok.training.evaluation import recorded_names
from modgrok.training.loop import State, advance, start, start_randomly
from modgrok.training.program import Program

RUNS = PartitionSpec("runs")
FEW = 8
"""Up to a batch's size divided by this, runs are fetched from the device one by one."""


class RunsTogether(LiveBatch):
    """The state has a leading axis of slots, equally many on every device; idle slots hold frozen copies of a run."""

    idle_share = 1.0

    def __init__(self, program: Program, runs: Sequence[RunInputs], devices: tuple[Any, ...]) -> None:
        self._choose(program, devices, len(runs))
        self.data, self.rates, self.seeds, self.scales = (self._stacked(values) for values in zip(*runs, strict=True))

    def _choose(self, program: Program, devices: tuple[Any, ...], runs: int) -> None:
        self.program, self.devices = program, devices
        self._randomly, self._from_weights, self._advance = compiled_batch(self.program, self.devices)
        self.axis, self.slots = lay_out(runs, len(self.devices))

    def begin(self, weights: Sequence[Parameters] | None = None) -> None:
        if weights is None:
            self._place(self._randomly(*self._fresh))
        else:
            self._place(self._from_weights(self._stacked(weights), *self._fresh[2:]))

    def restore(self, states: Sequence[State]) -> None:
        self._place(self._stacked(states))

    @property
    def state_shapes(self) -> State:
        return self._randomly.eval_shape(*self._fresh)

    def advance(self, state: State, step: int, count: int, measured: bool) -> tuple[State, Any]:
        parts = (state, self.data, self.rates, self.seeds, np.int32(step), np.int32(count), np.bool_(measured))
        result: tuple[State, Any] = jax.block_until_ready(self._advance(*parts))
        return result

    def fetch(self, measurement: Any) -> dict[str, np.ndarray]:
        return dict(zip(recorded_names(self.program), np.asarray(measurement)[self.slots].T, strict=True))

    def copy_state(self, state: State) -> State:
        return state  # which `advance` leaves alone

    def freeze(self, state: State, runs: Iterable[int]) -> State:
        return _freeze(state, self._slots(runs))

    def diverged_at(self) -> np.ndarray:
        return np.asarray(self.state.diverged_at)[self.slots]

    def states(self, state: State, runs: Sequence[int]) -> list[State]:
        return unstack(state, self._slots(runs), len(self.axis))

    def weights(self, runs: Sequence[int]) -> list[Parameters]:
        return unstack(self.state.weights, self._slots(runs), len(self.axis))

    def data_of(self, runs: Sequence[int]) -> list[RunData]:
        return unstack(self.data, self._slots(runs), len(self.axis))

    def compile_smaller(self, count: int) -> None:
        program, devices = assign_devices(self.program, count, 0, self.devices)
        compile_advance(program, devices, count, self.state, self.data, self.rates, self.seeds)

    def shrink(self, runs: Sequence[int]) -> None:
        before, parts = self._slots(runs), (self.state, self.data, self.rates, self.seeds, self.scales)
        self._choose(*assign_devices(self.program, len(runs), 0, self.devices), len(runs))
        chosen = np.asarray([before[i] for i in self.axis])
        # By way of the host, where nothing has to be compiled for it.
        state, self.data, self.rates, self.seeds, self.scales = (
            jax.tree.map(lambda leaf: jax.device_put(np.asarray(leaf)[chosen], self._sharding), part) for part in parts
        )
        self._place(state)

    @property
    def _fresh(self) -> tuple[Any, ...]:
        return self.seeds, self.scales, self.rates

    @property
    def _sharding(self) -> NamedSharding:
        return NamedSharding(Mesh(np.array(self.devices), ("runs",)), RUNS)

    def _stacked(self, values: Sequence[Any]) -> Any:
        return stack([values[i] for i in self.axis], self._sharding)

    def _place(self, state: State) -> None:
        empty = sorted(set(range(len(self.axis))) - set(self.slots))
        self.state = _freeze(state, empty) if empty else state

    def _slots(self, runs: Iterable[int]) -> list[int]:
        return [self.slots[i] for i in runs]


def lay_out(runs: int, devices: int) -> tuple[list[int], list[int]]:
    """The run in each slot of a batch, and the slot of each run; every device has equally many slots."""
    each = -(-runs // devices)
    axis: list[int] = []
    slots: list[int] = []
    for part in np.array_split(np.arange(runs), devices):
        slots += range(len(axis), len(axis) + len(part))
        axis += [*part.tolist(), *[int(part[-1])] * (each - len(part))]
    return axis, slots


@lru_cache(maxsize=64)
def compiled_batch(program: Program, devices: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """`start_randomly`, `start` and `advance` for a batch whose size is a multiple of the number of devices."""
    mesh = Mesh(np.array(devices), ("runs",))

    def over_runs(function: Callable[..., Any], mapped: int, fixed: int = 0) -> Any:
        many = jax.vmap(partial(function, program), in_axes=(0,) * mapped + (None,) * fixed)
        if len(devices) > 1:
            specs = (RUNS,) * mapped + (PartitionSpec(),) * fixed
            many = jax.shard_map(many, mesh=mesh, in_specs=specs, out_specs=RUNS, check_vma=False)
        # The layout of `stack`, so that a state is the same to the compiler whether it was made, advanced or restored.
        options = dict(program.on.compiler_options)
        return jax.jit(many, out_shardings=NamedSharding(mesh, RUNS), compiler_options=options)

    return over_runs(start_randomly, 3), over_runs(start, 2), over_runs(_advance, 4, 3)


def compile_advance(program: Program, devices: tuple[Any, ...], runs: int, *parts: Any) -> None:
    """Compiles `advance` for a number of runs, whose state, data, rates and seeds are like these stacked ones."""
    count, sharding = len(lay_out(runs, len(devices))[0]), NamedSharding(Mesh(np.array(devices), ("runs",)), RUNS)
    like = lambda leaf: jax.ShapeDtypeStruct((count, *leaf.shape[1:]), leaf.dtype, sharding=sharding)  # noqa: E731
    shapes = jax.tree.map(like, parts)
    advance = compiled_batch(program, devices)[2]
    advance.lower(*shapes, np.int32(0), np.int32(1), np.bool_(False)).compile()


def _advance(program: Program, *parts: Any) -> tuple[State, Any]:
    """With measurements in one array: the thread that fetches many waits for Python after each, the device idle."""
    state, found = advance(program, *parts)
    return state, jnp.stack([found[name] for name in recorded_names(program)])


def forget_programs() -> None:
    """Frees the GPU memory held by the programs of earlier batches."""
    compiled_batch.cache_clear()
    jax.clear_caches()
    gc.collect()


def stack(trees: Sequence[Any], sharding: Any) -> Any:
    """Stacks the arrays of all runs along a leading axis, sharded over the devices."""
    return jax.tree.map(
        lambda *leaves: jax.device_put(np.stack([np.asarray(leaf) for leaf in leaves]), sharding), *trees
    )


def stacked_shapes(tree: Any, count: int, devices: tuple[Any, ...]) -> Any:
    """Shapes, dtypes and shardings that `stack` would give for `count` such trees."""
    sharding = NamedSharding(Mesh(np.array(devices), ("runs",)), RUNS)
    return jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct((count, *np.shape(leaf)), np.asarray(leaf).dtype, sharding=sharding), tree
    )


def unstack(tree: Any, slots: Sequence[int], count: int) -> list[Any]:
    """Some of `count` slots of a stacked tree, on the host: few are fetched one by one, many in a single transfer."""
    if FEW * len(slots) > count:
        host = jax.device_get(tree)
        return [jax.tree.map(lambda leaf: np.asarray(leaf[slot]), host) for slot in slots]  # noqa: B023
    return [jax.device_get(_pick(tree, np.int32(slot))) for slot in slots]


@jax.jit
def _pick(tree: Any, slot: Any) -> Any:
    return jax.tree.map(lambda leaf: jax.lax.dynamic_index_in_dim(leaf, slot, keepdims=False), tree)


def _freeze(state: State, slots: Sequence[int]) -> State:
    frozen = np.asarray(state.frozen).copy()
    frozen[list(slots)] = True
    return state._replace(frozen=jax.device_put(frozen, state.frozen.sharding))
