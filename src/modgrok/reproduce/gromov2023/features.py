"""What other optimizers and other functions of a sum lead to: waves, in n or in the task's own coordinate."""

from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.measures import neuron_waves
from modgrok.reproduce.gromov2023.fig2 import share_in_waves
from modgrok.reproduce.gromov2023.profile import Profile, natural_unit
from modgrok.reproduce.nested import Numbers, Study, Tree, results

FRACTION = 0.7
"""α of the networks of other optimizers, and of functions of a sum."""
DROPOUT = 0.2
DECAY = 1e-9
"""Weight decay of gradient descent in units of 1/((p/97)³ (N/500)): ten times more kills the weights."""
COMPOSED = ("(n + m)^7", "(n^2 + 3*m)^7")
"""F(f1(n) + f2(m)) that is trained; the seventh power is invertible modulo 31 and 97."""


def ways(profile: Profile) -> dict[str, list[Experiment]]:
    """n + m in four more ways, trained on long after grokking."""
    p, width = profile.sweep_modulus, profile.sweep_width
    unit = natural_unit(p, width)
    slow = float(f"{0.1 * profile.ways.rate * unit:.4g}")  # times 1/(1 − 0.9): the same effective rate
    settings: dict[str, dict[str, Any]] = {
        "momentum": {"optimizer": "momentum", "lr": slow},
        "GD + weight decay": {"weight_decay": float(f"{DECAY / unit:.3g}")},
        "GD + dropout": {"dropout": DROPOUT},
    }
    descended = {
        name: [profile.ways.descend("n + m", p, width, FRACTION, seed, **more) for seed in profile.sweep_range]
        for name, more in settings.items()
    }
    adam = [profile.functions.adapt("n + m", p, width, FRACTION, s, optimizer="adam") for s in profile.sweep_range]
    return descended | {"Adam": adam}


def composed(profile: Profile) -> dict[str, list[Experiment]]:
    """Functions of a sum of functions under AdamW."""
    p, width, make = profile.sweep_modulus, profile.sweep_width, profile.functions.adapt
    return {text: [make(text, p, width, FRACTION, seed) for seed in profile.sweep_range] for text in COMPOSED}


def _network(run: Run) -> dict[str, Any]:
    """How far a network learnt its task, and how far it consists of waves in the task's coordinate."""
    waves = neuron_waves(run.network, run.task.structure.coordinate)
    return {
        "test_accuracy": results(run, "test_accuracy"),
        "grokked_at": results(run, "grokked_at"),
        "in_waves": share_in_waves(run.network, waves),
        "explained_median": float(np.nanmedian(waves.explained)),
    }


def _numbers(profile: Profile, runs: Tree) -> Numbers:
    return {
        "modulus": profile.sweep_modulus,
        "fraction": FRACTION,
        "ways": {name: [_network(run) for run in found] for name, found in runs.items()},
    }


STUDIES = (
    Study(
        "features",
        "The features of other optimizers",
        "n + m by momentum, weight decay, dropout and Adam: how much of the weights is one wave for each neuron.",
        _numbers,
        ways,
    ),
    Study(
        "composed",
        "Functions of sums, trained",
        "F(f1(n) + f2(m)) with an invertible F under AdamW: accuracy, and waves in f1(n), f2(m) and F⁻¹(q).",
        _numbers,
        composed,
    ),
)
