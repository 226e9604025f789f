"""The final inverse participation ratio with more data."""

import dataclasses

from modgrok.experiments import Experiment
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.trained import addition_by_adamw
from modgrok.reproduce.values import plain

FRACTIONS = (0.5, 0.8)


def _run(profile: Profile, fraction: float, seed: int) -> Experiment:
    return dataclasses.replace(addition_by_adamw(profile, seed), fraction=fraction)


def experiments(profile: Profile) -> list[Experiment]:
    return [_run(profile, fraction, seed) for fraction in FRACTIONS for seed in profile.seed_range]


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """The last ratio of every seed at both fractions."""
    found = [[runs[_run(profile, a, seed)].history["ipr"] for seed in profile.seed_range] for a in FRACTIONS]
    return plain({"fractions": FRACTIONS, "ipr": [[curve[-1] for curve in cell] for cell in found]})


STUDY = Study(
    "more_data",
    "Periodicity and data",
    "The inverse participation ratio at the end of training from half and from four fifths of the table.",
    experiments,
    numbers,
)
