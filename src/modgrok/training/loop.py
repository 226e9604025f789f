"""The loop over steps of one run, compiled once: `advance` takes steps, then measures.

The number of steps is data, so that any schedule of evaluations runs through the same program. One run is written
here; `modgrok.training.batch` maps it over many.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32

from modgrok.training.evaluation import Measurement, measure
from modgrok.training.examples import Examples, RunData
from modgrok.training.gradient import Noise, loss_and_gradient
from modgrok.training.optimizer import Rates, transformation
from modgrok.training.program import Program
from modgrok.training.weights import Weights, initial_weights

NEVER = -1


class State(NamedTuple):
    """What a run carries from step to step; with the step's number, all that is needed to resume it."""

    weights: Weights
    optimizer: Any
    order: Int32[Array, "example"] | None
    """The order of the examples in this epoch, for minibatches."""
    frozen: Bool[Array, ""]
    """Set when the run diverged or was stopped: its weights change no more."""
    diverged_at: Int32[Array, ""]
    """The step at which the loss or the gradient was not finite, or −1."""


def start(program: Program, weights: Weights, rates: Rates, examples: Examples) -> State:
    """The state before the first step."""
    order = None if program.batch_size is None else jnp.arange(examples.answers.size, dtype=jnp.int32)
    return State(
        weights,
        transformation(program, rates).init(weights),
        order,
        jnp.zeros((), bool),
        jnp.full((), NEVER, jnp.int32),
    )


def start_randomly(program: Program, seed: Any, init_scale: Any, rates: Rates, examples: Examples) -> State:
    """The state before the first step, with fresh weights that depend on the seed alone."""
    key = jax.random.fold_in(jax.random.key(seed), 0)
    shape = (program.modulus, program.arity, program.width)
    weights = initial_weights(key, *shape, program.parametrization, init_scale, program.precision)
    return start(program, weights, rates, examples)


def advance(
    program: Program, state: State, data: RunData, rates: Rates, seed: Any, step: Any, count: Any, measured: Any
) -> tuple[State, Measurement]:
    """Takes `count` steps from step number `step` on, then measures if `measured` says so; otherwise all is NaN."""
    key = jax.random.fold_in(jax.random.key(seed), 1)

    def body(i: Any, state: State) -> State:
        return _step(program, state, data.examples, rates, key, step + i)

    if program.platform == "cpu":
        count = jnp.where(state.frozen, jnp.zeros_like(count), count)
    state = jax.lax.fori_loop(jnp.zeros_like(count), count, body, state)
    missing = jnp.full((), jnp.nan, program.precision)
    return state, jax.lax.cond(
        measured,
        lambda: measure(program, state.weights, data),
        lambda: Measurement(*(missing for _ in Measurement._fields)),
    )


def _step(program: Program, state: State, examples: Examples, rates: Rates, key: Any, step: Any) -> State:
    noise = Noise(jax.random.fold_in(key, step), rates.dropout) if program.dropout else None
    order, chosen = state.order, examples
    if program.batch_size is not None:
        order, chosen = _minibatch(program.batch_size, state.order, examples, key, step)
    loss, gradient = loss_and_gradient(program, state.weights, chosen, noise)
    updates, optimizer = transformation(program, rates).update(gradient, state.optimizer, state.weights)
    most = jnp.finfo(program.precision).max
    moved = jax.tree.map(lambda w, update: jnp.clip(w + update, -most, most), state.weights, updates)
    finite = jnp.isfinite(loss) & jnp.isfinite(sum(part.sum() for part in jax.tree.leaves(gradient)))
    moving = finite & ~state.frozen
    keep = lambda new, old: jnp.where(moving, new, old)  # noqa: E731
    diverged = ~finite & ~state.frozen
    return State(
        jax.tree.map(keep, moved, state.weights),
        jax.tree.map(keep, optimizer, state.optimizer),
        order,
        state.frozen | diverged,
        jnp.where(diverged, step, state.diverged_at),
    )


def _minibatch(size: int, order: Any, examples: Examples, key: Any, step: Any) -> tuple[Array, Examples]:
    """The next examples of an order that is drawn anew for every epoch; the last batch of an epoch may be smaller."""
    total = examples.answers.size
    per_epoch = -(-total // size)
    epoch, number = step // per_epoch, step % per_epoch
    shuffle = jax.random.fold_in(jax.random.fold_in(key, epoch), 1)
    order = jax.lax.cond(
        number == 0,
        lambda: jax.random.permutation(shuffle, jnp.arange(total, dtype=jnp.int32)),
        lambda: order,
    )
    position = number * size + jnp.arange(size, dtype=jnp.int32)
    row = order[jnp.minimum(position, total - 1)]
    present = (position < total).astype(examples.weight.dtype)
    return order, Examples(
        examples.inputs[0, row][None],
        examples.answers[0, row][None],
        (present / present.sum())[None],
        None,
    )
