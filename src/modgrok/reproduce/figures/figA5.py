"""Fig. A5: learning curves of n² + m² + nm (α = 0.73) and n³ + nm² + m (α = 0.9)."""

from typing import Any

from modgrok.experiments import Experiment
from modgrok.reproduce import style
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.trained import descend
from modgrok.reproduce.values import plain

QUADRATIC, QUADRATIC_FRACTION = "n^2 + m^2 + n*m", 0.73
CUBIC, CUBIC_FRACTION = "n^3 + n*m^2 + m", 0.9


def quadratic_run(profile: Profile, fraction: float, seed: int) -> Experiment:
    return descend(profile.hard, QUADRATIC, profile.hard_modulus, profile.hard_width, fraction, seed)


def cubic_run(profile: Profile, seed: int) -> Experiment:
    return descend(profile.never, CUBIC, profile.hard_modulus, profile.hard_width, CUBIC_FRACTION, seed)


def experiments(profile: Profile) -> list[Experiment]:
    seeds = range(profile.hard_seeds)
    return [
        *(quadratic_run(profile, QUADRATIC_FRACTION, seed) for seed in seeds),
        *(cubic_run(profile, seed) for seed in seeds),
    ]


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """Curves and last values of every seed."""
    seeds = range(profile.hard_seeds)
    functions = {
        "quadratic": [runs[quadratic_run(profile, QUADRATIC_FRACTION, seed)] for seed in seeds],
        "cubic": [runs[cubic_run(profile, seed)] for seed in seeds],
    }
    names = ("step", "train_loss", "test_loss", "train_accuracy", "test_accuracy")
    return plain(
        {
            "modulus": profile.hard_modulus,
            "width": profile.hard_width,
            "functions": {
                key: {
                    "expression": found[0].experiment.task,
                    "fraction": found[0].experiment.fraction,
                    "learning_rate": found[0].experiment.lr,
                    "runs": [{name: run.history[name] for name in names} for run in found],
                    "train_accuracy": [run.history["train_accuracy"][-1] for run in found],
                    "test_accuracy": [run.history["test_accuracy"][-1] for run in found],
                    "best_test_accuracy": [run.history["test_accuracy"].max() for run in found],
                    "loss_ratio": [run.history["test_loss"][-1] / run.history["train_loss"][-1] for run in found],
                }
                for key, found in functions.items()
            },
        }
    )


def draw(n: Numbers) -> Any:
    figure, grid = style.axes(2, 2, height=4.4, sharex="col")
    titles = {"quadratic": "n² + m² + nm", "cubic": "n³ + nm² + m"}
    for column, (key, function) in enumerate(n["functions"].items()):
        for row, curve in enumerate(("accuracy", "loss")):
            panel = grid[row, column]
            for name, colour in (("train", style.TRAIN), ("test", style.TEST)):
                for i, run in enumerate(function["runs"]):
                    faint = {} if i == 0 else {"alpha": 0.3, "linewidth": 0.8}
                    panel.plot(
                        run["step"], run[f"{name}_{curve}"], color=colour, label=name if i == 0 else None, **faint
                    )
            panel.set_xscale("symlog", linthresh=10)
            panel.set_xlim(left=0)
        grid[0, column].set_title(f"{titles[key]},  α = {function['fraction']}")
        grid[1, column].set_yscale("log")
        grid[1, column].set_xlabel("step")
    grid[0, 0].set_ylabel("accuracy")
    grid[1, 0].set_ylabel("mean squared error")
    grid[0, 0].legend(loc="center left")
    style.note(
        figure,
        f"mod {n['modulus']}, N = {n['width']}, plain GD; bold: seed 0, faint: "
        f"{len(n['functions']['quadratic']['runs']) - 1} more",
    )
    return figure


STUDY = Study(
    "figA5",
    "Functions that are hard, or never learnt",
    "Sums and products mixed. n² + m² + nm is learnt almost, late, and with a lasting gap between the losses; "
    "n³ + nm² + m is learnt by heart from nine tenths of its table and never generalizes.",
    experiments,
    numbers,
    draw,
)
