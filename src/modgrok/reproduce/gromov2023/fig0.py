"""Fig. 0: losses, weight norms, accuracies and gradient norms under plain gradient descent, α = 0.49."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.plot import curves, style
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.study import Numbers, Study
from modgrok.text import number

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


def numbers(profile: Profile, runs: list[Run]) -> Numbers:
    """The curves of every seed, and the steps and sizes of what happens on them."""
    histories = [run.history for run in runs]
    return {
        "modulus": profile.modulus,
        "width": profile.width,
        "fraction": runs[0].experiment.fraction,
        "learning_rate": runs[0].experiment.lr,
        "runs": [
            {"curves": {name: history[name] for name in CURVES}, "events": events(history, run.result)}
            for run, history in zip(runs, histories, strict=True)
        ],
    }


def events(h: Mapping[str, np.ndarray], result: Any) -> dict[str, Any]:
    """When what happened on a run's curves, and how large it was; None where it did not happen."""
    step, test = h["step"], h["test_accuracy"]
    gradient = np.hypot(h["gradient_in"], h["gradient_out"])
    norm = np.hypot(h["norm_in"], h["norm_out"])
    begun = np.flatnonzero(test >= ONSET)
    onset = int(step[begun[0]]) if len(begun) else None
    memorized, grokked = result["memorized_at"], result["grokked_at"]
    # Up to grokking: at large rates single steps later on may throw the loss up again for a moment.
    learning = len(step) if grokked is None else int(np.searchsorted(step, grokked)) + 1
    peak = int(h["test_loss"][:learning].argmax())
    settled = len(step) if grokked is None else int(np.searchsorted(step, AFTERMATH * grokked, "right"))
    strongest = int(gradient[:settled].argmax())
    fastest = int((np.diff(norm) / np.diff(step)).argmax())

    def at(values: np.ndarray, place: int | None) -> float | None:
        return None if place is None else float(values[np.searchsorted(step, place)])

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
        "norm_onset": at(norm, onset),
        "norm_end": norm[-1],
        "norm_largest": norm.max(),
        "norm_fastest_at": step[fastest + 1],
        "ipr_start": h["ipr"][0],
        "ipr_memorized": at(h["ipr"], memorized),
        "ipr_end": h["ipr"][-1],
        "train_loss_rises": float((np.diff(h["train_loss"]) > 0).mean()),
        "gap_largest": (h["test_loss"] - h["train_loss"]).max(),
        "gap_end": h["test_loss"][-1] - h["train_loss"][-1],
        "train_loss_end": h["train_loss"][-1],
        "test_loss_end": h["test_loss"][-1],
        "test_accuracy_end": test[-1],
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(2, 2, height=4.6, sharex=True)
    first = n["runs"][0]["events"]
    for panel, measure in zip(panels.flat, ("loss", "norm", "accuracy", "gradient"), strict=True):
        curves([run["curves"] for run in n["runs"]], measure, linear=100, ax=panel)
        for name, side in (("memorized_at", "right"), ("grokked_at", "left")):
            style.mark(panel, first[name], name.removesuffix("_at") if measure == "accuracy" else "", side)
    style.letter(panels.flat, ("loss", "weight norms", "accuracy", "gradient norms"))
    panels[0, 0].set_ylabel("mean squared error")
    for panel in panels[0]:
        panel.set_xlabel("")
    style.note(
        figure,
        f"n + m mod {n['modulus']}, N = {n['width']}, α = {n['fraction']}, plain GD with rate "
        f"{number(n['learning_rate'])}; bold: seed 0, faint: {len(n['runs']) - 1} more",
    )
    return figure


STUDY = Study(
    "fig0",
    "Grokking under plain gradient descent",
    "Modular addition trained by full-batch gradient descent with the mean squared error and no regularization at all. "
    "The network first learns the training pairs by heart; the test loss climbs to a maximum, and only then does the "
    "test accuracy jump, while the weight norms grow and the gradients pass through a maximum.",
    numbers,
    Profile.addition_by_gd,
    draw,
)
