"""What other optimizers and other functions of a sum lead to: waves, in n or in the task's own coordinate."""

from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.measures import neuron_waves
from modgrok.measures.phase_statistics import share_in_waves
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, Tree, results

FRACTION = 0.7
"""α of the networks of other optimizers, and of functions of a sum."""
COMPOSED = ("(n + m)^7", "(n^2 + 3*m)^7")
"""F(f1(n) + f2(m)) that is trained; the seventh power is invertible modulo 31 and 97."""


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
        "composed",
        "Functions of sums, trained",
        "F(f1(n) + f2(m)) with an invertible F under AdamW: accuracy, and waves in f1(n), f2(m) and F⁻¹(q).",
        _numbers,
        composed,
    ),
)
