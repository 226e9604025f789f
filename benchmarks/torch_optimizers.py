"""Our optimizers beside `torch.optim`: the same network from the same weights, 100 full-batch steps in float64.

PyTorch is no dependency of modgrok, so this script runs in an environment of its own, which needs no modgrok:

    python -m venv .venv-torch
    .venv-torch/bin/pip install torch==2.13.0 numpy
    .venv-torch/bin/python benchmarks/torch_optimizers.py

It calls Python in the project's environment (`.venv/bin`, or the folder given as an argument). Defaults differ where
docs/definitions.md says so (β₂ = 0.98 for Adam and RMSprop); here both have the same numbers.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

STEPS, LR, TOLERANCE = 100, 1e-2, 1e-9
SETTINGS = {"modulus": 11, "width": 24, "fraction": 0.7, "precision": "float64", "steps": STEPS, "snapshots": 2}
SETTINGS |= {"evaluations": 2, "parametrization": "standard", "init_scale": 3.0}

BETAS = {"betas": (0.9, 0.98), "eps": 1e-8}
CASES = (
    ("gd", {"lr": 0.5}, torch.optim.SGD, {"lr": 0.5}),
    ("sgd", {"lr": 0.5}, torch.optim.SGD, {"lr": 0.5}),
    (
        "gd, weight decay",
        {"optimizer": "gd", "lr": 0.5, "weight_decay": 1e-2},
        torch.optim.SGD,
        {"lr": 0.5, "weight_decay": 1e-2},
    ),
    ("momentum", {"lr": 0.1}, torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
    (
        "momentum, weight decay",
        {"optimizer": "momentum", "lr": 0.1, "weight_decay": 1e-2},
        torch.optim.SGD,
        {"lr": 0.1, "momentum": 0.9, "weight_decay": 1e-2},
    ),
    ("nesterov", {"lr": 0.1}, torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("adam", {"lr": LR}, torch.optim.Adam, {"lr": LR, **BETAS}),
    (
        "adam, weight decay",
        {"optimizer": "adam", "lr": LR, "weight_decay": 1e-2},
        torch.optim.Adam,
        {"lr": LR, "weight_decay": 1e-2, **BETAS},
    ),
    ("adamw", {"lr": LR, "weight_decay": 0.5}, torch.optim.AdamW, {"lr": LR, "weight_decay": 0.5, **BETAS}),
    ("rmsprop", {"lr": LR}, torch.optim.RMSprop, {"lr": LR, "alpha": 0.98, "eps": 1e-8}),
    (
        "rmsprop, weight decay",
        {"optimizer": "rmsprop", "lr": LR, "weight_decay": 1e-2},
        torch.optim.RMSprop,
        {"lr": LR, "alpha": 0.98, "eps": 1e-8, "weight_decay": 1e-2},
    ),
)

RUNS_OF_MODGROK = """
import json, sys
import numpy as np
import modgrok as mg
folder, *cases = sys.argv[1:]
for number, settings in enumerate(map(json.loads, cases)):
    run = mg.train("n + m", store=folder, **settings)
    first, last = run.snapshot(0), run.network
    train, _ = run.experiment.split.divide(run.task)
    np.savez(f"{folder}/{number}.npz", w_in=first.w_in, w_out=first.w_out, end_in=last.w_in, end_out=last.w_out,
             train=train, table=run.task.table, loss=run.result.train_loss)
"""


def train(
    found: dict[str, np.ndarray], kind: type[torch.optim.Optimizer], options: dict[str, object]
) -> list[np.ndarray]:
    """The weights after as many steps of PyTorch's optimizer from the same start."""
    w_in, w_out = (torch.tensor(found[name], requires_grad=True) for name in ("w_in", "w_out"))
    p = len(found["table"])
    pairs = torch.cartesian_prod(torch.arange(p), torch.arange(p))[found["train"]]
    x = torch.nn.functional.one_hot(pairs, p).flatten(1).double()
    y = torch.nn.functional.one_hot(torch.tensor(found["table"].ravel()[found["train"]]), p).double()
    optimizer = kind([w_in, w_out], **options)
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss((x @ w_in.flatten(1).T) ** 2 @ w_out.T, y).backward()
        optimizer.step()
    return [w_in.detach().numpy(), w_out.detach().numpy()]


def main() -> None:
    """Prints, for every optimizer, how far the weights moved and how far those of PyTorch are from ours."""
    programs = Path(sys.argv[1] if len(sys.argv) > 1 else ".venv/bin")
    print(f"PyTorch {torch.__version__}, {STEPS} steps in float64; largest distances of single weights")
    print(f"{'optimizer':<24} {'moved':>8} {'difference':>11}")
    with tempfile.TemporaryDirectory() as folder:
        settings = [{"optimizer": name} | SETTINGS | own for name, own, *_ in CASES]
        subprocess.run([programs / "python", "-c", RUNS_OF_MODGROK, folder, *map(json.dumps, settings)], check=True)
        for number, (name, _, kind, options) in enumerate(CASES):
            found = dict(np.load(f"{folder}/{number}.npz"))
            ends = [found["end_in"], found["end_out"]]
            torch_ends = train(found, kind, options)
            moved = max(abs(end - found[start]).max() for end, start in zip(ends, ("w_in", "w_out"), strict=True))
            difference = max(abs(one - other).max() for one, other in zip(ends, torch_ends, strict=True))
            print(f"{name:<24} {moved:>8.3f} {difference:>11.1e}")
            if difference > TOLERANCE:
                sys.exit("The weights differ.")


if __name__ == "__main__":
    main()
