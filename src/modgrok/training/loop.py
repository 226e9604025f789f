"""The loop over steps of one run, compiled once: `advance` takes steps, then measures.

The number of steps is data, so that any schedule of evaluations runs through the same program. One run is written
here; `modgrok.training.batch` trains many.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from modgrok.networks import Noise
from modgrok.networks.architecture import Parameters
from modgrok.shapes import Array, Bool, Int32, Integer
from modgrok.training.data import Batch, RunData
from modgrok.training.evaluation import evaluate, recorded_names
from modgrok.training.kernels import kernel_for
from modgrok.training.minibatches import Epochs
from modgrok.training.optimizers import Rates
from modgrok.training.program import Program
from modgrok.training.update import Start, norm, normal_like, transformation, update

NEVER = -1
Key = Any
"""A JAX random key."""
Seed = Integer[Any, ""]
Count = Int32[Any, ""]
Flag = Bool[Any, ""]


class State(NamedTuple):
    """What a run carries from step to step; with the step's number, all that is needed to resume it."""

    weights: Parameters
    slope: tuple[Array, Parameters] | None
    """Loss and gradient at these weights, shared by the next step and an evaluation; None unless a step sees just the
    whole training set. The name is that of the tensors in stored checkpoints."""
    optimizer: dict[str, Array]
    """Its arrays by their names in Optax's state, such as `1.trace.columns`."""
    start: Start
    frozen: Bool[Array, ""]
    """Set when the run diverged or was stopped: its weights change no more."""
    diverged_at: Int32[Array, ""]
    """The step at which the loss or the gradient was not finite, or −1."""


def start(program: Program, weights: Parameters, rates: Rates) -> State:
    """The state before the first step."""
    beginning = Start(
        weights if "decay_to_start" in program.features else None,
        norm(weights) if "hold_norm" in program.features else None,
    )
    unknown = (jnp.zeros((), program.loss_precision), jax.tree.map(jnp.zeros_like, weights))
    return State(
        weights,
        unknown if program.exact_gradient else None,
        named_tensors(transformation(program, rates).init(weights)),
        beginning,
        jnp.zeros((), bool),
        jnp.full((), NEVER, jnp.int32),
    )


def start_randomly(program: Program, seed: Any, init_scale: Any, rates: Rates) -> State:
    """The state before the first step, with fresh weights that depend on the seed alone."""
    key = jax.random.fold_in(jax.random.key(seed), 0)
    weights = program.architecture.init(key, program.signature, init_scale, program.dtype)
    return start(program, weights, rates)


def advance(
    program: Program, state: State, data: RunData, rates: Rates, seed: Seed, step: Count, count: Count, measured: Flag
) -> tuple[State, dict[str, Array]]:
    """Takes `count` steps from step number `step` on, then measures if `measured` says so; otherwise all is NaN, as
    for a stopped run on a CPU."""
    key = jax.random.fold_in(jax.random.key(seed), 1)
    begins = step == 0
    if program.on.separate:  # Where runs take their steps together, the loop must not ask each of them.
        count = jnp.where(state.frozen, jnp.zeros_like(count), count)
        measured &= ~state.frozen | (state.diverged_at != NEVER)
        begins &= ~state.frozen

    def body(i: Any, known: tuple[State, Any, Any]) -> tuple[State, Any, Any]:
        state, order, _ = known
        now, batch = step + i, data.batch
        if epochs is not None:
            order = epochs.renewed(order, now)
            batch = epochs.minibatch(order, now)
        now_data = data._replace(batch=batch)
        state, found = _step(program, state, now_data, rates, key, now, i >= 0, measured & (i == count - 1))
        return state, order, found

    epochs = None
    if program.batch_size is not None and program.rule is None:
        epochs = Epochs(program.batch_size, data.batch, key)
    order = None if epochs is None else epochs.order(step)
    missing = jnp.full((), jnp.nan, program.dtype)
    first, found = jnp.zeros_like(count), None if program.rule is None else missing
    if program.exact_gradient:
        # A pass before the first step moves nothing; it computes loss and gradient.
        first = jnp.where(begins | (measured & (count == 0)), first - 1, first)
        found = jnp.zeros((), program.dtype)
    state, _, found = jax.lax.fori_loop(first, count, body, (state, order, found))

    def measure() -> dict[str, Array]:
        values = evaluate(program, state.weights, data, None if state.slope is None else (*state.slope, found))
        # There is no training set where every batch is new: its loss is that of the batch seen last.
        return values if program.rule is None else values | {"train_loss": found}

    return state, jax.lax.cond(measured, measure, lambda: dict.fromkeys(recorded_names(program), missing))


