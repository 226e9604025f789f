"""How much of a sweep's time its devices spend taking steps; planning, compiling, recording and writing are the rest.

    python benchmarks/sweep_share.py --runs 10000 --steps 20000 --out benchmarks/results/sweep_share_h200.json

Runs of n + m with p = 31, N = 128, α = 0.6, trained by `modgrok.sweep` as anybody would, from nothing compiled to the
table. The share counts steps alone: those that batches took, in the time that a step takes in a long call of its own.
Evaluations and calls of few steps keep a device busy too; `in_calls` counts all of the time in which a call was out,
the first calls' compilation included. The rest is what came before the first call, after the last, and the pauses.
Runs are stored in TMPDIR. With --until the run-steps are those that runs took before they ended.
"""

import argparse
import dataclasses
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from modgrok.experiments import Experiment, Store
from modgrok.experiments.environment import environment
from modgrok.experiments.placement import place_batch
from modgrok.experiments.planner import RunBatch, plan_here
from modgrok.experiments.sweeps import Sweep
from modgrok.experiments.sweeps.execution import run_sweep
from modgrok.training.devices import use_all_cores
from modgrok.training.program import GPU, PLATFORMS
from modgrok.training.together import RunsTogether


class Calls:
    """What goes through `RunsTogether.advance` inside the context."""

    def __enter__(self) -> "Calls":
        self.found: list[tuple[float, float, int]] = []
        """Begin, end and number of steps of every call."""
        self.advance = advance = RunsTogether.advance

        def timed(batch: RunsTogether, state: Any, step: int, count: int, measured: bool) -> Any:
            began = time.perf_counter()
            result = advance(batch, state, step, count, measured)
            self.found.append((began, time.perf_counter(), count))
            return result

        RunsTogether.advance = timed  # type: ignore[method-assign, assignment]
        return self

    def __exit__(self, *error: object) -> None:
        RunsTogether.advance = self.advance  # type: ignore[method-assign]

    @property
    def steps(self) -> int:
        return sum(count for *_, count in self.found)

    @property
    def seconds(self) -> float:
        """During which at least one call was out."""
        return self.ended - self.began - sum(self.pauses)

    @property
    def began(self) -> float:
        return min(began for began, *_ in self.found)

    @property
    def ended(self) -> float:
        return max(ended for _, ended, _ in self.found)

    @property
    def pauses(self) -> list[float]:
        """Between the first call and the last, in seconds."""
        found, until = [], self.began
        for began, ended, _ in sorted(self.found):
            found.append(max(0.0, began - until))
            until = max(until, ended)
        return found


def seconds_per_step(batch: RunBatch, devices: tuple[Any, ...]) -> float:
    """In a call that takes at least half a second."""
    live = place_batch(batch, devices, still=True)
    live.begin()
    count, taken = 64, 0.0
    live.state, _ = live.advance(live.state, 0, 1, False)
    while taken < 0.5 and count < 1 << 20:
        count *= 2
        began = time.perf_counter()
        live.state, _ = live.advance(live.state, 0, count, False)
        _ = live.diverged_at()
        taken = time.perf_counter() - began
    return taken / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--modulus", type=int, default=31)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--evaluations", type=int, default=150)
    parser.add_argument("--until", type=int, help="end runs so many steps after they grok; default: never")
    parser.add_argument("--together", action="store_true", help="a GPU's path on a CPU, to try this program")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    use_all_cores()
    if asked.together:
        PLATFORMS["cpu"] = dataclasses.replace(GPU, compiler_options={})
    import jax

    settings = {"width": asked.width, "steps": asked.steps, "evaluations": asked.evaluations, "until": asked.until}
    base = Experiment("n + m", asked.modulus, fraction=0.6, snapshots=0, **settings)
    devices = tuple(jax.local_devices())
    with tempfile.TemporaryDirectory(prefix="modgrok-") as folder:
        sweep = Sweep(base, [{"seed": range(asked.runs)}])
        began = time.perf_counter()
        with Calls() as calls:
            table = run_sweep(sweep, folder)
        wall = time.perf_counter() - began
        batches = plan_here([e.resolve() for e in sweep.experiments], Store(folder), devices)
    step = seconds_per_step(batches[0], devices)
    run_steps = sum(table["steps_taken"])
    result = {
        "experiment": base.as_dict(),
        "runs": asked.runs,
        "runs_per_batch": len(batches[0].members),
        "wall_seconds": round(wall, 2),
        "in_steps": round(calls.steps * step, 2),
        "in_calls": round(calls.seconds, 2),
        "before_calls": round(calls.began - began, 2),
        "after_calls": round(began + wall - calls.ended, 2),
        "pauses": round(sum(calls.pauses), 2),
        "pauses_over_50_ms": round(sum(pause for pause in calls.pauses if pause > 0.05), 2),
        "share": round(calls.steps * step / wall, 4),
        "microseconds_per_step": round(1e6 * step, 2),
        "calls": len(calls.found),
        "run_steps": run_steps,
        "run_steps_per_second": round(run_steps / wall),
        "other_milliseconds_per_run": round(1e3 * (wall - calls.steps * step) / asked.runs, 3),
        "cores": os.cpu_count(),
        "environment": environment(devices[0]),
    }
    print(json.dumps(result, indent=1))
    if asked.out:
        asked.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
