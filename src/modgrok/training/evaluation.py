"""What is recorded of a network while it trains: losses, accuracies, norms, and the measures that were asked for."""

import math
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp

from modgrok.networks import Network
from modgrok.networks.architecture import Parameters
from modgrok.shapes import Array
from modgrok.training.data import RunData, evaluated_inputs
from modgrok.training.kernels import kernel_for
from modgrok.training.kernels.generic import sum_parts
from modgrok.training.program import EXAMPLES, Program
from modgrok.training.recording import SCORES, Data
from modgrok.training.update import norm


@cache
def recorded_names(program: Program) -> tuple[str, ...]:
    """The names of all that is recorded, in order."""
    groups = program.architecture.group_names(program.architecture.shapes(program.signature))
    norms = (f"{kind}_{group}" for kind in ("norm", "gradient") for group in groups)
    return (*SCORES, *norms, *(measure.name for measure in program.recorded))


def evaluate(
    program: Program, parameters: Parameters, data: RunData, known: tuple[Any, Parameters, Any] | None = None
) -> dict[str, Array]:
    """All curves at these weights. Dropout is off, and batch statistics are those of the whole training set. Loss,
    gradient and correct answers on the training set are not computed again if they are `known`."""
    if known is None:
        known = kernel_for(program).loss_and_grad(parameters, data.batch, data.codes, None, True)
    loss, gradient, right = known
    settled = settle(program, parameters, data)
    values = _scores(program, settled, data)
    if program.on.counts_correct:
        count = data.trained.astype(program.dtype).sum()
        values |= {"train_loss": jnp.where(count > 0, loss, jnp.nan), "train_accuracy": right / count}
    group = program.architecture.group
    for kind, tree in (("norm", parameters), ("gradient", gradient)):
        for name in program.architecture.group_names(parameters):
            values[f"{kind}_{name}"] = norm([leaf for key, leaf in tree.items() if group(key) == name])
    network = Network(program.architecture, program.signature, settled)
    values |= _measures(program, network, data)
    return {name: jnp.asarray(values[name]).astype(program.dtype) for name in recorded_names(program)}


def _measures(program: Program, network: Network, run: RunData) -> dict[str, Array]:
    """Measures besides scores and norms. Devices that share a run divide them: each computes some for all."""
    if program.shared == 1 or not program.recorded:
        data = Data(network, run)
        return {measure.name: measure(data) for measure in program.recorded}
    device, found = jax.lax.axis_index(EXAMPLES), []
    for number, measure in enumerate(program.recorded):
        own = lambda measure=measure: jnp.asarray(measure(Data(network, run))).astype(program.dtype)  # noqa: E731
        others = lambda: jnp.zeros((), program.dtype)  # noqa: E731
        found.append(jax.lax.cond(device == number % program.shared, own, others))
    names = [measure.name for measure in program.recorded]
    return dict(zip(names, jax.lax.psum(jnp.stack(found), EXAMPLES), strict=True))


def check_measures(program: Program, data: RunData) -> None:
    """Raises where a measure that was asked for does not work; nothing is computed or compiled for it."""
    asked = [measure for measure in program.recorded if not measure.usual]

    def find(data: RunData) -> list[Any]:
        weights = program.architecture.init(jax.random.key(0), program.signature, 1.0, program.dtype)
        network = Network(program.architecture, program.signature, settle(program, weights, data))
        found = Data(network, data)
        return [measure(found) for measure in asked]

    if asked:
        jax.eval_shape(find, data)


def settle(program: Program, parameters: Parameters, data: RunData) -> Parameters:
    """The parameters with the statistics of the whole training set, where the architecture needs them."""
    inputs, weight = jnp.asarray(data.batch.inputs), jnp.asarray(data.batch.weight)
    rows = inputs.reshape(-1, inputs.shape[-1])
    return program.architecture.settle(parameters, rows, weight.reshape(-1), program.signature)


def _numbered(program: Program, data: RunData, numbers: Any) -> Any:
    """Inputs by index. Those of a table are computed, not stored: as constants they took 200 bytes each to compile."""
    if data.inputs is not None:
        return data.inputs[numbers]
    sizes = program.signature.sizes
    strides = [math.prod(sizes[s + 1 :]) for s in range(len(sizes))]
    return jnp.stack([numbers // stride % size for size, stride in zip(sizes, strides, strict=True)], axis=1)


def _scores(program: Program, parameters: Parameters, data: RunData) -> dict[str, Array]:
    """Losses and accuracies of the examples that evaluations look at."""
    kernel, objective = kernel_for(program), program.objective
    right_answers = data.answers
    if data.test_rows is None:
        every = jnp.asarray(evaluated_inputs(program.signature.sizes, data))
        blocks, rows = program.evaluation_blocks(len(right_answers))
        padding = (0, blocks * rows - len(right_answers))
        weights = {"train": data.trained.astype(program.dtype), "test": data.tested.astype(program.dtype)}
        stacked: Any = (
            jnp.pad(every, (padding, (0, 0))).reshape(blocks, rows, -1),
            *(jnp.pad(x, padding).reshape(blocks, rows) for x in (right_answers, *weights.values())),
        )
    else:
        stacked, weights = data.test_rows, {"test": (data.test_rows >= 0).astype(program.dtype)}

    def read(block: Any) -> Any:
        """Inputs, answers, and the weights of each sum."""
        if data.test_rows is None:
            return block
        numbers = jnp.maximum(block, 0)
        return _numbered(program, data, numbers), right_answers[numbers], (block >= 0).astype(program.dtype)

    def add_block(sums: Any, block: Any) -> tuple[Any, None]:
        inputs, answers, *weights = read(block)
        out = kernel.outputs(parameters, inputs)
        losses = objective.losses(out, answers, data.codes).astype(program.dtype)
        # An answer is one of the task's: logits of a vocabulary beyond count in the loss alone, as in `score`.
        right = objective.right(out, answers, data.codes, program.signature.outputs).astype(program.dtype)
        now = [(values * weight).sum() for values in (losses, right) for weight in weights]
        return tuple(a + b for a, b in zip(sums, now, strict=True)), None

    used = data.test_blocks
    if program.shared > 1:
        device = jax.lax.axis_index(EXAMPLES)
        stacked, used = jax.tree.map(
            lambda part: part.reshape(program.shared, -1, *part.shape[1:])[device], (stacked, used)
        )
    sums = sum_parts(program, add_block, (jnp.zeros((), program.dtype),) * 2 * len(weights), stacked, used)
    counts = [weight.sum() for weight in weights.values()]
    names = [f"{name}_{kind}" for kind in ("loss", "accuracy") for name in weights]
    return {name: total / count for name, total, count in zip(names, sums, counts * 2, strict=True)}
