"""Modular addition with cross-entropy in place of the mean squared error."""

from modgrok.experiments import Experiment
from modgrok.measures import neuron_waves
from modgrok.reproduce.figures.fig2 import wave_statistics
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.trained import ADAMW_DECAY, ADAMW_FRACTION, adapt
from modgrok.reproduce.values import plain


def experiments(profile: Profile) -> list[Experiment]:
    return [
        adapt(
            profile.cross_entropy,
            "n + m",
            profile.modulus,
            profile.width,
            ADAMW_FRACTION,
            seed,
            weight_decay=ADAMW_DECAY,
            loss="cross_entropy",
        )
        for seed in profile.seed_range
    ]


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """Accuracy and wave statistics of every seed."""
    found = [runs[experiment] for experiment in experiments(profile)]
    return plain(
        {
            "test_accuracy": [run.history["test_accuracy"][-1] for run in found],
            "memorized_at": [runs.result(run.experiment)["memorized_at"] for run in found],
            "grokked_at": [runs.result(run.experiment)["grokked_at"] for run in found],
            "ipr_start": [run.history["ipr"][0] for run in found],
            "ipr_end": [run.history["ipr"][-1] for run in found],
            "waves": [wave_statistics(neuron_waves(run.network)) for run in found],
        }
    )


STUDY = Study(
    "cross_entropy",
    "Cross-entropy",
    "n + m under AdamW with cross-entropy: the same waves with the same phases.",
    experiments,
    numbers,
)
