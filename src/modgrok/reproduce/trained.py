"""The experiments that several figures and claims share."""

from typing import Any

from modgrok.experiments import Experiment
from modgrok.reproduce.profile import Profile, Training

GD_FRACTION = 0.49
"""α of the paper's figure of GD dynamics."""
ADAMW_FRACTION = 0.5
ADAMW_DECAY = 0.03


def natural_unit(modulus: int, width: int) -> float:
    """(p/97)³ (N/500), the unit of GD's learning rate: the gradient at initialization is about 2/(p³N)."""
    return (modulus / 97) ** 3 * (width / 500)


def descend(
    training: Training, task: str, modulus: int, width: int, fraction: float, seed: int, **more: Any
) -> Experiment:
    """Full-batch gradient descent."""
    settings: dict[str, Any] = {
        "optimizer": "gd",
        "lr": float(f"{training.rate * natural_unit(modulus, width):.4g}"),
        "steps": training.steps,
        "evaluations": training.evaluations,
        "snapshots": 0,
    }
    return Experiment(task=task, modulus=modulus, width=width, fraction=fraction, seed=seed, **(settings | more))


def adapt(
    training: Training, task: str, modulus: int, width: int, fraction: float, seed: int, **more: Any
) -> Experiment:
    """Full-batch AdamW, with its default weight decay unless another is asked for."""
    settings: dict[str, Any] = {
        "optimizer": "adamw",
        "lr": training.rate,
        "steps": training.steps,
        "evaluations": training.evaluations,
        "snapshots": 0,
    }
    return Experiment(task=task, modulus=modulus, width=width, fraction=fraction, seed=seed, **(settings | more))


def addition_by_gd(profile: Profile, seed: int) -> Experiment:
    """n + m under plain gradient descent without any regularization, first and last weights kept."""
    return descend(profile.gd, "n + m", profile.modulus, profile.width, GD_FRACTION, seed, snapshots=2)


def addition_by_adamw(profile: Profile, seed: int) -> Experiment:
    """n + m under AdamW with a little weight decay."""
    return adapt(profile.adamw, "n + m", profile.modulus, profile.width, ADAMW_FRACTION, seed, weight_decay=ADAMW_DECAY)


def function_by_adamw(profile: Profile, task: str, seed: int) -> Experiment:
    """Another function under AdamW, as n + m is trained."""
    return adapt(
        profile.functions, task, profile.modulus, profile.width, ADAMW_FRACTION, seed, weight_decay=ADAMW_DECAY
    )
