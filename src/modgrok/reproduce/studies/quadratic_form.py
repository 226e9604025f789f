"""n² + m² + nm against the fraction of data."""

from modgrok.experiments import Experiment
from modgrok.reproduce.figures.figA5 import QUADRATIC_FRACTION, quadratic_run
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.values import plain


def fractions(profile: Profile) -> tuple[float, ...]:
    return (QUADRATIC_FRACTION, *profile.hard_fractions)


def experiments(profile: Profile) -> list[Experiment]:
    seeds = range(profile.hard_seeds)
    return [quadratic_run(profile, fraction, seed) for fraction in fractions(profile) for seed in seeds]


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """The best test accuracy of every seed at every fraction."""
    seeds = range(profile.hard_seeds)
    cells = [[runs[quadratic_run(profile, a, seed)].history for seed in seeds] for a in fractions(profile)]
    return plain(
        {
            "modulus": profile.hard_modulus,
            "width": profile.hard_width,
            "fractions": fractions(profile),
            "best_test_accuracy": [[h["test_accuracy"].max() for h in cell] for cell in cells],
        }
    )


STUDY = Study(
    "quadratic_form_data",
    "n² + m² + nm with more data",
    "The best test accuracy of n² + m² + nm as the share of data grows.",
    experiments,
    numbers,
)
