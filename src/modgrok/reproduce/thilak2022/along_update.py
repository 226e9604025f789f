r"""One run followed step by step: the curvature $u^T H u / |u|^2$ of the training loss along its update u, and how far
an update moves the features that the last layer reads."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from modgrok.experiments import Experiment
from modgrok.experiments.programs import program_of, rates_of
from modgrok.networks import Network
from modgrok.networks.activation import activation
from modgrok.networks.architecture import Parameters
from modgrok.networks.mlp import MLP
from modgrok.tasks import Signature
from modgrok.training.data import RunData, run_data
from modgrok.training.devices import precision_of
from modgrok.training.kernels import kernel_for
from modgrok.training.loop import advance, start_randomly
from modgrok.training.program import Program
from modgrok.training.recording import last_layer
from modgrok.training.update import norm


def curvature(program: Program, weights: Parameters, update: Parameters, data: RunData) -> Any:
    """Of the training loss along a direction."""

    def gradient(parameters: Parameters) -> Parameters:
        return kernel_for(program).loss_and_grad(parameters, data.batch, data.codes, None)[1]

    (turned,) = jax.vjp(gradient, weights)[1](update)  # H is symmetric
    along = sum((update[name] * turned[name]).sum() for name in update)
    return along / norm(update) ** 2


def features(network: Network, inputs: Any) -> Any:
    """What the last layer of a perceptron reads: the perceptron without it, and its activation."""
    whole, signature = network.architecture, network.signature
    assert isinstance(whole, MLP)
    below = MLP(whole.width, whole.depth - 1, whole.activation, whole.biases)
    seen = Signature(signature.sizes, whole.width, signature.dimension, signature.signs)
    return activation(whole.activation)(below.apply(network.parameters, inputs, seen))


def follow(experiment: Experiment, steps: int, stride: int) -> dict[str, np.ndarray]:
    """Trains a perceptron as `modgrok train` does; after every `stride` steps its loss, the norm of its last layer,
    the curvature along the last update, and what that changed of the features."""
    resolved = experiment.resolve()
    task = resolved.load_task()
    program, rates = program_of(resolved, task, "cpu"), rates_of(resolved)
    examples = resolved.split.examples_of(task)
    inputs, seed = examples.inputs[examples.trained], np.uint32(resolved.seed)
    fixed = run_data(program, task, examples, kernel_for(program).padded_shape(lambda: inputs, len(inputs)))

    def look(before: Any, after: Any, data: RunData) -> dict[str, Any]:
        update = jax.tree.map(jnp.subtract, after.weights, before.weights)
        old, new = (Network(program.architecture, program.signature, one.weights) for one in (before, after))
        seen, moved = features(old, inputs), features(new, inputs)
        return {
            "loss": after.slope[0].astype(jnp.float32),
            "last_layer": norm(last_layer(new)),
            "curvature": curvature(program, before.weights, update, data),
            "feature_change": norm(moved - seen) / norm(seen),
        }

    def take_step(data: RunData, state: Any, step: Any) -> tuple[Any, dict[str, Any]]:
        after, _ = advance(program, state, data, rates, seed, step, jnp.int32(1), jnp.bool_(False))
        shapes = jax.eval_shape(look, state, after, data)
        nothing = jax.tree.map(lambda leaf: jnp.full(leaf.shape, jnp.nan, leaf.dtype), shapes)
        return after, jax.lax.cond((step + 1) % stride == 0, lambda: look(state, after, data), lambda: nothing)

    def whole(init_scale: Any, data: RunData) -> Any:
        state = start_randomly(program, seed, init_scale, rates, data.batch)
        return jax.lax.scan(partial(take_step, data), state, jnp.arange(steps, dtype=jnp.int32))[1]

    with precision_of(program):
        found = jax.jit(whole)(jnp.asarray(resolved.init_scale, program.dtype), jax.tree.map(jnp.asarray, fixed))
        seen = np.arange(stride, steps + 1, stride)
        return {"step": seen} | {name: np.asarray(values)[seen - 1] for name, values in found.items()}
