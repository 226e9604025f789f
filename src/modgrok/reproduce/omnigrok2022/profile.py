"""The systems of Liu, Michaud and Tegmark, and how much of each is trained."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from modgrok.experiments import Experiment
from modgrok.reproduce.nested import Tree
from modgrok.tasks.families.digits import has_digits

PERCEPTRON: dict[str, Any] = {"network": "mlp", "depth": 2, "loss": "mse"}
SETTINGS: dict[str, dict[str, Any]] = {
    "teacher": PERCEPTRON | {"task": "teacher:200", "examples": 100, "width": 100, "activation": "tanh"},
    "digits": PERCEPTRON | {"task": "digits"},
    "addition": {"task": "n + m", "network": "two-layer"},
    "transformer": {
        "task": "n + m",
        "network": "transformer",
        "precision": "highest",
        "loss_precision": "float64",
    },
}
"""What is always the same in a system: network, task and loss."""
STUDIES = {"teacher": "figS", "digits": "figD", "addition": "figA", "transformer": "figT"}


@dataclass(frozen=True)
class System:
    """One network and task: a landscape over the norm, and runs that start far out."""

    more: Mapping[str, Any]
    """Sizes."""
    lr: float
    scales: tuple[float, ...]
    """α of the landscape: norms in units of the usual start, held while the network trains."""
    landscape_steps: int
    held: float
    """The α among them whose run is shown as one without delay."""
    start: float
    """α of the runs that are free to lose norm."""
    decays: tuple[float, ...]
    """Their weight decays, from the smallest."""
    steps: int
    threshold: float
    """Test accuracy that counts as known."""
    seeds: int = 2


@dataclass(frozen=True)
class Profile:
    """All sizes of a reproduction."""

    name: str
    systems: Mapping[str, System] = field(hash=False)
    absent: tuple[str, ...] = ()
    """Systems that are too large for this profile."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Those, and the digits where scikit-learn is not installed."""
        missing = () if has_digits() else ("digits",)
        return tuple(STUDIES[name] for name in (*self.absent, *missing))

    def experiments(self, name: str) -> Tree:
        """`landscape`: for every α, `free`: for every weight decay, a run for each seed."""
        system = self.systems[name]
        base = SETTINGS[name] | {"lr": system.lr, "threshold": system.threshold, "evaluations": 100, "snapshots": 0}
        base |= system.more
        held = {"optimizer": "adam", "weight_decay": 0.0, "hold_norm": True, "steps": system.landscape_steps}
        free = {"optimizer": "adamw", "init_scale": system.start, "steps": system.steps, "until": system.steps // 20}

        def seeded(**more: Any) -> list[Experiment]:
            return [Experiment(**base | more, seed=seed) for seed in range(system.seeds)]

        return {
            "landscape": {scale: seeded(**held | {"init_scale": scale}) for scale in system.scales},
            "free": {decay: seeded(**free | {"weight_decay": decay}) for decay in system.decays},
        }


def _spaced(low: float, high: float, count: int) -> tuple[float, ...]:
    """Equal ratios, to three digits."""
    ratio = (high / low) ** (1 / (count - 1))
    return tuple(float(f"{low * ratio**k:.3g}") for k in range(count))


QUICK = Profile(
    name="quick",
    systems={
        "teacher": System({}, 1e-3, _spaced(0.1, 10.0, 9), 2_000, 0.562, 4.0, (0.3, 0.6, 1.2), 6_000, 0.95),
        "digits": System(
            {"width": 64, "examples": 200}, 1e-3, _spaced(0.15, 7.5, 7), 1_500, 1.06, 6.0, (0.25, 0.5, 1.0), 5_000, 0.9
        ),
        "addition": System(
            {"modulus": 23, "width": 128, "fraction": 0.6},
            0.03,
            (0.2, 0.4, 0.8, 1.2, 1.6, 2.0, 2.4, 2.8, 3.2, 4.0, 6.4),
            1_500,
            2.4,
            3.0,
            (0.05, 0.1, 0.2),
            4_000,
            0.99,
        ),
    },
    absent=("transformer",),
)
"""Two CPU cores: larger rates and fewer steps than the paper's, 200 digits, n + m modulo 23, no transformer."""
FULL = Profile(
    name="full",
    systems={
        "teacher": System({}, 3e-4, _spaced(0.1, 10.0, 11), 10_000, 0.631, 2.0, (0.05, 0.1, 0.3, 1.0), 80_000, 0.95, 4),
        "digits": System(
            {"width": 200, "examples": 1000},
            1e-3,
            _spaced(0.1, 10.0, 15),
            5_000,
            1.39,
            8.0,
            (0.1, 0.3, 1.0),
            40_000,
            0.95,
            4,
        ),
        "addition": System(
            {"modulus": 97, "width": 500},
            0.03,
            (0.2, 0.4, 0.8, 1.6, 2.4, 3.2, 4.0, 5.2, 6.4, 9.0, 12.8, 18.0),
            10_000,
            5.2,
            12.8,
            (0.02, 0.05, 0.1, 0.2),
            20_000,
            0.99,
            4,
        ),
        "transformer": System(
            {"modulus": 113, "fraction": 0.3, "beta2": 0.98},
            1e-3,
            (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 4.0),
            4_000,
            0.8,
            1.0,
            (0.5, 1.0, 2.0),
            20_000,
            0.95,
        ),
    },
)
"""The paper's sizes, the digits of scikit-learn in the place of MNIST; for a GPU."""
TINY = Profile(
    name="tiny",
    systems={
        name: dataclasses.replace(
            system,
            more={**system.more, "width": 8},
            scales=(0.5, 2.0),
            held=0.5,
            landscape_steps=5,
            decays=(1.0,),
            steps=5,
            seeds=1,
        )
        for name, system in QUICK.systems.items()
        if name == "teacher"
    },
    absent=("digits", "addition", "transformer"),
)
"""For tests of the pipeline."""
