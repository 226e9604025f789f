"""Contestants, tasks, and the search by which every contestant is tuned: quick on two CPU cores, full on a GPU."""

from typing import Any

from modgrok.reproduce.form import Runs, Sizes, runs, sizes
from modgrok.training.optimizers import OPTIMIZERS

BASELINE, MOVING_AVERAGE = "AdamW", "Grokfast, MA"
WINDOW = 100
"""Steps that Grokfast's moving average collects before it acts."""
CONTESTANTS: dict[str, dict[str, Any]] = {
    BASELINE: {"optimizer": "adamw"},
    "Grokfast, EMA": {"optimizer": "adamw", "grokfast": "ema"},
    MOVING_AVERAGE: {"optimizer": "adamw", "grokfast": "ma", "grokfast_window": WINDOW},
    "⊥Grad": {"optimizer": "adamw", "orthogonal": True},
    "StableMax": {"optimizer": "adamw", "loss": "stablemax"},
    "Muon": {"optimizer": "muon"},
    "Lion": {"optimizer": "lion"},
}
"""What each adds to the same network; Grokfast's own numbers are those of its authors (α 0.98, λ 2; 100, λ 5)."""
KNOWN = 0.95
"""Test accuracy that ends a run."""
NETWORK = {"network": "mlp", "activation": "quadratic", "biases": False, "loss": "cross_entropy"}
SCHEDULE = {"evaluations": 100, "snapshots": 0, "until": 0, "threshold": KNOWN}

PROFILES = QUICK, FULL, TINY = sizes(
    tasks=(
        {
            "figN": {"task": "n + m", "modulus": 31, "fraction": 0.55},
            "figP": {"task": "n * m", "modulus": 31, "fraction": 0.55},
            "figG": {"task": "group:S4", "fraction": 0.7},
        },
        {
            "figN": {"task": "n + m", "modulus": 97, "fraction": 0.5},
            "figP": {"task": "n * m", "modulus": 97, "fraction": 0.5},
            "figG": {"task": "group:S5", "fraction": 0.5},
        },
        {"figN": {"task": "n + m", "modulus": 5}},
    ),
    width=(128, 256, 4),
    steps=(300, 1_000, 3),
    rates=((30.0, 100.0), (30.0, 100.0, 300.0, 1_000.0, 3_000.0), (1.0,)),  # in units of the optimizer's usual one
    decays=((0.0, 0.1, 0.3, 1.0, 3.0), (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0), (1.0,)),  # likewise
    seeds=(2, 4, 1),  # compared, beside seed 0, which chooses
    left_out=((), (), ("figP", "figG")),
)


def searched(study: str, s: Sizes) -> Runs:
    """For every contestant and trial a run for each seed, the one that chooses first; as many trials for each."""
    task, found = s.tasks[study], Runs([])
    for name, more in CONTESTANTS.items():
        usual = OPTIMIZERS[more["optimizer"]]
        found += runs(
            {**NETWORK, **SCHEDULE, **task, **more, "width": s.width, "steps": s.steps},
            lr=[float(f"{usual.standard_rate * rate:.3g}") for rate in s.rates],
            weight_decay=[float(f"{usual.standard_decay * decay:.3g}") for decay in s.decays],
            seed=range(1 + s.seeds),
        ).tag(contestant=name)
    return found.tag(setting=", ".join(f"{key} {value}" for key, value in task.items()))
