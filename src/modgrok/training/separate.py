"""Runs that take their steps in calls of their own: one program for one run, whatever trains beside it.

So a run has the same bits alone, in a batch of any size, resumed, and on another machine of the same kind. As many
threads as there are devices call it side by side. A large run that is alone is shared by several devices instead, each
of which takes a part of its examples: two add up to the same bits as one, more than two round differently.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from modgrok.networks.architecture import Parameters
from modgrok.training.batch import LiveBatch, RunInputs
from modgrok.training.data import Batch, RunData
from modgrok.training.devices import precision_of
from modgrok.training.evaluation import recorded_names
from modgrok.training.loop import State, advance, start, start_randomly
from modgrok.training.program import EXAMPLES, Program

EVERYWHERE, BLOCKS = PartitionSpec(), PartitionSpec(EXAMPLES)
SHARED_DATA = RunData(Batch(BLOCKS, BLOCKS, BLOCKS, EVERYWHERE, BLOCKS), *[EVERYWHERE] * (len(RunData._fields) - 1))
"""Partition of a run's data over the devices that share it."""


class SeparateRuns(LiveBatch):
    """The state is a list with one entry per run; None if the run is frozen."""

    idle_share = 0.0

    def __init__(self, program: Program, runs: Sequence[RunInputs], devices: tuple[Any, ...]) -> None:
        self.program, self.devices = program, devices
        self._data_sharding, self._sharding = shardings(program, devices)
        self._randomly, self._from_weights, self._advance = compiled_run(program, devices[: program.shared])
        self.runs = [RunInputs(self._placed(one.data), *jax.device_put(one[1:], self._sharding)) for one in runs]
        self._workers = len(devices) // program.shared
        self._threads = ThreadPoolExecutor(self._workers)
        self._called = False

    def begin(self, weights: Sequence[Parameters] | None = None) -> None:
        if weights is None:
            self.state = [self._randomly(run.seed, run.init_scale, run.rates) for run in self.runs]
        else:
            pairs = zip(weights, self.runs, strict=True)
            self.state = [self._from_weights(one, run.rates) for one, run in pairs]

    def restore(self, states: Sequence[State]) -> None:
        self.state = [jax.device_put(state, self._sharding) for state in states]

    @property
    def state_shapes(self) -> State:
        first = self.runs[0]
        return self._randomly.eval_shape(first.seed, first.init_scale, first.rates)

    def advance(
        self, state: list[State | None], step: int, count: int, measured: bool
    ) -> tuple[list[State | None], dict[str, np.ndarray]]:
        names = recorded_names(self.program)
        after: list[State | None] = [None] * len(state)
        values = np.full((len(names), len(state)), np.nan, self.program.dtype)
        going = iter([run for run, one in enumerate(state) if one is not None])
        when = np.int32(step), np.int32(count), np.bool_(measured)

        def take(runs: Iterable[int]) -> None:
            with precision_of(self.program):
                for run in runs:
                    data, rates, seed, _ = self.runs[run]
                    after[run], measurement = jax.block_until_ready(self._advance(state[run], data, rates, seed, *when))
                    if measured:
                        values[:, run] = measurement

        if not self._called:
            take(itertools.islice(going, 1))  # It alone compiles the program.
            self._called = True
        # Each thread takes the next run that nobody has taken yet.
        for thread in [self._threads.submit(take, going) for _ in range(self._workers)]:
            thread.result()
        return after, dict(zip(names, values, strict=True))

    def copy_state(self, state: list[State | None]) -> list[State | None]:
        return [jax.tree.map(lambda leaf: jax.device_put(leaf, leaf.sharding, may_alias=False), one) for one in state]

    def freeze(self, state: list[State | None], runs: Iterable[int]) -> list[State | None]:
        stopped = set(runs)
        return [None if run in stopped else one for run, one in enumerate(state)]

    def diverged_at(self) -> np.ndarray:
        return np.array([-1 if one is None else int(one.diverged_at) for one in self.state])

    def states(self, state: list[State | None], runs: Sequence[int]) -> list[State]:
        return [jax.tree.map(lambda leaf: np.asarray(leaf.addressable_data(0)), state[run]) for run in runs]

    def weights(self, runs: Sequence[int]) -> list[Parameters]:
        return [jax.tree.map(lambda leaf: np.array(leaf.addressable_data(0)), self.state[run].weights) for run in runs]

    def data_of(self, runs: Sequence[int]) -> list[RunData]:
        return [self.runs[run].data for run in runs]

    def _placed(self, data: RunData) -> RunData:
        """Puts data on the devices; devices that share a run each get their part of the blocks."""
        place = lambda sharding, part: jax.tree.map(lambda leaf: jax.device_put(leaf, sharding), part)  # noqa: E731
        is_leaf = lambda node: isinstance(node, NamedSharding | SingleDeviceSharding)  # noqa: E731
        return jax.tree.map(place, self._data_sharding, data, is_leaf=is_leaf)


def shardings(program: Program, devices: tuple[Any, ...]) -> tuple[Any, Any]:
    """Shardings of a run's data and of its state."""
    if program.shared == 1:
        one = SingleDeviceSharding(devices[0])
        return one, one
    mesh = Mesh(np.array(devices), (EXAMPLES,))
    return jax.tree.map(partial(NamedSharding, mesh), SHARED_DATA), NamedSharding(mesh, EVERYWHERE)


@lru_cache(maxsize=64)
def compiled_run(program: Program, devices: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Jitted `start_randomly`, `start` and `advance` of one run; `advance` donates the state and returns its
    measurements as one array."""
    alone = dataclasses.replace(program, shared=1)
    sharding = shardings(program, devices)[1]

    def jit(function: Callable[..., Any], **more: Any) -> Any:
        return jax.jit(function, out_shardings=sharding, compiler_options=dict(program.on.compiler_options), **more)

    def stepping(*values: Any) -> tuple[State, Any]:
        state, measurement = advance(program, *values)
        return state, jnp.stack(jax.lax.optimization_barrier([measurement[name] for name in recorded_names(program)]))

    if program.shared > 1:
        specs = (EVERYWHERE, SHARED_DATA, *[EVERYWHERE] * 5)
        mesh = Mesh(np.array(devices), (EXAMPLES,))
        stepping = jax.shard_map(stepping, mesh=mesh, in_specs=specs, out_specs=EVERYWHERE, check_vma=False)
    return jit(partial(start_randomly, alone)), jit(partial(start, alone)), jit(stepping, donate_argnums=0)
