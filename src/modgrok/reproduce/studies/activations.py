"""Networks trained with other activations than the square."""

from modgrok.experiments import Experiment
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.trained import adapt
from modgrok.reproduce.values import plain

ACTIVATIONS = ("quadratic", "relu", "gelu")
FRACTION = 0.7


def _run(profile: Profile, activation: str, seed: int) -> Experiment:
    return adapt(
        profile.adaptive,
        "n + m",
        profile.sweep_modulus,
        profile.sweep_width,
        FRACTION,
        seed,
        activation=activation,
        until=0,
    )


def experiments(profile: Profile) -> list[Experiment]:
    return [_run(profile, name, seed) for name in ACTIVATIONS for seed in range(profile.sweep_seeds)]


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """Grokking times and last test accuracies."""
    results = {
        name: [runs.result(_run(profile, name, seed)) for seed in range(profile.sweep_seeds)] for name in ACTIVATIONS
    }
    return plain(
        {
            "modulus": profile.sweep_modulus,
            "fraction": FRACTION,
            "times": {name: [r["grokked_at"] for r in found] for name, found in results.items()},
            "test_accuracy": {name: [r["test_accuracy"] for r in found] for name, found in results.items()},
        }
    )


STUDY = Study(
    "activations",
    "Training with other activations",
    "n + m under AdamW with the square, ReLU and GELU.",
    experiments,
    numbers,
)
