"""Throughput of a sweep on the local engine against the same compiled code training its runs one after another.

    python benchmarks/sweep_throughput.py --out benchmarks/results/sweep_throughput.json

200 runs of n + m with p = 31, N = 128, α = 0.6. The sweep goes through the planner of the local engine, which spreads
batches over one device for each core. One after another means: the same program, a batch of one, on one device, which
may use all cores inside its matrix products. Both are timed without compilation, and in turns, so that other work on
the machine hits them alike; the best of the turns counts.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Observer, Store
from modgrok.experiments.environment import environment
from modgrok.experiments.planner import RunBatch
from modgrok.experiments.sweeps import Sweep
from modgrok.experiments.sweeps.engines.local import LocalEngine
from modgrok.experiments.train import train_stored
from modgrok.training.devices import use_all_cores

TURNS = 3


def seconds(train: Any) -> float:
    """How long a call takes, with a store of its own in memory."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="modgrok-", dir=memory) as folder:
        began = time.perf_counter()
        train(Store(folder))
        return time.perf_counter() - began


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=200)
    arguments.add_argument("--steps", type=int, default=1000)
    arguments.add_argument("--out", type=Path)
    asked = arguments.parse_args()
    use_all_cores()
    import jax

    base = Experiment("n + m", 31, width=128, fraction=0.6, steps=asked.steps, evaluations=2, snapshots=0)
    experiments = Sweep(base, [{"seed": range(asked.runs)}]).experiments
    engine, devices = LocalEngine(), jax.local_devices()
    with tempfile.TemporaryDirectory() as folder:
        plan = engine.plan([experiment.resolve() for experiment in experiments], Store(folder))

    def sweep(store: Store, batches: Sequence[RunBatch] = plan) -> None:
        assert not engine.train(batches, store, Observer())

    alone = experiments[: max(4, asked.runs // 10)]  # a tenth is enough: they all take the same time

    def one_after_another(store: Store) -> None:
        for experiment in alone:
            train_stored([experiment], store, devices=devices[:1])

    seconds(lambda store: sweep(store, [plan[0], plan[-1]]))  # compiles
    seconds(lambda store: train_stored(alone[:1], store, devices=devices[:1]))
    turns = [(seconds(sweep), seconds(one_after_another)) for _ in range(TURNS)]
    together, single = np.min(turns, axis=0)
    result = {
        "experiment": base.as_dict(),
        "runs": asked.runs,
        "cores": os.cpu_count(),
        "devices": len(devices),
        "runs_per_batch": len(plan[0].experiments),
        "run_steps_per_second": round(asked.runs * asked.steps / together, 1),
        "one_after_another": round(len(alone) * asked.steps / single, 1),
        "turns_seconds": [[round(a, 3), round(b, 3)] for a, b in turns],
        "environment": environment(devices[0]),
    }
    result["ratio"] = round(result["run_steps_per_second"] / result["one_after_another"], 3)
    print(json.dumps(result, indent=1))
    if asked.out:
        asked.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
