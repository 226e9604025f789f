"""Tables of random answers, which hold nothing to generalize."""

from modgrok.experiments import Experiment
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.trained import descend
from modgrok.reproduce.values import plain

FRACTION = 0.9


def experiments(profile: Profile) -> list[Experiment]:
    return [
        descend(profile.never, f"random:{seed}", profile.hard_modulus, profile.hard_width, FRACTION, seed)
        for seed in range(profile.hard_seeds)
    ]


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """Last accuracies of every table."""
    found = [runs[experiment] for experiment in experiments(profile)]
    return plain(
        {
            "modulus": profile.hard_modulus,
            "fraction": FRACTION,
            "train_accuracy": [run.history["train_accuracy"][-1] for run in found],
            "best_test_accuracy": [run.history["test_accuracy"].max() for run in found],
            "test_pairs": round((1 - FRACTION) * profile.hard_modulus**2),
        }
    )


STUDY = Study(
    "random_table",
    "Random tables",
    "Tables filled with random answers, trained on nine tenths of their entries.",
    experiments,
    numbers,
)
