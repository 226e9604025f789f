"""Fig. 0: losses, weight norms, accuracies and gradient norms under plain gradient descent, α = 0.49."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.reproduce import style
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.trained import addition_by_gd
from modgrok.reproduce.values import plain

CURVES = (
    "step",
    "train_loss",
    "test_loss",
    "train_accuracy",
    "test_accuracy",
    "norm_in",
    "norm_out",
    "gradient_in",
    "gradient_out",
    "ipr",
)
ONSET = 0.1
"""Test accuracy at which generalization counts as begun."""
AFTERMATH = 1.5
"""Up to so many times the grokking step the gradients belong to it; later the rate may be too large for the minimum."""


def experiments(profile: Profile) -> list[Experiment]:
    return [addition_by_gd(profile, seed) for seed in profile.seed_range]


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """The curves of every seed, and the steps and sizes of what happens on them."""
    found = [runs[experiment] for experiment in experiments(profile)]
    return plain(
        {
            "modulus": profile.modulus,
            "width": profile.width,
            "fraction": found[0].experiment.fraction,
            "learning_rate": found[0].experiment.lr,
            "runs": [
                {"curves": curves(run), "events": events(run.history, runs.result(run.experiment))} for run in found
            ],
        }
    )


def curves(run: Run) -> dict[str, np.ndarray]:
    history = run.history
    return {name: history[name] for name in CURVES}


def events(h: Mapping[str, np.ndarray], result: Mapping[str, Any]) -> dict[str, Any]:
    """When what happened on a run's curves, and how large it was; None where it did not happen."""
    step, test = h["step"], h["test_accuracy"]
    gradient = np.hypot(h["gradient_in"], h["gradient_out"])
    norm = np.hypot(h["norm_in"], h["norm_out"])
    onset = _first(step, test >= ONSET)
    memorized, grokked = result["memorized_at"], result["grokked_at"]
    # Up to grokking: at large rates single steps later on may throw the loss up again for a moment.
    learning = len(step) if grokked is None else int(np.searchsorted(step, grokked)) + 1
    peak = int(h["test_loss"][:learning].argmax())
    settled = len(step) if grokked is None else int(np.searchsorted(step, AFTERMATH * grokked, "right"))
    strongest = int(gradient[:settled].argmax())
    fastest = int((np.diff(norm) / np.diff(step)).argmax())
    return {
        "memorized_at": memorized,
        "onset_at": onset,
        "grokked_at": grokked,
        "loss_peak_at": step[peak],
        "loss_peak": h["test_loss"][peak],
        "loss_start": h["test_loss"][0],
        "test_accuracy_at_peak": test[peak],
        "gradient_peak_at": step[strongest],
        "gradient_start": gradient[0],
        "gradient_peak": gradient[strongest],
        "gradient_settled": gradient[strongest:settled].min(),
        "gradient_later": gradient[settled:].max() if settled < len(step) else None,
        "norm_start": norm[0],
        "norm_onset": _value(step, norm, onset),
        "norm_end": norm[-1],
        "norm_largest": norm.max(),
        "norm_fastest_at": step[fastest + 1],
        "ipr_start": h["ipr"][0],
        "ipr_memorized": _value(step, h["ipr"], memorized),
        "ipr_end": h["ipr"][-1],
        "train_loss_rises": float((np.diff(h["train_loss"]) > 0).mean()),
        "gap_largest": (h["test_loss"] - h["train_loss"]).max(),
        "gap_end": h["test_loss"][-1] - h["train_loss"][-1],
        "train_loss_end": h["train_loss"][-1],
        "test_loss_end": h["test_loss"][-1],
        "test_accuracy_end": test[-1],
    }


def _first(step: np.ndarray, holds: np.ndarray) -> int | None:
    places = np.flatnonzero(holds)
    return int(step[places[0]]) if len(places) else None


def _value(step: np.ndarray, values: np.ndarray, place: int | None) -> float | None:
    return None if place is None else float(values[np.searchsorted(step, place)])


def draw(n: Numbers) -> Any:
    figure, grid = style.axes(2, 2, height=4.6, sharex=True)
    (loss, norms), (accuracy, gradients) = grid
    pairs = (
        (loss, ("train_loss", "train", style.TRAIN), ("test_loss", "test", style.TEST)),
        (norms, ("norm_in", "$W^{(1)}$", style.GREEN), ("norm_out", "$W^{(2)}$", style.PURPLE)),
        (accuracy, ("train_accuracy", "train", style.TRAIN), ("test_accuracy", "test", style.TEST)),
        (gradients, ("gradient_in", "$W^{(1)}$", style.GREEN), ("gradient_out", "$W^{(2)}$", style.PURPLE)),
    )
    for panel, *lines in pairs:
        for name, label, colour in lines:
            for i, run in enumerate(n["runs"]):
                c = run["curves"]
                faint = {} if i == 0 else {"alpha": 0.3, "linewidth": 0.8}
                panel.plot(c["step"], c[name], color=colour, label=label if i == 0 else None, **faint)
        panel.set_xscale("symlog", linthresh=100)
        panel.set_xlim(left=0)
        panel.legend()
    first = n["runs"][0]["events"]
    for panel in grid.flat:
        for name, side in (("memorized_at", "right"), ("grokked_at", "left")):
            style.mark(panel, first[name], name.removesuffix("_at") if panel is accuracy else "", side)
    style.letter((loss, norms, accuracy, gradients), ("loss", "weight norms", "accuracy", "gradient norms"))
    loss.set_yscale("log")
    gradients.set_yscale("log")
    loss.set_ylabel("mean squared error")
    norms.set_ylabel("Frobenius norm")
    accuracy.set_ylabel("accuracy")
    gradients.set_ylabel("norm of the gradient")
    for panel in grid[1]:
        panel.set_xlabel("step")
    style.note(
        figure,
        f"n + m mod {n['modulus']}, N = {n['width']}, α = {n['fraction']}, plain GD with rate "
        f"{n['learning_rate']:.3g}; bold: seed 0, faint: {len(n['runs']) - 1} more",
    )
    return figure


STUDY = Study(
    "fig0",
    "Grokking under plain gradient descent",
    "Modular addition trained by full-batch gradient descent with the mean squared error and no regularization at all. "
    "The network first learns the training pairs by heart; the test loss climbs to a maximum, and only then does the "
    "test accuracy jump, while the weight norms grow and the gradients pass through a maximum.",
    experiments,
    numbers,
    draw,
)
