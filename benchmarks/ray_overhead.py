"""What a run costs on a Ray cluster beyond its training: the same sweep on the engines ray and local, in turns.

    python benchmarks/ray_overhead.py --out benchmarks/results/ray_overhead.json

1 000 tiny runs, p = 7, N = 16, 40 steps, of which hardly anything is training. The cluster is one of this machine's
own, with a worker for each core, and has started and imported everything before the first turn.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np

from modgrok.experiments import Experiment, Observer, Store
from modgrok.experiments.environment import environment
from modgrok.experiments.sweeps import Sweep
from modgrok.experiments.sweeps.engines import Engine, engine_named
from modgrok.training.devices import use_all_cores
from sweep_throughput import seconds

TURNS = 3


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=1000)
    arguments.add_argument("--out", type=Path)
    asked = arguments.parse_args()
    use_all_cores()
    import jax

    base = Experiment("n + m", 7, width=16, fraction=0.6, steps=40, evaluations=2, snapshots=0).resolve()
    experiments = Sweep(base, [{"seed": range(asked.runs)}]).experiments
    engines = {name: engine_named(name) for name in ("local", "ray")}

    def train(engine: Engine, some: int, store: Store) -> None:
        chosen = experiments[:some]
        assert not engine.train(engine.plan(chosen, store), store, Observer())

    for engine in engines.values():
        seconds(lambda store, engine=engine: train(engine, 8 * engine.workers, store))  # compiles
    turns = [
        {
            name: seconds(lambda store, engine=engine: train(engine, asked.runs, store))
            for name, engine in engines.items()
        }
        for _ in range(TURNS)
    ]
    local, ray = (np.array([turn[name] for turn in turns]) for name in ("local", "ray"))
    result = {
        "runs": asked.runs,
        "workers": engines["ray"].workers,
        "cores": os.cpu_count(),
        "turns_seconds": [{name: round(found, 3) for name, found in turn.items()} for turn in turns],
        "local_ms_per_run": round(1000 * float(np.median(local)) / asked.runs, 2),
        "ray_ms_per_run": round(1000 * float(np.median(ray)) / asked.runs, 2),
        "overhead_ms_per_run": round(1000 * float(np.median(ray - local)) / asked.runs, 2),
        "environment": environment(jax.local_devices()[0]),
    }
    print(json.dumps(result, indent=1))
    if asked.out:
        asked.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
