"""The parities of Barak et al. and how many are trained."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from modgrok.experiments import Experiment

BATCH, LARGE_BATCH = 32, 512


def online(n: int, k: int, lr: float, steps: int, seed: int, **more: Any) -> Experiment:
    """The parity of k of n bits by SGD on fresh batches of 32, a hidden layer of 100 ReLU, hinge loss."""
    settings: dict[str, Any] = {"network": "mlp", "width": 100, "loss": "hinge", "optimizer": "sgd", "lr": lr}
    settings |= {"batch_size": BATCH, "weight_decay": 0.0, "snapshots": 0, "test_examples": 2048}
    return Experiment(f"parity:{n},{k}", steps=steps, seed=seed, **settings | more)


@dataclass(frozen=True)
class Profile:
    """All sizes of a reproduction."""

    name: str
    bits: int
    """n of the curves and of finite data, for k = 3."""
    seeds: int
    steps: int
    scaling: dict[int, dict[int, int]]
    """For every k the n whose times are measured, with the most steps for each."""
    scaling_seeds: int
    histogram_bits: int
    """n of the histogram, for k = 3."""
    histogram_seeds: int
    histogram_steps: int
    finite_width: int
    finite_seeds: int
    finite_steps: int
    gradients: int
    """Neurons whose sampled gradient is looked at."""
    left_out: tuple[str, ...] = ()

    def plateau(self) -> dict[int, list[Experiment]]:
        """(n, 3) online at rate 0.1, with weights on the way, in small batches and, for half as long, in large ones."""
        return {
            batch: [online(self.bits, 3, 0.1, steps, s, batch_size=batch, snapshots=80) for s in range(self.seeds)]
            for batch, steps in ((BATCH, self.steps), (LARGE_BATCH, self.steps // 2))
        }

    def times(self) -> dict[int, dict[int, list[Experiment]]]:
        """For every k and n, at the paper's rate 1; runs stop when they have it."""
        return {
            k: {
                n: [online(n, k, 1.0, steps, s, until=0, evaluations=200) for s in range(self.scaling_seeds)]
                for n, steps in sizes.items()
            }
            for k, sizes in self.scaling.items()
        }

    def histogram(self) -> list[Experiment]:
        """Many seeds of one setting."""
        n, steps = self.histogram_bits, self.histogram_steps
        return [online(n, 3, 0.1, steps, seed, until=0, evaluations=300) for seed in range(self.histogram_seeds)]

    def finite(self) -> list[Experiment]:
        """A thousand examples again and again, with L2 0.01 (Merrill et al. 2023)."""
        more = {"examples": 1000, "width": self.finite_width, "weight_decay": 0.01, "snapshots": 30, "evaluations": 120}
        return [online(self.bits, 3, 0.1, self.finite_steps, seed, **more) for seed in range(self.finite_seeds)]


TINY = Profile(
    name="tiny",
    bits=20,
    seeds=1,
    steps=30,
    scaling={2: {18: 40, 20: 40}},
    scaling_seeds=2,
    histogram_bits=18,
    histogram_seeds=2,
    histogram_steps=30,
    finite_width=20,
    finite_seeds=1,
    finite_steps=30,
    gradients=2,
)
"""For tests of the pipeline."""
QUICK = Profile(
    name="quick",
    bits=40,
    seeds=3,
    steps=4_000,
    scaling={2: {20: 300, 40: 600, 80: 1_200}, 3: {20: 1_000, 30: 2_000, 40: 4_000, 60: 8_000}},
    scaling_seeds=5,
    histogram_bits=20,
    histogram_seeds=32,
    histogram_steps=2_500,
    finite_width=1000,
    finite_seeds=2,
    finite_steps=9_600,
    gradients=20,
)
"""Two CPU cores: n up to 80, k = 2 and 3, 32 runs in the histogram."""
FULL = dataclasses.replace(
    QUICK,
    name="full",
    seeds=10,
    steps=10_000,
    scaling={
        2: {20: 1_000, 40: 1_000, 80: 2_000, 160: 4_000},
        3: {20: 2_000, 30: 4_000, 40: 8_000, 60: 16_000, 90: 40_000},
        4: {20: 40_000, 25: 80_000, 30: 160_000},
    },
    scaling_seeds=25,
    histogram_seeds=2_000,
    histogram_steps=5_000,
    finite_seeds=5,
    finite_steps=19_200,
    gradients=200,
)
"""More bits, k = 4, 25 seeds a point and two thousand runs in the histogram, for a GPU."""
