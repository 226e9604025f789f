"""Fig. A5: learning curves of n² + m² + nm (α = 0.73) and n³ + nm² + m (α = 0.9)."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.plot import curves, style
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, Tree, last

QUADRATIC, QUADRATIC_FRACTION = "n^2 + m^2 + n*m", 0.73
CUBIC, CUBIC_FRACTION = "n^3 + n*m^2 + m", 0.9
TITLES = {"quadratic": "n² + m² + nm", "cubic": "n³ + nm² + m"}
SEEN = {"quadratic": "learnt late", "cubic": "never"}
CURVES = ("step", "train_loss", "test_loss", "train_accuracy", "test_accuracy")


def quadratic_runs(profile: Profile, fraction: float) -> list[Experiment]:
    """n² + m² + nm; at the figure's fraction until nothing changes."""
    training, p, width = profile.hard, profile.hard_modulus, profile.hard_width
    if fraction == QUADRATIC_FRACTION:
        training = dataclasses.replace(training, steps=profile.plateau_steps)
    return [training.descend(QUADRATIC, p, width, fraction, seed) for seed in profile.hard_range]


def cubic_runs(profile: Profile, fraction: float) -> list[Experiment]:
    make, p, width = profile.never.descend, profile.hard_modulus, profile.hard_width
    return [make(CUBIC, p, width, fraction, seed) for seed in profile.hard_range]


def experiments(profile: Profile) -> Tree:
    return {
        "quadratic": quadratic_runs(profile, QUADRATIC_FRACTION),
        "cubic": cubic_runs(profile, CUBIC_FRACTION),
        "more": [cubic_runs(profile, fraction) for fraction in profile.cubic_fractions],
    }


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Curves and last values of every seed; of the cubic at more data the best test accuracies only."""
    functions = {key: _function(runs[key]) for key in TITLES}
    fractions = (CUBIC_FRACTION, *profile.cubic_fractions)
    cells = (runs["cubic"], *runs["more"])
    return {
        "modulus": profile.hard_modulus,
        "width": profile.hard_width,
        "functions": functions,
        "cubic_by_fraction": [
            {
                "fraction": fraction,
                "test_pairs": profile.hard_modulus**2 - round(fraction * profile.hard_modulus**2),
                "train_accuracy": last(cell, "train_accuracy"),
                "best_test_accuracy": [_trained(run)["test_accuracy"].max() for run in cell],
            }
            for fraction, cell in zip(fractions, cells, strict=True)
        ],
    }


def _trained(run: Run) -> dict[str, np.ndarray]:
    """The curves without the untrained network."""
    return {name: run.history[name][1:] for name in CURVES}


def _function(runs: list[Run]) -> dict[str, Any]:
    e = runs[0].experiment
    losses = zip(last(runs, "test_loss"), last(runs, "train_loss"), strict=True)
    changes = [second_half(run.history) for run in runs]
    return {
        "expression": e.task,
        "fraction": e.fraction,
        "learning_rate": e.lr,
        "steps": e.steps,
        "runs": [{name: run.history[name] for name in CURVES} for run in runs],
        "train_accuracy": last(runs, "train_accuracy"),
        "test_accuracy": last(runs, "test_accuracy"),
        "loss_ratio": [test / train for test, train in losses],
        "accuracy_change": [change[0] for change in changes],
        "loss_change": [change[1] for change in changes],
    }


def second_half(history: Mapping[str, np.ndarray]) -> tuple[float, float]:
    """How far test accuracy moved over the second half of the steps, and the test loss relative to its end."""
    half = int(np.searchsorted(history["step"], history["step"][-1] / 2))
    accuracy, loss = history["test_accuracy"], history["test_loss"]
    return float(accuracy[-1] - accuracy[half]), float(loss[-1] / loss[half] - 1)


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(2, 2, height=4.4, sharex="col")
    for column, (key, function) in enumerate(n["functions"].items()):
        for panel, measure in zip(panels[:, column], ("accuracy", "loss"), strict=True):
            curves(function["runs"], measure, ax=panel)
            if column or measure == "loss":
                panel.get_legend().remove()
        panels[0, column].set_title(f"{TITLES[key]} from α = {function['fraction']}: {SEEN[key]}")
        panels[0, column].set_xlabel("")
        panels[1, column].set_ylabel("mean squared error")
    more = len(n["functions"]["quadratic"]["runs"]) - 1
    style.note(figure, f"mod {n['modulus']}, N = {n['width']}, plain GD; bold: seed 0, faint: {more} more")
    return figure


STUDY = Study(
    "figA5",
    "Functions that are hard, or never learnt",
    "Sums and products mixed. n² + m² + nm is learnt almost, late, and with a lasting gap between the losses; "
    "n³ + nm² + m is learnt by heart from nine tenths of its table and never generalizes.",
    numbers,
    experiments,
    draw,
)
