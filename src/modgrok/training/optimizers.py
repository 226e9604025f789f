r"""The optimizers by name, with their settings and natural rates.

The gradient of the paper's network and loss at initialization is about $2/(p^3 N)$, so the natural unit of the learning
rate of plain gradient descent is $(p/97)^3 (N/500)$. Adam divides by the gradient's size and needs no such unit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from modgrok.networks import Architecture
from modgrok.setting import Setting
from modgrok.tasks import Signature

Rates = dict[str, Any]
"""What an update depends on besides the gradient: scalars, traced."""


@dataclass(frozen=True)
class Optimizer:
    """What a name stands for; every number is a default that a setting of the same name overrides."""

    scaling: str
    """The transformation of gradients, by name."""
    learning_rate: float
    """For the paper's network at p = 97, N = 500, in mean-field parametrization."""
    steps: int
    """Enough for the paper's network to grok at α = 0.5."""
    standard_rate: float
    """For networks whose weights start at ordinary sizes: mlp, embedding-mlp, transformer."""
    settings: tuple[Setting, ...] = ()
    """Settings that it brings, which its scaling finds among the rates."""
    weight_decay: float = 0.0
    standard_decay: float = 0.0
    """Weight decay where the weights have ordinary sizes."""
    batch_size: int | None = None
    decay: Literal["coupled", "decoupled"] = "coupled"


def _momentum(default: float) -> tuple[Setting]:
    return (Setting("momentum", float, default, "Momentum", "[0, 1)"),)


_BETA1 = Setting("beta1", float, 0.9, "Decay of the average of gradients", "[0, 1)")
_BETA2 = Setting("beta2", float, 0.98, "Decay of the average of squared gradients", "[0, 1)")
_EPSILON = Setting("epsilon", float, 1e-8, "Added to the denominator", "(0, inf)")
_ADAM = (_BETA1, _BETA2, _EPSILON)
_ADAM_RATE = Setting("adam_rate", float, 0.05, "Adam's rate, in units of the learning rate", "(0, inf)")
OPTIMIZERS = {
    "gd": Optimizer("trace", 1e6, 5_000, 0.1, _momentum(0.0)),
    "momentum": Optimizer("trace", 1e5, 3_000, 0.02, _momentum(0.9)),
    "nesterov": Optimizer("nesterov", 1e5, 3_000, 0.02, _momentum(0.9)),
    "sgd": Optimizer("trace", 1e6, 5_000, 0.1, _momentum(0.0), batch_size=1024),
    "adam": Optimizer("adam", 0.1, 1_000, 1e-3, _ADAM),
    "adamw": Optimizer("adam", 0.1, 1_000, 1e-3, _ADAM, weight_decay=0.05, standard_decay=1.0, decay="decoupled"),
    "rmsprop": Optimizer("rmsprop", 0.03, 2_000, 1e-3, (_BETA2, _EPSILON)),
    "lion": Optimizer("lion", 0.03, 2_000, 1e-4, (_BETA1, _BETA2), standard_decay=10.0, decay="decoupled"),
    "muon": Optimizer("muon", 1.0, 2_000, 0.01, _momentum(0.95), standard_decay=1.0, decay="decoupled"),
    "muon-adamw": Optimizer(
        "muon-adam",
        2.0,
        1_000,
        0.02,
        (*_momentum(0.95), *_ADAM, _ADAM_RATE),
        weight_decay=0.0025,
        standard_decay=0.05,
        decay="decoupled",
    ),  # All of it takes AdamW's steps and decay outside the blocks of a transformer.
}
OWN_OPTIMIZERS = dict(OPTIMIZERS)
"""Those that modgrok brings."""


SCALINGS: dict[str, Callable[[Rates], Any]] = {}
"""Registered transformations of the gradient by name; those that modgrok brings are in `modgrok.training.update`."""


def register(name: str, optimizer: Optimizer, scaling: Callable[[Rates], Any]) -> None:
    """Makes an optimizer known by its name; `scaling` turns rates into an Optax transformation of the gradient."""
    OPTIMIZERS[name] = optimizer
    SCALINGS[optimizer.scaling] = scaling


def _amplified(default: float) -> Setting:
    return Setting("grokfast_lambda", float, default, "Factor of the slow gradients", "[0, inf)")


GROKFAST: dict[str, tuple[Setting, ...]] = {
    "none": (),
    "ema": (
        _amplified(2.0),
        Setting("grokfast_alpha", float, 0.98, "Decay of the exponential average", "[0, 1)"),
    ),
    "ma": (
        _amplified(5.0),
        Setting("grokfast_window", int, 100, "Number of gradients in the moving average", "[1, 100000]"),
    ),
}
"""How slow gradients are amplified, with the settings that each way brings."""
DESCENT = ("trace", "nesterov")
"""Scalings whose updates are proportional to the gradient."""


GROUP_RATE = 3.0
"""Adam's rate on products in a group, in units of that on n + m."""


def natural_decay(optimizer: str, architecture: Architecture, group: int = 0) -> float:
    """The weight decay behind `auto`. For the paper's network on a group in inverse proportion to its order: measured
    with N = 500 and α = 0.5, S4 groks at 0.1 to 0.2 and not at 0.05 or 0.3, A5 best at 0.08, S5 at 0.02 to 0.04. Groups
    of less than 24 elements have S4's: more of it makes their weights vanish."""
    chosen = OPTIMIZERS[optimizer]
    if not architecture.starts_large:
        return chosen.standard_decay
    return float(f"{chosen.weight_decay * (97 / max(group, 24) if group else 1):.6g}")


def natural_learning_rate(
    optimizer: str, architecture: Architecture, signature: Signature, loss: str, group: int = 0
) -> float:
    """The learning rate behind `auto`; `group` is the order where the task is a product in one."""
    chosen = OPTIMIZERS[optimizer]
    rate = chosen.learning_rate if architecture.starts_large else chosen.standard_rate
    if group and chosen.scaling == "adam" and architecture.starts_large:
        rate *= GROUP_RATE
    return architecture.natural_rate(rate, chosen.scaling in DESCENT, signature, loss)
