"""The systems of Liu, Michaud and Tegmark, and how much of each is trained: quick on two CPU cores, with larger rates
and without the transformer; full at the paper's sizes, on a GPU."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from modgrok.reproduce.form import sizes
from modgrok.tasks.families.digits import has_digits

PERCEPTRON: dict[str, Any] = {"network": "mlp", "depth": 2, "loss": "mse", "beta2": 0.999}
SETTINGS: dict[str, dict[str, Any]] = {
    "teacher": PERCEPTRON | {"task": "teacher:200", "examples": 100, "width": 100, "activation": "tanh"},
    "digits": PERCEPTRON | {"task": "digits"},
    "addition": {"task": "n + m", "network": "two-layer"},
    "transformer": {"task": "n + m", "network": "transformer", "precision": "highest", "loss_precision": "float64"},
}
"""What is always the same in a system: network, task and loss."""


class Held(NamedTuple):
    """A landscape: runs whose norm is held."""

    scales: tuple[float, ...]
    """α, the norms in units of the usual start."""
    steps: int
    shown: float
    """The α among them whose run is shown as one without delay."""
    batch: int | None = None
    """Examples per step; all without it."""


class Free(NamedTuple):
    """Runs that start far out and are free to lose norm."""

    start: float
    """Their α."""
    decays: tuple[float, ...]
    """Weight decays, from the smallest."""
    steps: int
    batch: int | None = None


@dataclass(frozen=True)
class System:
    """One network and task."""

    settings: Mapping[str, Any]
    """Sizes, rate, and the test accuracy that counts as known."""
    held: Held
    free: Free
    seeds: int = 2


def spaced(low: float, high: float, count: int) -> tuple[float, ...]:
    """Equal ratios, to three digits."""
    return tuple(float(f"{scale:.3g}") for scale in np.geomspace(low, high, count))


def too_large(*studies: str) -> tuple[str, ...]:
    """What a profile leaves out: these studies, and that of the digits where scikit-learn is not installed."""
    return studies if has_digits() else (*studies, "figD")


PROFILES = QUICK, FULL, TINY = sizes(
    teacher=(
        System(
            {"lr": 1e-3, "threshold": 0.95},
            Held(spaced(0.1, 10.0, 9), 2_000, shown=0.562),
            Free(4.0, (0.3, 0.6, 1.2), 6_000),
        ),
        System(
            {"lr": 3e-4, "threshold": 0.95},
            Held(spaced(0.1, 10.0, 11), 10_000, shown=0.631),
            Free(2.0, (0.05, 0.1, 0.3, 1.0), 100_000),
            seeds=4,
        ),
        System(
            {"lr": 1e-3, "threshold": 0.95, "width": 8}, Held((0.5, 2.0), 5, shown=0.5), Free(4.0, (1.0,), 5), seeds=1
        ),
    ),
    digits=(
        System(
            {"width": 64, "examples": 200, "lr": 1e-3, "threshold": 0.9},
            Held(spaced(0.15, 7.5, 7), 1_500, shown=1.06, batch=100),
            Free(6.0, (0.25, 0.5, 1.0), 5_000),
        ),
        System(
            {"width": 200, "examples": 1000, "lr": 1e-3, "threshold": 0.95},
            Held(spaced(0.1, 10.0, 15), 10_000, shown=1.39, batch=100),
            Free(8.0, (0.01, 0.1, 0.3, 1.0), 100_000, batch=200),
            seeds=4,
        ),
    ),
    addition=(
        System(
            {"modulus": 23, "width": 128, "fraction": 0.6, "lr": 0.03, "threshold": 0.99},
            Held((0.2, 0.4, 0.8, 1.2, 1.6, 2.0, 2.4, 2.8, 3.2, 4.0, 6.4), 1_500, shown=2.4),
            Free(3.0, (0.05, 0.1, 0.2), 4_000),
        ),
        System(
            {"modulus": 97, "width": 500, "lr": 0.03, "threshold": 0.99},
            Held((0.2, 0.4, 0.8, 1.6, 2.4, 3.2, 4.0, 5.2, 6.4, 9.0, 12.8, 18.0), 10_000, shown=5.2),
            Free(12.8, (0.02, 0.05, 0.1, 0.2), 20_000),
            seeds=4,
        ),
    ),
    transformer=System(
        {"modulus": 113, "fraction": 0.3, "beta2": 0.98, "lr": 1e-3, "threshold": 0.95},
        Held((0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 4.0), 4_000, shown=0.8),
        Free(1.0, (0.5, 1.0, 2.0), 20_000),
    ),
    left_out=(too_large("figT"), too_large(), ("figD", "figA", "figT")),
)
