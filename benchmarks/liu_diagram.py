"""Run-steps per second of a phase diagram of Liu et al.: a thousand small networks, trained as batches.

    python benchmarks/liu_diagram.py --out benchmarks/results/liu_diagram.json

The networks are those of diagrams (a) and (b) in the full profile of liu2022, for fewer steps and without early stops.
The time includes everything but the first compilation: planning, evaluations and writing the runs.
"""

import argparse
import dataclasses
import json
import tempfile
import time
from pathlib import Path

from modgrok.experiments import Experiment, Observer, Store
from modgrok.experiments.environment import environment
from modgrok.experiments.sweeps.engines.local import LocalEngine
from modgrok.reproduce.liu2022.phases import squared
from modgrok.reproduce.liu2022.sizes import FULL
from modgrok.training.devices import use_all_cores


def seconds(experiments: list[Experiment]) -> float:
    """How long planning and training take, into a store of their own."""
    with tempfile.TemporaryDirectory(prefix="modgrok-") as folder:
        store, engine = Store(folder), LocalEngine()
        began = time.perf_counter()
        failures = engine.train(engine.plan([e.resolve() for e in experiments], store), store, Observer())
        assert not failures, failures[0]
        return time.perf_counter() - began


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=1000)
    arguments.add_argument("--steps", type=int, default=3000)
    arguments.add_argument("--out", type=Path)
    asked = arguments.parse_args()
    use_all_cores()
    import jax

    chosen = dict.fromkeys(squared.needs(FULL)[: asked.runs])
    some = [dataclasses.replace(e, steps=asked.steps, until=None, evaluations=20) for e in chosen]
    seconds([dataclasses.replace(e, steps=20) for e in some])
    spent = seconds(some)
    found = {
        "runs": len(some),
        "steps": asked.steps,
        "seconds": round(spent, 2),
        "run_steps_per_second": round(len(some) * asked.steps / spent),
        "environment": environment(jax.local_devices()[0]),
    }
    print(json.dumps(found, indent=1))
    if asked.out is not None:
        asked.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
