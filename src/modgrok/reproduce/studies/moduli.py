"""The critical fraction of data against the modulus."""

import dataclasses

from modgrok.experiments import Experiment
from modgrok.reproduce.figures.fig3 import critical_fraction, sweep_run
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.values import plain


def _run(profile: Profile, modulus: int, fraction: float, seed: int) -> Experiment:
    return dataclasses.replace(sweep_run(profile, "Adam", fraction, seed), modulus=modulus)


def experiments(profile: Profile) -> list[Experiment]:
    return [
        _run(profile, modulus, fraction, seed)
        for modulus in profile.moduli
        for fraction in profile.fractions
        for seed in range(profile.sweep_seeds)
    ]


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """Grokking times of every modulus, fraction and seed, and the critical fraction of each seed."""
    seeds, fractions = range(profile.sweep_seeds), profile.fractions
    times = {
        p: [[runs.result(_run(profile, p, fraction, seed))["grokked_at"] for seed in seeds] for fraction in fractions]
        for p in profile.moduli
    }
    return plain(
        {
            "moduli": profile.moduli,
            "width": profile.sweep_width,
            "fractions": fractions,
            "times": times,
            "critical_fraction": [critical_fraction(fractions, times[p]) for p in profile.moduli],
            "of_seeds": [
                [critical_fraction(fractions, [[cell[seed]] for cell in times[p]]) for seed in seeds]
                for p in profile.moduli
            ],
        }
    )


STUDY = Study(
    "moduli",
    "Critical fraction and modulus",
    "The smallest share of the table from which n + m is learnt, for several p, under Adam.",
    experiments,
    numbers,
)
