r"""The optimizers by name, and the settings with which each groks modular addition at p = 97, N = 500, α = 0.5.

The gradient of the mean squared error at initialization is about $2/(p^3 N)$, so the natural unit of the learning rate
of plain gradient descent is $(p/97)^3 (N/500)$. Adam divides by the gradient's size and needs no such unit.
"""

from dataclasses import dataclass
from typing import Literal

from modgrok.networks.parametrization import scales
from modgrok.training.program import Family


@dataclass(frozen=True)
class Optimizer:
    """What a name stands for; every number is a default that a setting of the same name overrides."""

    family: Family
    learning_rate: float
    """At p = 97, N = 500, in mean-field parametrization."""
    steps: int
    weight_decay: float = 0.0
    momentum: float = 0.0
    nesterov: bool = False
    batch_size: int | None = None
    decay: Literal["coupled", "decoupled"] = "coupled"


OPTIMIZERS = {
    "gd": Optimizer("sgd", 1e6, 5_000),
    "momentum": Optimizer("sgd", 1e5, 3_000, momentum=0.9),
    "nesterov": Optimizer("sgd", 1e5, 3_000, momentum=0.9, nesterov=True),
    "sgd": Optimizer("sgd", 1e6, 5_000, batch_size=1024),
    "adam": Optimizer("adam", 0.1, 1_000),
    "adamw": Optimizer("adam", 0.1, 1_000, weight_decay=0.05, decay="decoupled"),
}


def natural_learning_rate(
    optimizer: str, modulus: int, arity: int, width: int, parametrization: str, batch_norm: bool
) -> float:
    """The learning rate behind `auto`.

    Other parametrizations hold weights that are smaller by $c = (a^2 b)^{1/3}$, a and b the paper's prefactors; the
    same path then needs a rate smaller by c² for gradient descent and by c for Adam.
    """
    chosen = OPTIMIZERS[optimizer]
    sgd = chosen.family == "sgd"
    rate = chosen.learning_rate
    if sgd:
        rate *= (modulus / 97) ** 3 * (width / 500)
    if batch_norm and sgd:
        # Normalized preactivations are √(D/2) larger than the paper's, their squares and gradients D/2.
        rate *= 2 / (arity * modulus)
    if parametrization != "mean-field":
        paper = scales("mean-field", arity * modulus, width)
        c = (paper.hidden**2 * paper.output) ** (1 / 3)
        rate *= c**2 if sgd else c
    return float(f"{rate:.6g}")
