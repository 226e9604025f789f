"""The networks of Thilak et al. in a cheap form and in their own, and how many are trained: quick on two CPU cores,
without the transformer; full at the paper's modulus and rate, on a GPU."""

from modgrok.reproduce.form import Settings, Sizes, sizes
from modgrok.reproduce.power2022.sizes import TRANSFORMER

PROFILES = QUICK, FULL, TINY = sizes(
    modulus=(17, 97, 5),
    width=(64, 128, 8),
    fraction=(0.7, 0.5, 0.6),
    lr=(0.003, 0.001),
    steps=(5_000, 20_000, 40),
    evaluations=(1_200, 2_500, 10),
    seeds=(3, 3, 1),
    # Weight decays of AdamW; at the largest no spike is expected.
    decays=((0.1, 0.3, 1.0), (0.1, 0.3, 1.0), (1.0,)),
    left_out=(("figT", "figL", "figF"), (), ("fig3", "figT", "figF")),
)
EPSILONS = {f"ε = {epsilon:g}": epsilon for epsilon in (1e-8, 1e-7, 1e-5)}
"""The smallest divisors of Adam that the paper compares."""
FIRST, _, LAST = EPSILONS
DOUBLE = "float64 logits and loss"
ADAM: dict[str, Settings] = {name: {"epsilon": epsilon} for name, epsilon in EPSILONS.items()}
ADAM |= {DOUBLE: {"loss_precision": "float64"}}
"""Variants of Adam as the paper has it, for both networks."""
DIVISION = TRANSFORMER | {
    **{"task": "n/m", "modulus": 97, "vocabulary": 239, "optimizer": "adam", "weight_decay": 0.0, "batch_size": 512},
    **{"steps": 15_000, "evaluations": 2_000, "record": ("last_layer",)},
}
"""Of the transformer."""
DESCENT_RATE = 0.05
"""Learning rate of gradient descent with momentum 0.9; without it ten times as much."""


def perceptron(s: Sizes) -> Settings:
    """n + m by two hidden layers of ReLU, cross-entropy, the whole training set at every step, no weight decay."""
    named = ("modulus", "width", "fraction", "lr", "steps", "evaluations")
    network = {"task": "n + m", "network": "mlp", "depth": 2, "loss": "cross_entropy", "precision": "highest"}
    training = {"optimizer": "adam", "weight_decay": 0.0, "snapshots": 0, "record": ("last_layer",)}
    return {name: s.values[name] for name in named} | network | training
