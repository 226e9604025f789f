"""Measurements without a figure: other losses and activations, more and less data, random tables."""

from typing import Any

from modgrok.experiments import Experiment, Run
from modgrok.measures import neuron_waves
from modgrok.reproduce.gromov2023.fig2 import share_in_waves, wave_statistics
from modgrok.reproduce.gromov2023.figA5 import QUADRATIC_FRACTION, quadratic_runs
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, Tree, last, results

RANDOM_FRACTION = 0.9
"""Share of random tables that is trained on."""
ACTIVATION_FRACTION = 0.7
FRACTIONS = (0.5, 0.8)
"""Less and more data, at which final ratios are compared."""


def _cross_entropy(profile: Profile, runs: list[Run]) -> Numbers:
    return {
        "test_accuracy": last(runs, "test_accuracy"),
        "memorized_at": results(runs, "memorized_at"),
        "grokked_at": results(runs, "grokked_at"),
        "ipr_start": [run.history["ipr"][0] for run in runs],
        "ipr_end": last(runs, "ipr"),
        "waves": [_waves(run) for run in runs],
    }


def _waves(run: Run) -> dict[str, Any]:
    waves = neuron_waves(run.network)
    return wave_statistics(waves) | {"in_waves": share_in_waves(run.network, waves)}


def _random_table(profile: Profile, runs: list[Run]) -> Numbers:
    return {
        "modulus": profile.hard_modulus,
        "fraction": RANDOM_FRACTION,
        "train_accuracy": last(runs, "train_accuracy"),
        "best_test_accuracy": [run.history["test_accuracy"].max() for run in runs],
        "test_pairs": round((1 - RANDOM_FRACTION) * profile.hard_modulus**2),
    }


def _quadratic_fractions(profile: Profile) -> tuple[float, ...]:
    return (QUADRATIC_FRACTION, *profile.hard_fractions)


def _quadratic_form(profile: Profile, runs: Tree) -> Numbers:
    """The best test accuracy within the same steps at every fraction, and the chance that as many test pairs as there
    are at the largest fraction, drawn at random from those of a network, are all answered."""
    p, steps = profile.hard_modulus, profile.hard.steps
    fractions = _quadratic_fractions(profile)
    pairs = [p * p - round(fraction * p * p) for fraction in fractions]
    best = [[_best(run, steps) for run in cell] for cell in runs]
    cells = zip(best, pairs, strict=True)
    return {
        "modulus": p,
        "width": profile.hard_width,
        "steps": steps,
        "fractions": fractions,
        "test_pairs": pairs,
        "drawn": min(pairs),
        "best_test_accuracy": best,
        "all_right": [[all_right(accuracy, total, min(pairs)) for accuracy in cell] for cell, total in cells],
    }


def _best(run: Run, steps: int) -> float:
    history = run.history
    return float(history["test_accuracy"][history["step"] <= steps].max())


def all_right(accuracy: float, total: int, drawn: int) -> float:
    """The chance that a random choice of test pairs holds none of those that are answered wrongly."""
    from scipy.stats import hypergeom

    return float(hypergeom.pmf(0, total, round((1 - accuracy) * total), drawn))


def _activations(profile: Profile, runs: Tree) -> Numbers:
    return {
        "modulus": profile.sweep_modulus,
        "fraction": ACTIVATION_FRACTION,
        "times": results(runs, "grokked_at"),
        "test_accuracy": results(runs, "test_accuracy"),
    }


def _activation_run(profile: Profile, activation: str, seed: int) -> Experiment:
    p, width = profile.sweep_modulus, profile.sweep_width
    return profile.adaptive.adapt("n + m", p, width, ACTIVATION_FRACTION, seed, activation=activation, until=0)


STUDIES = (
    Study(
        "cross_entropy",
        "Cross-entropy",
        "n + m under AdamW with cross-entropy: the same waves with the same phases.",
        _cross_entropy,
        lambda profile: profile.by_adamw(profile.cross_entropy, "n + m", loss="cross_entropy"),
    ),
    Study(
        "random_table",
        "Random tables",
        "Tables filled with random answers, which hold nothing to generalize, trained on nine tenths of their entries.",
        _random_table,
        lambda profile: [
            profile.never.descend(f"random:{seed}", profile.hard_modulus, profile.hard_width, RANDOM_FRACTION, seed)
            for seed in profile.hard_range
        ],
    ),
    Study(
        "quadratic_form_data",
        "n² + m² + nm with more data",
        "The best test accuracy of n² + m² + nm as the share of data grows, within the same steps, and the chance that "
        "equally many test pairs at each share are all answered.",
        _quadratic_form,
        lambda profile: [quadratic_runs(profile, fraction) for fraction in _quadratic_fractions(profile)],
    ),
    Study(
        "activations",
        "Training with other activations",
        "n + m under AdamW with the square, ReLU and GELU.",
        _activations,
        lambda profile: {
            name: [_activation_run(profile, name, seed) for seed in profile.sweep_range]
            for name in ("quadratic", "relu", "gelu")
        },
    ),
    Study(
        "more_data",
        "Periodicity and data",
        "The inverse participation ratio at the end of training from half and from four fifths of the table.",
        lambda profile, runs: {"fractions": FRACTIONS, "ipr": [last(cell, "ipr") for cell in runs]},
        lambda profile: [profile.addition_by_adamw(fraction) for fraction in FRACTIONS],
    ),
)
