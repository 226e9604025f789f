"""Fig. A5: learning curves of n² + m² + nm (α = 0.73) and n³ + nm² + m (α = 0.9)."""

from typing import Any

from modgrok.experiments import Experiment, Run
from modgrok.plot import curves, style
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.study import Numbers, Study, last

QUADRATIC, QUADRATIC_FRACTION = "n^2 + m^2 + n*m", 0.73
CUBIC, CUBIC_FRACTION = "n^3 + n*m^2 + m", 0.9
TITLES = {"quadratic": "n² + m² + nm", "cubic": "n³ + nm² + m"}
CURVES = ("step", "train_loss", "test_loss", "train_accuracy", "test_accuracy")


def quadratic_runs(profile: Profile, fraction: float) -> list[Experiment]:
    make, p, width = profile.hard.descend, profile.hard_modulus, profile.hard_width
    return [make(QUADRATIC, p, width, fraction, seed) for seed in profile.hard_range]


def experiments(profile: Profile) -> dict[str, list[Experiment]]:
    make, p, width = profile.never.descend, profile.hard_modulus, profile.hard_width
    return {
        "quadratic": quadratic_runs(profile, QUADRATIC_FRACTION),
        "cubic": [make(CUBIC, p, width, CUBIC_FRACTION, seed) for seed in profile.hard_range],
    }


def numbers(profile: Profile, runs: dict[str, list[Run]]) -> Numbers:
    """Curves and last values of every seed."""
    functions = {key: _function(found) for key, found in runs.items()}
    return {"modulus": profile.hard_modulus, "width": profile.hard_width, "functions": functions}


def _function(runs: list[Run]) -> dict[str, Any]:
    e = runs[0].experiment
    losses = zip(last(runs, "test_loss"), last(runs, "train_loss"), strict=True)
    return {
        "expression": e.task,
        "fraction": e.fraction,
        "learning_rate": e.lr,
        "runs": [{name: run.history[name] for name in CURVES} for run in runs],
        "train_accuracy": last(runs, "train_accuracy"),
        "test_accuracy": last(runs, "test_accuracy"),
        "best_test_accuracy": [run.history["test_accuracy"].max() for run in runs],
        "loss_ratio": [test / train for test, train in losses],
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(2, 2, height=4.4, sharex="col")
    for column, (key, function) in enumerate(n["functions"].items()):
        for panel, measure in zip(panels[:, column], ("accuracy", "loss"), strict=True):
            curves(function["runs"], measure, ax=panel)
            if column or measure == "loss":
                panel.get_legend().remove()
            if column:
                panel.set_ylabel("")
        panels[0, column].set_title(f"{TITLES[key]},  α = {function['fraction']}")
        panels[0, column].set_xlabel("")
    panels[1, 0].set_ylabel("mean squared error")
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
