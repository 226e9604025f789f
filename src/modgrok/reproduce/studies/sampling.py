"""Training pairs chosen at random, or so that every row and column of the table has equally many."""

import dataclasses

from modgrok.experiments import Experiment
from modgrok.reproduce.figures.fig3 import sweep_run
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.values import plain

SAMPLINGS = ("random", "balanced")


def _run(profile: Profile, sampling: str, fraction: float, seed: int) -> Experiment:
    return dataclasses.replace(sweep_run(profile, "Adam", fraction, seed), sampling=sampling)


def experiments(profile: Profile) -> list[Experiment]:
    return [
        _run(profile, sampling, fraction, seed)
        for sampling in SAMPLINGS
        for fraction in profile.sampling_fractions
        for seed in range(profile.sweep_seeds)
    ]


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """Grokking times and last test accuracies, for both samplings, every fraction and seed."""
    results = {
        sampling: [
            [runs.result(_run(profile, sampling, fraction, seed)) for seed in range(profile.sweep_seeds)]
            for fraction in profile.sampling_fractions
        ]
        for sampling in SAMPLINGS
    }
    return plain(
        {
            "modulus": profile.sweep_modulus,
            "fractions": profile.sampling_fractions,
            "times": {name: [[r["grokked_at"] for r in cell] for cell in cells] for name, cells in results.items()},
            "test_accuracy": {
                name: [[r["test_accuracy"] for r in cell] for cell in cells] for name, cells in results.items()
            },
        }
    )


STUDY = Study(
    "sampling",
    "A guided choice of the training pairs",
    "Near the critical fraction: training pairs drawn at random, against equally many in every row and "
    "column of the table, under Adam.",
    experiments,
    numbers,
)
