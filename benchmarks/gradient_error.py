"""How exact one step's gradient is on this device: 16-bit operands, in one run and in many at once, TF32 and full
float32 products, against float64.

PYTHONPATH=src python benchmarks/gradient_error.py > benchmarks/results/gradient_error.md

Each number is the norm of the error over the norm of the gradient, n + m mod 97, N = 500, α = 0.5: weights at the
start, after 300 steps of AdamW, after 3 000 (all losses small), and the first ones 30 times as large, as in a run that
diverges.
"""

import dataclasses
import tempfile
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from modgrok.experiments import Experiment, Store
from modgrok.experiments.programs import program_of
from modgrok.experiments.train import train_stored
from modgrok.training.data import run_data
from modgrok.training.devices import precision_of
from modgrok.training.kernels import kernel_for, plain_xla

MANY = 32
WAYS = {
    "16 bits": ("float32", kernel_for),
    "many runs": ("float32", kernel_for),
    "TF32": ("float32", plain_xla.TwoLayerKernel),
    "highest": ("highest", plain_xla.TwoLayerKernel),
}


def weights_of(loss: str) -> dict[str, dict[str, np.ndarray]]:
    """Weights before, while and after a network learns, and such as diverge."""
    found = {}
    rate = 0.1 if loss == "mse" else 0.01
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        experiments = [
            Experiment(task="n + m", modulus=97, loss=loss, lr=rate, steps=steps, evaluations=2, snapshots=0)
            for steps in (1, 300, 3000)
        ]
        names = ("start", "300 steps", "3 000 steps")
        for name, run in zip(names, train_stored(experiments, store), strict=True):
            found[name] = {key: np.asarray(value) for key, value in run.network.parameters.items()}
    return found | {"diverging": {key: 30 * value for key, value in found["start"].items()}}


def gradient(way: str, experiment: Experiment, weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """One gradient, as a training on this device takes it."""
    precision, kernel_of = WAYS.get(way, ("float64", kernel_for))
    task = experiment.load_task()
    program = program_of(dataclasses.replace(experiment, precision=precision), task, jax.default_backend())
    kernel, examples = kernel_of(program), experiment.split.examples_of(task)
    inputs = examples.inputs[examples.trained]
    with precision_of(program):
        data = run_data(program, task, examples, kernel_for(program).padded_shape(lambda: inputs, len(inputs)))
        batch: Any = data.batch
        if way == "TF32":
            batch = batch._replace(
                tables=kernel.tables(inputs, examples.labels, kernel.padded_shape(lambda: inputs, len(inputs)))
            )
        cast = {key: jnp.asarray(value, program.dtype) for key, value in weights.items()}
        if way == "many runs":
            kernel = kernel_of(dataclasses.replace(program, runs=MANY))
            cast, batch = jax.tree.map(lambda leaf: jnp.stack([leaf] * MANY), (cast, batch))
        step = lambda weights, batch: kernel.loss_and_grad(weights, batch, None, None)[1]  # noqa: E731
        found = jax.jit(jax.vmap(step) if way == "many runs" else step)(cast, batch)
        return {key: np.asarray(value[0] if way == "many runs" else value, np.float64) for key, value in found.items()}


def main() -> None:
    print(f"On {jax.devices()[0].device_kind}, jax {jax.__version__}.\n")
    print("| loss | weights | gradient of | " + " | ".join(WAYS) + " | 16 bits / TF32 | many / TF32 |")
    print("|---|---|---|" + "---|" * (len(WAYS) + 2))
    for loss in ("mse", "cross_entropy"):
        store = Store(tempfile.gettempdir() + "/modgrok-gradient-error")
        experiment = store.resolve(Experiment(task="n + m", modulus=97, loss=loss, lr=0.1, steps=1))
        for name, weights in weights_of(loss).items():
            exact = gradient("float64", experiment, weights)
            found = {way: gradient(way, experiment, weights) for way in WAYS}
            for key, label in (("columns", "columns"), ("readout", "readout")):
                size = np.linalg.norm(exact[key])
                errors = [np.linalg.norm(found[way][key] - exact[key]) / size for way in WAYS]
                cells = [f"{error:.1e}" for error in errors] + [f"{errors[n] / errors[2]:.2f}" for n in range(2)]
                print(f"| {loss} | {name} | {label} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
