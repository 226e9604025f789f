"""How exact a transformer's gradient is on a GPU: its fused kernels and TF32 products, against float64.

PYTHONPATH=src python benchmarks/transformer_error.py > benchmarks/results/transformer_error_h200.txt

The transformer of Nanda et al., p = 113, eight seeds: at the start, after 300 steps of AdamW and after 2 500, when all
losses are small. For each tensor the error of the fused gradient over that of TF32, mean and largest over the seeds.
"""

import dataclasses
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from modgrok.experiments.contestants import ModgrokTraining
from modgrok.training.kernels import generic, kernel_for
from torch_transformer import TransformerWorkload

RUNS, STEPS = 8, (0, 300, 2500)


@cache
def step(kernel: generic.Kernel) -> Any:
    return jax.jit(jax.vmap(lambda weights, batch: kernel.loss_and_grad(weights, batch, None, None)[:2]))


def found_by(kernel: generic.Kernel, weights: Any, batch: Any) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Losses and gradients of all runs."""
    return jax.tree.map(lambda x: np.asarray(x, np.float64), step(kernel)(weights, batch))


def main() -> None:
    training = ModgrokTraining(TransformerWorkload(runs=RUNS), RUNS, jax.local_devices())
    batches: Any = training._runs
    program, batch, taken = batches.program, batches.data.batch, 0
    precise = dataclasses.replace(program, precision="float64", loss_precision="float64")
    print(f"On {jax.devices()[0].device_kind}, jax {jax.__version__}.")
    for steps in STEPS:
        training.take(steps - taken)
        taken, weights, plain = steps, batches.state.weights, batch._replace(tables=None)
        ours, twice = (found_by(kernel_for(program), weights, batch) for _ in range(2))
        tf32 = found_by(generic.Kernel(program), weights, plain)
        with jax.enable_x64(True):
            wide = jax.tree.map(lambda x: jnp.asarray(np.asarray(x), jnp.float64), weights)
            weight = jnp.asarray(np.asarray(plain.weight), jnp.float64)
            exact = found_by(generic.Kernel(precise), wide, plain._replace(weight=weight))
        same = all(map(np.array_equal, jax.tree.leaves(ours), jax.tree.leaves(twice)))
        losses = ", ".join(f"{np.mean(one[0]):.3e}" for one in (exact, ours, tf32))
        print(f"\n{steps} steps: mean loss in float64, fused and in TF32 {losses}; the same bits twice: {same}")
        for name, of_exact in exact[1].items():
            axes = tuple(range(1, of_exact.ndim))
            a, b = (np.sqrt(((one[1][name] - of_exact) ** 2).sum(axis=axes)) for one in (ours, tf32))
            print(f"  {name}: {np.mean(a / b):.2f}, at most {np.max(a / b):.2f}")


if __name__ == "__main__":
    main()
