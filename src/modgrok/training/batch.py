"""Many runs at once: one run's program mapped over a leading axis, which is spread over the devices.

On a GPU all runs of a device take each step together. On a CPU, whose cache holds one run's activations but not ten
runs', each takes all its steps before the next begins, so that a run in a batch has the bits that it has alone. A
large run that is alone keeps several cores busy: each takes a part of its examples. Two add up to the same bits as one;
more than two round differently.
"""

import dataclasses
import gc
import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from modgrok.training.data import Batch, RunData
from modgrok.training.kept_programs import keep
from modgrok.training.loop import State, advance, start, start_randomly
from modgrok.training.program import EXAMPLES, Program

OPTIONS: dict[str, dict[str, Any]] = {
    "cpu": {"xla_cpu_prefer_vector_width": 512},
    "gpu": {
        "xla_gpu_enable_triton_gemm": False,
        "xla_gpu_enable_command_buffer": "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,CONDITIONAL,WHILE",
    },
}
"""Compiler options of each platform. A CPU that has vectors of 512 bits uses them: a twentieth faster. Without Triton a
GPU's products are as fast, and compile in a third of the time. With its loop over steps in a command buffer it need not
ask the host after each: 10 µs less."""


SHARING = 8
"""The most CPU devices that share a run; twelve or sixteen were no faster."""


