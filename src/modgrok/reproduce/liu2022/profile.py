"""The toy of Liu et al. and how much of it is trained."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from modgrok.experiments import Experiment

NUMBERS, PAIRS = 10, 55
TASK = "add:10,codes=30:unordered"
"""Sums of two of the numbers 0 … 9, each unordered pair once; every sum is a fixed vector of 30 normal numbers."""
EMBEDDING_RATE, DECODER_RATE = 1e-3, 1e-4
PERMUTATIONS = {"task": "group:S3,codes=30", "embedding": 9, "combine": "product"}
"""Products of the six permutations of three things, each a learnable matrix of 3 × 3; 24 of 36 pairs are trained on."""
PERMUTATION_PAIRS = 24
RELIABLE = 0.9
"""Accuracy that counts as known in phase diagrams."""


def toy(pairs: int, seed: int, steps: int, **more: Any) -> Experiment:
    """One number for each integer, summed, decoded by two hidden layers of 200 tanh; AdamW without decay."""
    settings: dict[str, Any] = {
        "task": TASK,
        "network": "embedding-mlp",
        "embedding": 1,
        "width": 200,
        "depth": 2,
        "activation": "tanh",
        "optimizer": "adamw",
        "beta2": 0.999,
        "lr": DECODER_RATE,
        "embedding_lr": EMBEDDING_RATE,
        "weight_decay": 0.0,
        "embedding_decay": 0.0,
        "record": ("rqi",),
    }
    return Experiment(**settings | {"examples": pairs, "seed": seed, "steps": steps, "snapshots": 0} | more)


@dataclass(frozen=True)
class Profile:
    """All sizes of a reproduction."""

    name: str
    sets: int
    """Random training sets for each point of the theory."""
    sizes: tuple[int, ...]
    """Pairs that are trained on, of 55."""
    seeds: int
    steps: int
    diagram_rates: tuple[float, ...]
    """Learning rates of phase diagram (a), on both axes."""
    decoder_rates: tuple[float, ...]
    """Learning rates of the decoder in diagrams (b) and (c)."""
    decays: tuple[float, ...]
    """Weight decays of the decoder there."""
    diagram_seeds: int
    diagram_steps: int
    lag: int
    """Steps between training and test accuracy from which on it is grokking."""
    circle_steps: int
    group_rates: tuple[float, ...] = (1e-4, 1e-2)
    """Learning rates of the decoder in diagram (d)."""
    group_decays: tuple[float, ...] = (0.0, 10.0, 50.0, 200.0)
    """Weight decays of the decoder there."""
    left_out: tuple[str, ...] = ()

    def toys(self) -> dict[int, list[Experiment]]:
        """For every size of the training set one run for each seed."""
        return {
            size: [toy(size, seed, self.steps, evaluations=120) for seed in range(self.seeds)] for size in self.sizes
        }

    def diagram(self, pairs: int = 45, **settings: Any) -> list[Experiment]:
        """The runs of one place of a phase diagram; they stop when the test pairs are known."""
        more = {"threshold": RELIABLE, "evaluations": 100, "until": 0, "record": ()} | settings
        return [toy(pairs, seed, self.diagram_steps, **more) for seed in range(self.diagram_seeds)]


TINY = Profile(
    name="tiny",
    sets=10,
    sizes=(20, 45),
    seeds=1,
    steps=30,
    diagram_rates=(1e-4, 1e-2),
    decoder_rates=(1e-3,),
    decays=(0.0, 5.0),
    diagram_seeds=1,
    diagram_steps=30,
    lag=10,
    circle_steps=5,
    left_out=("figP", "fig6c", "fig6d"),
)
"""For tests of the pipeline: everything runs, nothing is learnt."""
QUICK = dataclasses.replace(
    TINY,
    name="quick",
    sets=200,
    sizes=(20, 30, 40, 45, 50),
    seeds=6,
    steps=2_500,
    diagram_rates=(1e-5, 1e-4, 1e-3, 1e-2),
    decoder_rates=(1e-4, 1e-3, 1e-2),
    decays=(0.0, 2.0, 5.0, 10.0),
    diagram_steps=3_000,
    lag=500,
    left_out=("figP", "fig6c"),
)
"""Two CPU cores: coarse phase diagrams with one seed, 3 000 steps instead of 100 000 and half the paper's lag of
1 000; no cross-entropy, no transformer."""
FULL = dataclasses.replace(
    QUICK,
    name="full",
    sets=1_000,
    sizes=(15, 20, 25, 30, 35, 40, 45, 50, 54),
    seeds=16,
    steps=10_000,
    diagram_rates=tuple(float(f"{10 ** (-5 + k / 3):.3g}") for k in range(10)),
    decoder_rates=tuple(float(f"{10 ** (-5 + k / 3):.3g}") for k in range(10)),
    decays=(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0),
    diagram_seeds=5,
    lag=1_000,
    diagram_steps=10_000,
    circle_steps=10_000,
    group_rates=(1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
    group_decays=(0.0, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0, 200.0),
    left_out=(),
)
"""The paper's grids with five seeds, a thousand runs in diagrams (a) and (b), for a GPU; 10 000 steps as in the
authors' code, where the paper says 100 000."""
