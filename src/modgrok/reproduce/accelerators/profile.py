"""Contestants, tasks, and the search by which every contestant is tuned."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from modgrok.experiments import Experiment
from modgrok.training.optimizers import OPTIMIZERS

BASELINE = "AdamW"
WINDOW = 100
"""Steps that Grokfast's moving average collects before it acts."""
CONTESTANTS: dict[str, dict[str, Any]] = {
    BASELINE: {"optimizer": "adamw"},
    "Grokfast, EMA": {"optimizer": "adamw", "grokfast": "ema"},
    "Grokfast, MA": {"optimizer": "adamw", "grokfast": "ma", "grokfast_window": WINDOW},
    "⊥Grad": {"optimizer": "adamw", "orthogonal": True},
    "StableMax": {"optimizer": "adamw", "loss": "stablemax"},
    "Muon": {"optimizer": "muon"},
    "Lion": {"optimizer": "lion"},
}
"""What each adds to the same network; Grokfast's own numbers are those of its authors (α 0.98, λ 2; 100, λ 5)."""
KNOWN = 0.95
"""Test accuracy that ends a run."""


@dataclass(frozen=True)
class Profile:
    """All sizes of a comparison."""

    name: str
    tasks: Mapping[str, dict[str, Any]] = field(hash=False)
    """By study: the task and its settings."""
    width: int
    steps: int
    rates: tuple[float, ...]
    """Learning rates of the search, in units of the optimizer's usual one."""
    decays: tuple[float, ...]
    """Weight decays of the search, likewise."""
    seeds: int
    """Beside seed 0, which chooses, so many seeds are compared."""
    left_out: tuple[str, ...] = ()

    def trials(self, contestant: str) -> list[tuple[float, float]]:
        """Rate and decay of every trial: as many for each contestant."""
        usual = OPTIMIZERS[CONTESTANTS[contestant]["optimizer"]]
        return [
            (float(f"{usual.standard_rate * rate:.3g}"), float(f"{usual.standard_decay * decay:.3g}"))
            for rate in self.rates
            for decay in self.decays
        ]

    def experiments(self, study: str) -> dict[str, list[list[Experiment]]]:
        """For every contestant and trial a run for each seed, the one that chooses first."""
        settings: dict[str, Any] = {
            "network": "mlp",
            "activation": "quadratic",
            "biases": False,
            "loss": "cross_entropy",
            "width": self.width,
            "steps": self.steps,
            "evaluations": 100,
            "snapshots": 0,
            "until": 0,
            "threshold": KNOWN,
        }
        settings |= self.tasks[study]
        return {
            name: [
                [Experiment(**settings | more, lr=lr, weight_decay=decay, seed=s) for s in range(1 + self.seeds)]
                for lr, decay in self.trials(name)
            ]
            for name, more in CONTESTANTS.items()
        }


QUICK = Profile(
    name="quick",
    tasks={
        "figN": {"task": "n + m", "modulus": 31, "fraction": 0.55},
        "figP": {"task": "n * m", "modulus": 31, "fraction": 0.55},
        "figG": {"task": "group:S4", "fraction": 0.7},
    },
    width=128,
    steps=300,
    rates=(30.0, 100.0),
    decays=(0.0, 0.1, 0.3, 1.0, 3.0),
    seeds=2,
)
"""Two CPU cores: p = 31, S4 instead of S5, ten trials for each contestant, two seeds compared."""
FULL = dataclasses.replace(
    QUICK,
    name="full",
    tasks={
        "figN": {"task": "n + m", "modulus": 97, "fraction": 0.5},
        "figP": {"task": "n * m", "modulus": 97, "fraction": 0.5},
        "figG": {"task": "group:S5", "fraction": 0.5},
    },
    width=256,
    steps=1_000,
    rates=(30.0, 100.0, 300.0, 1_000.0, 3_000.0),
    decays=(0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
    seeds=4,
)
"""p = 97 and S5, 40 trials for each contestant, four seeds compared, for a GPU."""
TINY = dataclasses.replace(
    QUICK,
    name="tiny",
    tasks={"figN": {"task": "n + m", "modulus": 5}},
    width=4,
    steps=3,
    rates=(1.0,),
    decays=(1.0,),
    seeds=1,
    left_out=("figP", "figG"),
)
"""For tests of the pipeline."""
