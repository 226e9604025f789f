"""The critical fraction of n + m against p, and against how the training set is sampled, at N = 500.

    python benchmarks/critical_fraction.py --out benchmarks/results

Needs no more than JAX, Optax and matplotlib, and about five minutes on one H200. Writes `critical_fraction.json` and
`critical_fraction.csv`, and two figures; `--redraw` makes the figures again from the JSON file.
"""

import argparse
import csv
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from modgrok import plot
from modgrok.experiments import Experiment, Observer, Store
from modgrok.experiments.experiment import describe_task
from modgrok.experiments.sweeps.critical import Critical, Effort, Search, critical_fractions
from modgrok.experiments.sweeps.engines.local import LocalEngine
from modgrok.experiments.sweeps.execution import plan
from modgrok.experiments.sweeps.table import Results
from modgrok.experiments.sweeps.trends import describe
from modgrok.training.devices import use_all_cores

MODULI = (23, 31, 47, 59, 71, 97, 113)
GUIDED = ("balanced", "answers")
SETTINGS: dict[str, Any] = {
    "optimizer": "adamw",
    "weight_decay": 0.0,
    "lr": 0.03,
    "evaluations": 60,
    "snapshots": 0,
    "until": 0,
}


def searches(moduli: Sequence[int], compared_at: int, width: int, steps: int, seeds: int) -> list[Search]:
    """α_c is looked for around 25/p, near which it is without regularization; further out where it is not there."""
    found = []
    for p in moduli:
        guess = min(25 / p, 0.7)
        effort = Effort(seeds, low=round(guess / 2, 3), high=min(0.9, round(1.6 * guess, 3)), points=7, rounds=2)
        samplings = ("random", *(GUIDED if p == compared_at else ()))
        settings = SETTINGS | {"width": width, "steps": steps}
        found += [Search(Experiment("n + m", p, sampling=sampling, **settings), effort) for sampling in samplings]
    return found


def measure(wanted: list[Search], store: Store) -> tuple[list[Critical], dict[str, Any]]:
    """All critical fractions, and what they cost."""
    engine, began, cost = LocalEngine(), time.monotonic(), {"runs": 0, "run_steps": 0, "batches": 0}

    def train(experiments: Sequence[Experiment]) -> list[dict[str, Any] | None]:
        results = Results(experiments, store)
        planned = plan(results, engine)
        say(f"{planned.runs} runs in {len(planned.batches)} batches", began)
        planned.train(Watcher(began))
        done = [result for result in results.in_order if result is not None]
        cost["runs"] += len(done)
        cost["run_steps"] += sum(result["steps"] for result in done)
        cost["batches"] += len(planned.batches)
        say(f"{cost['run_steps']:,} run-steps so far", began)
        return results.in_order

    found = critical_fractions(wanted, train)
    return found, cost | {"seconds": round(time.monotonic() - began, 1)}


class Watcher(Observer):
    """Says on a line when a batch begins and how it goes."""

    def __init__(self, began: float) -> None:
        self.began = began

    def planned(self, batches: Sequence[Any]) -> None:
        for batch in batches:
            say(f"  {describe_task(batch.members[0].experiment)}: {len(batch.members)} runs", self.began)

    def remark(self, sentence: str) -> None:
        say(f"  {sentence}", self.began)


def say(sentence: str, began: float) -> None:
    print(f"{time.monotonic() - began:7.1f} s  {sentence}", flush=True)


def write(found: list[Critical], cost: dict[str, Any], device: str, out: Path) -> None:
    """The numbers, as JSON with every curve and as CSV with a row for each α_c."""
    out.mkdir(parents=True, exist_ok=True)
    described = {"device": device, "cost": cost} | describe(found)
    (out / "critical_fraction.json").write_text(json.dumps(described, indent=1) + "\n")
    with open(out / "critical_fraction.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("modulus", "sampling", "critical", "low", "high", "budget", "runs"))
        for one in found:
            t, e = one.transition, one.experiment
            writer.writerow((e.modulus, e.sampling, t.critical, t.low, t.high, one.budget, one.runs))
    for sentence in described["sentences"]:
        print(sentence)


def draw(found: list[Critical], out: Path) -> None:
    """α_c against p with random sampling; and the samplings against each other."""
    random = [one for one in found if one.experiment.sampling == "random"]
    plot.save(plot.critical(random), out / "critical_modulus.png")
    compared = {one.experiment.modulus for one in found if one.experiment.sampling != "random"}
    for p in compared:
        chosen = [one for one in found if one.experiment.modulus == p]
        plot.save(plot.critical(chosen), out / "critical_sampling.png")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    arguments.add_argument("--store", type=Path, help="keep the runs here, so that a second call goes on")
    arguments.add_argument("--moduli", type=int, nargs="+", default=MODULI)
    arguments.add_argument("--compared-at", type=int, default=97, help="modulus at which samplings are compared")
    arguments.add_argument("--width", type=int, default=500)
    arguments.add_argument("--steps", type=int, default=3000)
    arguments.add_argument("--seeds", type=int, default=24)
    arguments.add_argument("--redraw", action="store_true")
    asked = arguments.parse_args()
    if asked.redraw:
        content = json.loads((asked.out / "critical_fraction.json").read_text())
        draw([Critical.from_dict(one) for one in content["critical"]], asked.out)
        return
    use_all_cores()
    import jax

    wanted = searches(asked.moduli, asked.compared_at, asked.width, asked.steps, asked.seeds)
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="modgrok-", dir=memory) as folder:
        found, cost = measure(wanted, Store(asked.store or folder))
    write(found, cost, jax.devices()[0].device_kind, asked.out)
    draw(found, asked.out)


if __name__ == "__main__":
    main()
