"""Measurements without a figure: other losses and activations, more and less data, random tables."""

from modgrok.experiments import Experiment, Run
from modgrok.reproduce.gromov2023.figA5 import QUADRATIC_FRACTION, quadratic_runs
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, Tree, last, results

RANDOM_FRACTION = 0.9
"""Share of random tables that is trained on."""
ACTIVATION_FRACTION = 0.7


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
)
