"""The transformer of Nanda et al. and how much of it is trained."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from modgrok.experiments import Experiment

TASK = "n + m"


@dataclass(frozen=True)
class Profile:
    """All sizes of a reproduction."""

    name: str
    modulus: int
    width: int
    fraction: float
    decay: float
    steps: int
    seeds: int
    snapshots: int
    fractions: tuple[float, ...]
    """Shares of the pairs in the sweep; the paper finds that 10 and 20 % never grok, 30 to 50 % do, more does at
    once."""
    decays: tuple[float, ...]
    """Weight decays in the sweep."""
    sweep_seeds: int
    sweep_steps: int
    two_layer_width: int
    two_layer_fraction: float
    two_layer_steps: int
    left_out: tuple[str, ...] = ()

    def transformer(self, seed: int, **more: Any) -> Experiment:
        """One block, 4 heads, ReLU, no LayerNorm; full-batch AdamW with rate 0.001 and a warm-up of 10 steps. Products
        in whole float32 and the loss in float64, as in the authors' code."""
        settings: dict[str, Any] = {
            "network": "transformer",
            "width": self.width,
            "fraction": self.fraction,
            "optimizer": "adamw",
            "lr": 1e-3,
            "weight_decay": self.decay,
            "warmup": 10,
            "steps": self.steps,
            "precision": "highest",
            "loss_precision": "float64",
        }
        return Experiment(TASK, self.modulus, **settings | {"seed": seed} | more)

    def main(self) -> list[Experiment]:
        """The runs that are looked into, with their weights on the way."""
        return [
            self.transformer(seed, evaluations=3 * self.snapshots, snapshots=self.snapshots)
            for seed in range(self.seeds)
        ]

    def two_layer(self) -> list[Experiment]:
        """The two-layer network of squares, which learns the same sums."""
        return [
            Experiment(
                TASK,
                self.modulus,
                self.two_layer_width,
                self.two_layer_fraction,
                optimizer="adamw",
                steps=self.two_layer_steps,
                evaluations=3 * self.snapshots,
                snapshots=self.snapshots,
            )
        ]

    def swept(self, **changed: float) -> list[Experiment]:
        """One place of the sweep; its runs stop when they have grokked."""
        more: dict[str, Any] = {"steps": self.sweep_steps, "until": 0, "snapshots": 0, "evaluations": 120}
        return [self.transformer(seed, **more, **changed) for seed in range(self.sweep_seeds)]


TINY = Profile(
    name="tiny",
    modulus=7,
    width=8,
    fraction=0.4,
    decay=1.0,
    steps=6,
    seeds=1,
    snapshots=4,
    fractions=(0.4,),
    decays=(1.0,),
    sweep_seeds=1,
    sweep_steps=6,
    two_layer_width=12,
    two_layer_fraction=0.5,
    two_layer_steps=6,
)
"""For tests of the pipeline: everything runs, nothing is learnt."""
QUICK = dataclasses.replace(
    TINY,
    name="quick",
    modulus=53,
    width=64,
    fraction=0.45,
    decay=2.5,
    steps=2_000,
    seeds=3,
    snapshots=60,
    fractions=(0.2, 0.45, 0.8),
    decays=(0.0, 1.5, 2.5, 4.0),
    sweep_seeds=1,
    sweep_steps=2_000,
    two_layer_width=256,
    two_layer_fraction=0.5,
    two_layer_steps=600,
)
"""Two CPU cores: p = 53 instead of 113, vectors half as long, 45 % of the pairs and weight decay 2.5, at which so small
a table groks soon; three seeds."""
FULL = dataclasses.replace(
    QUICK,
    name="full",
    modulus=113,
    width=128,
    fraction=0.3,
    decay=1.0,
    steps=25_000,
    seeds=6,
    snapshots=60,
    fractions=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8),
    decays=(0.0, 0.3, 1.0, 3.0),
    sweep_seeds=3,
    sweep_steps=25_000,
    two_layer_width=500,
    two_layer_steps=1_000,
)
"""The paper's model and rates at p = 113, for a GPU: 25 000 steps instead of 40 000, with loss and weights in float32;
six seeds of weights and split."""
