"""How much of the follow-ups is computed."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from modgrok.experiments import Experiment


@dataclass(frozen=True)
class Profile:
    """All sizes of a reproduction."""

    name: str
    margin_modulus: int
    margin_width: int
    margin_steps: int
    """At each of the rates."""
    margin_seeds: int
    modulus: int
    """Of the networks that are given wrong labels."""
    width: int
    steps: int
    fractions: tuple[float, ...]
    wrong: tuple[float, ...]
    """Shares of the training set with wrong labels."""
    decays: tuple[float, ...]
    pruned: tuple[float, float, float]
    """Fraction, share of wrong labels and decay of the networks whose neurons are taken away."""
    seeds: int
    """Of the networks whose neurons are taken away."""
    machine_modulus: int
    machine_fraction: float
    iterations: int
    left_out: tuple[str, ...] = ()

    def corrupted(self, fraction: float, wrong: float, decay: float, seed: int = 0) -> Experiment:
        """As Doshi et al. train: no prefactors, AdamW with rate 0.01."""
        settings: dict[str, Any] = {
            "parametrization": "standard",
            "optimizer": "adamw",
            "lr": 0.01,
            "weight_decay": decay,
            "wrong_labels": wrong,
            "steps": self.steps,
            "evaluations": 20,
            "snapshots": 0,
        }
        return Experiment("n + m", self.modulus, width=self.width, fraction=fraction, seed=seed, **settings)


QUICK = Profile(
    name="quick",
    margin_modulus=13,
    margin_width=64,
    margin_steps=2_000,
    margin_seeds=3,
    modulus=31,
    width=128,
    steps=2_000,
    fractions=(0.3, 0.5, 0.7, 0.9),
    wrong=(0.1, 0.2, 0.35, 0.5, 0.7),
    decays=(0.0, 5.0, 10.0, 15.0, 20.0),
    pruned=(0.7, 0.2, 5.0),
    seeds=3,
    machine_modulus=31,
    machine_fraction=0.6,
    iterations=30,
)
"""Two CPU cores: p = 13 instead of 71, 31 instead of 97 and 31 instead of 61; a weight decay of 10, since 15 and 20
leave nothing of so small networks."""
FULL = dataclasses.replace(
    QUICK,
    name="full",
    margin_modulus=71,
    margin_width=500,
    margin_steps=2_000,
    margin_seeds=1,
    modulus=97,
    width=500,
    fractions=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    wrong=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    decays=(0.0, 5.0, 15.0, 20.0),
    pruned=(0.5, 0.35, 0.0),
    machine_modulus=61,
    machine_fraction=0.5,
    iterations=50,
)
"""The authors' sizes, with every second fraction and share of wrong labels, for a GPU; one seed of the largest margin,
which CPU cores train while the GPU trains the others."""
TINY = dataclasses.replace(
    QUICK,
    name="tiny",
    margin_modulus=7,
    margin_width=40,
    margin_steps=300,
    margin_seeds=1,
    modulus=5,
    width=8,
    steps=3,
    fractions=(0.6,),
    wrong=(0.2,),
    decays=(0.0,),
    pruned=(0.6, 0.2, 0.0),
    seeds=1,
    machine_modulus=5,
    iterations=3,
)
"""For tests of the pipeline."""