def share_between_devices(
    program: Program, runs: int, rows: int, devices: tuple[Any, ...], most: int = SHARING
) -> tuple[Program, tuple[Any, ...]]:
    """The program and the devices that train so many runs: a large one that is alone is shared by up to `most`."""
    sharing = min(most, len(devices), program.blocks(rows)[0]) if program.divisible(rows) else 1
    if runs == 1 and sharing > 1:
        return dataclasses.replace(program, shared=sharing), devices[:sharing]
    used = devices[:runs]
    together = 1 if program.platform == "cpu" else -(-runs // len(used))
    return dataclasses.replace(program, runs=together), used


PLACES, SMALL = 32, 1 << 15
"""Runs whose blocks are counted, of at most so many parameters and inputs, have so many places in a batch, or a
multiple: one that is not needed costs a CPU little, and batches of all numbers of runs share a compilation."""


def lay_out(program: Program, runs: int, devices: tuple[Any, ...]) -> tuple[list[int], list[int]]:
    """Which run stands at each place of a batch, and at which place each stands: every device has its part of them. A
    place that is not needed repeats a run, and is to be frozen."""
    if program.shared > 1:
        return [0], [0]
    inputs = math.prod(program.signature.sizes or (SMALL + 1,))
    filled = program.counted and runs > 1 and max(program.cost.parameters, inputs) <= SMALL
    unit = math.lcm(len(devices), PLACES if filled else 1)
    each = -(-runs // unit) * unit // len(devices)
    axis: list[int] = []
    places: list[int] = []
    for part in np.array_split(np.arange(runs), len(devices)):
        places += range(len(axis), len(axis) + len(part))
        axis += [*part.tolist(), *[int(part[-1])] * (each - len(part))]
    return axis, places


@lru_cache(maxsize=64)
def compiled(program: Program, devices: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """`start_randomly`, `start` and `advance` for a batch whose size is a multiple of the number of devices. On a CPU
    `advance` works in the memory of the state that it is given, which is gone then; `copied` keeps one."""
    runs, data = _layout(program)
    mesh = _mesh(program, devices)
    batch = data.batch if isinstance(data, RunData) else data

    def over_runs(function: Callable[..., Any], mapped: tuple[Any, ...], fixed: int) -> Callable[..., Any]:
        one = partial(function, program)
        count = len(mapped)
        if program.shared > 1:

            def many(*values: Any) -> Any:
                alone = jax.tree.map(lambda leaf: leaf[0], values[:count])
                return jax.tree.map(lambda leaf: leaf[None], one(*alone, *values[count:]))

        elif program.platform == "cpu":

            def many(*values: Any) -> Any:
                return jax.lax.map(lambda run: one(*run, *values[count:]), values[:count])

        else:
            many = jax.vmap(one, in_axes=(0,) * count + (None,) * fixed)
        spread = many
        if len(devices) > 1:
            specs = mapped + (PartitionSpec(),) * fixed
            spread = jax.shard_map(many, mesh=mesh, in_specs=specs, out_specs=runs, check_vma=False)
        # The layout of `stack`, so that a state is the same to the compiler whether it was made, advanced or restored.
        options: dict[str, Any] = {"compiler_options": OPTIONS.get(program.platform)}
        if program.platform == "cpu":
            options["donate_argnums"] = 0
        jitted = jax.jit(spread, out_shardings=NamedSharding(mesh, runs), **options)
        return keep(jitted, function.__name__, program, devices)

    advancing = over_runs(advance, (runs, data, runs, runs), 3)
    if program.platform == "cpu":
        randomly, from_weights = starts_of_one_run(dataclasses.replace(program, shared=1), devices[0])
        return RunByRun(randomly, program, devices), RunByRun(from_weights, program, devices), advancing
    return over_runs(start_randomly, (runs, runs, runs, batch), 0), over_runs(start, (runs, runs, batch), 0), advancing


class RunByRun:
    """A start, called for one run of a batch after another, so that it is compiled once for batches of all lengths."""

    def __init__(self, begin: Any, program: Program, devices: tuple[Any, ...]) -> None:
        self.begin, self.program, self.devices = begin, program, devices

    def __call__(self, *arguments: Any) -> State:
        known, count = self._read(arguments)
        begun: dict[bytes, State] = {}  # Those that are alike, where a batch is filled up, begin once.
        states = []
        for run in unstack(known, range(count), count):
            known_by = b"".join(leaf.tobytes() for leaf in jax.tree.leaves(run))
            if known_by not in begun:
                begun[known_by] = self.begin(*run)
            states.append(begun[known_by])
        return stack(states, self.program, self.devices)

    def eval_shape(self, *arguments: Any) -> State:
        known, count = self._read(arguments)
        one = self.begin.eval_shape(*_shapes(known, lambda shape: shape[1:]))
        return _shapes(one, lambda shape: (count, *shape))

    def lower(self, *arguments: Any) -> Any:
        return self.begin.lower(*_shapes(self._read(arguments)[0], lambda shape: shape[1:]))

    def _read(self, arguments: tuple[Any, ...]) -> tuple[Any, int]:
        """What a start depends on, and the number of runs. The last argument, the examples, matters to minibatches
        alone."""
        known = arguments if self.program.batch_size is not None else (*arguments[:-1], None)
        return known, jax.tree.leaves(known)[0].shape[0]


def _shapes(tree: Any, change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Any:
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(change(leaf.shape), leaf.dtype), tree)


@lru_cache(maxsize=64)
def starts_of_one_run(program: Program, device: Any) -> tuple[Any, Any]:
    """`start_randomly` and `start` on a CPU."""
    options: dict[str, Any] = {"out_shardings": SingleDeviceSharding(device), "compiler_options": OPTIONS["cpu"]}
    randomly, from_weights = (jax.jit(partial(begin, program), **options) for begin in (start_randomly, start))
    return (
        keep(randomly, start_randomly.__name__, program, (device,)),
        keep(from_weights, start.__name__, program, (device,)),
    )


def forget_programs() -> None:
    """Frees the memory in which a GPU keeps the programs of earlier batches."""
    compiled.cache_clear()
    jax.clear_caches()
    gc.collect()


def _mesh(program: Program, devices: tuple[Any, ...]) -> Mesh:
    return Mesh(np.array(devices), (EXAMPLES if program.shared > 1 else "runs",))


def _layout(program: Program) -> tuple[PartitionSpec, Any]:
    """How arrays with a run axis lie on the devices, and how a run's data do."""
    if program.shared == 1:
        runs = PartitionSpec("runs")
        return runs, runs
    everywhere, blocks = PartitionSpec(), PartitionSpec(None, EXAMPLES)
    others = (everywhere,) * (len(RunData._fields) - 1)
    return everywhere, RunData(Batch(blocks, blocks, blocks, everywhere, blocks), *others)


def stack(trees: Sequence[Any], program: Program, devices: tuple[Any, ...]) -> Any:
    """Equal trees of arrays, one for each run, as one tree with a run axis, laid out over the devices."""
    runs, data = _layout(program)
    mesh = _mesh(program, devices)
    specs = data if isinstance(trees[0], RunData) and isinstance(data, RunData) else runs

    def place(spec: PartitionSpec, *parts: Any) -> Any:
        sharding = NamedSharding(mesh, spec)
        return jax.tree.map(
            lambda *leaves: jax.device_put(np.stack([np.asarray(leaf) for leaf in leaves]), sharding), *parts
        )

    return jax.tree.map(place, specs, *trees, is_leaf=lambda node: isinstance(node, PartitionSpec))


def stacked_shapes(tree: Any, count: int, program: Program, devices: tuple[Any, ...]) -> Any:
    """What `stack` would make of so many trees like this one: shapes, types and places, without the numbers."""
    runs, data = _layout(program)
    mesh = _mesh(program, devices)
    specs = data if isinstance(tree, RunData) and isinstance(data, RunData) else runs

    def place(spec: PartitionSpec, part: Any) -> Any:
        sharding = NamedSharding(mesh, spec)
        return jax.tree.map(
            lambda leaf: jax.ShapeDtypeStruct((count, *np.shape(leaf)), np.asarray(leaf).dtype, sharding=sharding), part
        )

    return jax.tree.map(place, specs, tree, is_leaf=lambda node: isinstance(node, PartitionSpec))


def unstack(tree: Any, runs: Sequence[int], count: int) -> list[Any]:
    """Some of so many runs' parts of a stacked tree, on the host: few one by one, many out of all, fetched at once."""
    if FEW * len(runs) > count:
        host = jax.tree.map(np.asarray, tree)
        return [jax.tree.map(lambda leaf: np.asarray(leaf[run]), host) for run in runs]  # noqa: B023
    return [jax.tree.map(lambda leaf: np.asarray(_pick(leaf, np.int32(run))), tree) for run in runs]  # noqa: B023


FEW = 8
"""Fewer runs than this part of a batch are fetched one by one."""


@jax.jit
def _pick(leaf: Any, run: Any) -> Any:
    return jax.lax.dynamic_index_in_dim(leaf, run, keepdims=False)


def select(tree: Any, runs: Sequence[int], devices: tuple[Any, ...]) -> Any:
    """A smaller batch of some of the runs, by way of the host, where nothing has to be compiled for it."""
    sharding = NamedSharding(Mesh(np.array(devices), ("runs",)), PartitionSpec("runs"))
    chosen = np.asarray(runs)
    return jax.tree.map(lambda leaf: jax.device_put(np.asarray(leaf)[chosen], sharding), tree)


def copied(state: State) -> State:
    """The same in memory of its own."""
    return jax.tree.map(lambda leaf: jax.device_put(leaf, leaf.sharding, may_alias=False), state)


def freeze(state: State, runs: Sequence[int]) -> State:
    """The batch with some runs stopped where they are."""
    frozen = np.asarray(state.frozen).copy()
    frozen[list(runs)] = True
    return state._replace(frozen=jax.device_put(frozen, state.frozen.sharding))
