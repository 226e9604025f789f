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
from modgrok.networks.transformer import Transformer
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
    """What the last layer reads: of a perceptron the same without it, with its activation; of a transformer what it
    puts out where the identity stands in the place of its unembedding."""
    whole, signature = network.architecture, network.signature
    if isinstance(whole, Transformer):
        read = network.parameters | {"unembedding.weight": jnp.eye(whole.width)}
        return whole.apply(read, inputs, signature)
    assert isinstance(whole, MLP)
    below = MLP(whole.width, whole.depth - 1, whole.activation, whole.biases)
    seen = Signature(signature.sizes, whole.width, signature.dimension, signature.signs)
    return activation(whole.activation)(below.apply(network.parameters, inputs, seen))


def follow(experiment: Experiment, steps: int, stride: int, curved: bool = True) -> dict[str, np.ndarray]:
    """Trains a perceptron or a transformer as `modgrok train` does; after every `stride` steps its loss, the norm of
    its last layer, what the last update changed of the features, and the curvature along it, if that is wanted."""
    resolved = experiment.resolve()
    task = resolved.load_task()
    program, rates = program_of(resolved, task, "cpu"), rates_of(resolved)
    examples = resolved.split.examples_of(task)
    inputs, labels = examples.inputs[examples.trained], examples.labels[examples.trained]
    seed = np.uint32(resolved.seed)
    fixed = run_data(program, task, examples, kernel_for(program).padded_shape(lambda: inputs, len(inputs)))

    def training_loss(network: Network, data: RunData) -> Any:
        out = network.architecture.apply(network.parameters, inputs, network.signature)
        return program.objective.losses(out, jnp.asarray(labels), data.codes).mean()

    def look(before: Any, after: Any, data: RunData) -> dict[str, Any]:
        update = jax.tree.map(jnp.subtract, after.weights, before.weights)
        old, new = (Network(program.architecture, program.signature, one.weights) for one in (before, after))
        seen, moved = features(old, inputs), features(new, inputs)
        found = {
            "loss": (after.slope[0] if after.slope else training_loss(new, data)).astype(jnp.float32),
            "last_layer": norm(last_layer(new)),
            "feature_change": norm(moved - seen) / norm(seen),
        }
        return found | ({"curvature": curvature(program, before.weights, update, data)} if curved else {})

    def take_step(data: RunData, state: Any, step: Any) -> tuple[Any, dict[str, Any]]:
        after, _ = advance(program, state, data, rates, seed, step, jnp.int32(1), jnp.bool_(False))
        shapes = jax.eval_shape(look, state, after, data)
        nothing = jax.tree.map(lambda leaf: jnp.full(leaf.shape, jnp.nan, leaf.dtype), shapes)
        return after, jax.lax.cond((step + 1) % stride == 0, lambda: look(state, after, data), lambda: nothing)

    def whole(init_scale: Any, data: RunData) -> Any:
        state = start_randomly(program, seed, init_scale, rates)
        return jax.lax.scan(partial(take_step, data), state, jnp.arange(steps, dtype=jnp.int32))[1]

    with precision_of(program):
        found = jax.jit(whole)(jnp.asarray(resolved.init_scale, program.dtype), jax.tree.map(jnp.asarray, fixed))
        seen = np.arange(stride, steps + 1, stride)
        return {"step": seen} | {name: np.asarray(values)[seen - 1] for name, values in found.items()}
