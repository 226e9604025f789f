"""Too little data: networks that learn by heart and stay there."""

from modgrok.experiments import Experiment
from modgrok.reproduce.figures.fig3 import sweep_run
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.values import plain


def experiments(profile: Profile) -> list[Experiment]:
    seeds = range(profile.sweep_seeds)
    return [sweep_run(profile, "GD", profile.fractions[0], seed) for seed in seeds]


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """Accuracies and the test loss at its largest and at the end, for the smallest fraction of figure 3."""
    histories = [runs[experiment].history for experiment in experiments(profile)]
    return plain(
        {
            "modulus": profile.sweep_modulus,
            "fraction": profile.fractions[0],
            "train_accuracy": [h["train_accuracy"][-1] for h in histories],
            "test_accuracy": [h["test_accuracy"][-1] for h in histories],
            "loss_start": [h["test_loss"][0] for h in histories],
            "loss_peak": [h["test_loss"].max() for h in histories],
            "loss_end": [h["test_loss"][-1] for h in histories],
            "train_loss_end": [h["train_loss"][-1] for h in histories],
        }
    )


STUDY = Study(
    "memorizing",
    "Too little data",
    "n + m from the smallest share of the table in figure 3, under plain gradient descent.",
    experiments,
    numbers,
)
