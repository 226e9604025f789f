"""Memory that trainings are said to take, beside what they take: each in a process of its own, for two steps.

Used is the largest resident size of the process (`VmHWM`) less its size when libraries are loaded and a device was
used once, before the task is made: what a machine must have free when the check is made. Each training writes its
checkpoints, snapshots and result; a checkpoint is made after every call of the program, which otherwise takes a run of
some seconds. `--only NUMBER` trains one of them, `--out FILE` writes the table too. Linux only.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SMALL = {"steps": 2, "evaluations": 1, "snapshots": 1, "fraction": 0.05}
SETTINGS = {
    "two-layer, p = 97, N = 200 000, adamw": {"task": "n + m", "modulus": 97, "width": 200_000},
    "two-layer, p = 97, N = 450 000, gd": {"task": "n + m", "modulus": 97, "width": 450_000, "optimizer": "gd"},
    "two-layer, p = 97, N = 50 000, adamw, a sweep of 4": {"task": "n + m", "modulus": 97, "width": 50_000, "runs": 4},
    "mlp, group:S5, N = 100 000, adamw": {"task": "group:S5", "network": "mlp", "width": 100_000},
    "transformer, p = 97, width 1024, 2 layers, adamw": {
        "task": "n + m",
        "modulus": 97,
        "network": "transformer",
        "width": 1024,
        "layers": 2,
    },
    "mlp, p = 2003, N = 32, gd": {"task": "n + m", "modulus": 2003, "network": "mlp", "width": 32, "optimizer": "gd"},
    "two-layer, p = 97, N = 10 000, sgd": {"task": "n + m", "modulus": 97, "width": 10_000, "optimizer": "sgd"},
}
"""Settings of an experiment by title, `runs` for how many seeds."""


def resident(name: str) -> int:
    """Bytes of this process: `VmRSS` now, `VmHWM` at most so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def train(settings: dict) -> dict[str, int]:
    """Bytes said and used by a training in this process."""
    from modgrok.training.devices import run_bytes, use_all_cores

    use_all_cores()
    import jax
    import optax  # noqa: F401

    from modgrok.experiments import Experiment, Store, batch_training, run_writer
    from modgrok.experiments.cost import work
    from modgrok.experiments.planner import plan_here
    from modgrok.experiments.train import train_stored
    from modgrok.training.devices import COMPILATION

    jax.block_until_ready(jax.jit(lambda x: x @ x)(jax.numpy.ones((64, 64))))
    batch_training.CHECKPOINT_SECONDS, run_writer.SHARE = 0.0, 1e9
    before = resident("VmRSS")
    runs = settings.pop("runs", 1)
    experiments = [Experiment(**SMALL | settings, seed=seed).resolve() for seed in range(runs)]
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        if runs == 1:
            said = work(experiments[0], experiments[0].load_task()).memory
        else:
            (batch,) = plan_here(experiments, store)
            devices = min(runs, len(jax.local_devices()))
            parts = batch.program, batch.padded_shape, batch.evaluated
            said = COMPILATION + devices * run_bytes(*parts, -(-runs // devices))
        train_stored(experiments, store)
    return {"said": said, "used": resident("VmHWM") - before}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", type=int, help="the number of a setting, from 1")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child is not None:
        print(json.dumps(train(json.loads(asked.child))))
        return
    lines = [f"{'':52} {'said':>8} {'used':>8} {'used/said':>10}"]
    print(lines[0], flush=True)
    for number, (name, settings) in enumerate(SETTINGS.items(), start=1):
        if asked.only in (None, number):
            command = [sys.executable, __file__, "--child", json.dumps(settings)]
            found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
            said, used = (found[name] / 1e9 for name in ("said", "used"))
            lines.append(f"{name:52} {said:5.2f} GB {used:5.2f} GB {used / said:10.2f}")
            print(lines[-1], flush=True)
    if asked.out is not None:
        asked.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
