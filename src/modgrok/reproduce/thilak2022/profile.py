"""The networks of Thilak et al. in a cheap form and in their own, and how many are trained."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from modgrok.experiments import Experiment

EPSILONS = (1e-8, 1e-7, 1e-5)
"""The smallest divisors of Adam that the paper compares."""
POWER = {
    "network": "transformer",
    "layers": 2,
    "layer_norm": "post",
    "positions": "sinusoidal",
    "biases": False,
    "framed": True,
    "initialization": "torch",
    "vocabulary": 239,
    "warmup": 10,
    "batch_size": 512,
    "lr": 1e-3,
    "precision": "highest",
}
"""The transformer of Power et al., which the paper trains."""
DESCENT_RATE = 0.05
"""Learning rate of gradient descent with momentum 0.9; without it ten times as much."""
FIRST = f"ε = {EPSILONS[0]:g}"
DOUBLE = "float64 logits and loss"
Variants = dict[str, list[Experiment]]


@dataclass(frozen=True)
class Profile:
    """All sizes of a reproduction."""

    name: str
    modulus: int
    width: int
    fraction: float
    lr: float
    steps: int
    evaluations: int
    seeds: int
    decays: tuple[float, ...]
    """Weight decays of AdamW; at the largest no spike is expected."""
    followed: int
    """Steps of the run whose curvature is followed."""
    stride: int
    """Steps between two looks at it."""
    transformer_steps: int = 15_000
    transformer_seeds: int = 2
    transformer_evaluations: int = 2_000
    left_out: tuple[str, ...] = ()

    def perceptron(self, seed: int = 0, **more: Any) -> Experiment:
        """n + m by two hidden layers of ReLU, cross-entropy, the whole training set at every step, no weight decay."""
        settings: dict[str, Any] = {
            "network": "mlp",
            "width": self.width,
            "depth": 2,
            "loss": "cross_entropy",
            "fraction": self.fraction,
            "optimizer": "adam",
            "lr": self.lr,
            "weight_decay": 0.0,
            "steps": self.steps,
            "evaluations": self.evaluations,
            "snapshots": 0,
            "record": ("last_layer",),
            "precision": "highest",
        }
        return Experiment("n + m", self.modulus, seed=seed, **settings | more)

    def variants(self) -> Variants:
        """Adam as the paper has it, and what does away with the spikes or is said to."""
        descent = {"optimizer": "gd", "lr": 10 * DESCENT_RATE}
        made = {f"ε = {epsilon:g}": self._seeded(epsilon=epsilon) for epsilon in EPSILONS}
        made |= {DOUBLE: self._seeded(loss_precision="float64"), "RMSProp": self._seeded(optimizer="rmsprop")}
        made |= {"gradient descent": self._seeded(**descent)}
        made |= {"momentum": self._seeded(**descent | {"optimizer": "momentum", "lr": DESCENT_RATE})}
        return made | {f"weight decay {g:g}": self._seeded(optimizer="adamw", weight_decay=g) for g in self.decays}

    def _seeded(self, **more: Any) -> list[Experiment]:
        return [self.perceptron(seed, **more) for seed in range(self.seeds)]

    def transformers(self) -> Variants:
        """Division by the transformer of Power et al.: ε, logits and loss in 64 bits, weight decay 1, plain SGD."""
        variants: dict[str, dict[str, Any]] = {f"ε = {epsilon:g}": {"epsilon": epsilon} for epsilon in EPSILONS}
        variants |= {
            DOUBLE: {"loss_precision": "float64"},
            "weight decay 1": {"optimizer": "adamw", "weight_decay": 1.0},
            "gradient descent": {"optimizer": "sgd", "lr": DESCENT_RATE},
        }
        seeds = range(self.transformer_seeds)
        return {name: [self._transformer(seed, **more) for seed in seeds] for name, more in variants.items()}

    def _transformer(self, seed: int, **more: Any) -> Experiment:
        settings: dict[str, Any] = POWER | {
            "optimizer": "adam",
            "weight_decay": 0.0,
            "steps": self.transformer_steps,
            "evaluations": self.transformer_evaluations,
            "snapshots": 0,
            "record": ("last_layer",),
        }
        return Experiment("n/m", 97, seed=seed, **settings | more)


TINY = Profile(
    name="tiny",
    modulus=5,
    width=8,
    fraction=0.6,
    lr=0.003,
    steps=40,
    evaluations=10,
    seeds=1,
    decays=(1.0,),
    followed=20,
    stride=5,
    left_out=("fig3", "figT"),
)
"""For tests of the pipeline."""
QUICK = Profile(
    name="quick",
    modulus=17,
    width=64,
    fraction=0.7,
    lr=0.003,
    steps=5_000,
    evaluations=1_200,
    seeds=3,
    decays=(0.1, 0.3, 1.0),
    followed=4_000,
    stride=5,
    left_out=("figT",),
)
"""Two CPU cores: a perceptron of two hidden layers instead of the transformer, n + m modulo 17."""
FULL = dataclasses.replace(
    QUICK,
    name="full",
    modulus=97,
    width=128,
    fraction=0.5,
    lr=0.001,
    steps=20_000,
    evaluations=2_500,
    seeds=3,
    decays=(0.1, 0.3, 1.0),
    left_out=(),
)
"""The perceptron at the paper's modulus and rate, and the transformer of Power et al. for 15 000 steps instead of up to
10⁶; the curvature is followed at the small modulus."""