def _step(
    program: Program, state: State, data: RunData, rates: Rates, key: Key, step: Count, moves: Flag, count_correct: Flag
) -> tuple[State, Any]:
    """The state after a step, or the same state if `moves` is false. And its number of correct answers on the training
    set if `count_correct` is true, or the loss of a batch that was drawn for this step alone."""
    kernel = kernel_for(program)
    if state.slope is not None:
        loss, gradient = state.slope
    else:
        chosen = data.batch if program.rule is None else _fresh(program, key, step)
        noise = None
        if "dropout" in program.features:
            noise = Noise(jax.random.fold_in(key, step), rates["dropout"], chosen.weight[0], None)
        weights = state.weights
        if "weight_noise" in program.features:
            added = normal_like(_stream(key, step, 3), weights, rates["weight_noise"])
            weights = jax.tree.map(jnp.add, weights, added)
        loss, gradient, _ = kernel.loss_and_grad(weights, chosen, data.codes, noise)
    form = jax.eval_shape(transformation(program, rates).init, state.weights)
    before = from_named_tensors(form, state.optimizer)
    moved, after = update(program, rates, gradient, before, state.weights, state.start, step, _stream(key, step, 4))
    finite = jnp.isfinite(loss)
    if not kernel.guards:
        # One sum over all tensors, not one for each: on a GPU every sum is a kernel or two.
        finite &= jnp.isfinite(jnp.concatenate([part.reshape(-1) for part in jax.tree.leaves(gradient)]).sum())
    trains = ~state.frozen & moves
    moving, diverged = finite & trains, ~finite & trains
    keep = lambda new, old: jnp.where(moving, new, old)  # noqa: E731
    weights = jax.tree.map(keep, moved, state.weights)
    slope, found = None, loss.astype(program.dtype) if program.rule is not None else None
    if program.exact_gradient:
        count_correct = count_correct if program.on.counts_correct else None
        loss, gradient, found = kernel.loss_and_grad(weights, data.batch, data.codes, None, count_correct)
        slope = loss, gradient
    state = State(
        weights,
        slope,
        jax.tree.map(keep, named_tensors(after), state.optimizer),
        state.start,
        state.frozen | diverged,
        jnp.where(diverged, step, state.diverged_at),
    )
    return state, found


def named_tensors(tree: Any) -> dict[str, Any]:
    """The arrays of a state, or of a part of one, by their names: `weights.columns`, `optimizer.1.mu.readout`."""
    return {_name(path): leaf for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]}


def from_named_tensors(form: Any, tensors: Mapping[str, Any]) -> Any:
    """What `named_tensors` took apart, from a tree of its form; `KeyError` names what is missing."""
    named, structure = jax.tree_util.tree_flatten_with_path(form)
    return jax.tree.unflatten(structure, [tensors[_name(path)] for path, _ in named])


def _name(path: Any) -> str:
    return ".".join(str(getattr(key, "name", getattr(key, "key", getattr(key, "idx", key)))) for key in path)


def _stream(key: Key, step: Count, number: int) -> Key:
    """Random bits of one step for one purpose."""
    return jax.random.fold_in(jax.random.fold_in(key, step), number)


def _fresh(program: Program, key: Key, step: Count) -> Batch:
    """Inputs that are drawn for this step alone, all values equally likely, and their answers."""
    assert program.batch_size is not None
    sizes = jnp.asarray(program.signature.sizes, jnp.int32)[None, :]
    inputs = jax.random.randint(_stream(key, step, 2), (program.batch_size, sizes.shape[1]), 0, sizes, jnp.int32)
    weight = jnp.full((1, program.batch_size), 1 / program.batch_size, program.dtype)
    return Batch(inputs[None], program.rule(inputs).astype(jnp.int32)[None], weight, None, None)
