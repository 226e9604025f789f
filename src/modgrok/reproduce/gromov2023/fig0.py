"""Fig. 0: losses, weight norms, accuracies and gradient norms under plain gradient descent, α = 0.49."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.experiments import Run
from modgrok.measures import norm_growth
from modgrok.plot import curves, style
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, results
from modgrok.tasks import task
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
RISEN = 0.9
"""Accuracy at which its rise counts as over."""
AFTERMATH = 1.5
"""Up to so many times the grokking step the gradients belong to it; later the rate may be too large for the minimum."""


def numbers(profile: Profile, runs: list[Run]) -> Numbers:
    """The curves of every seed, and the steps and sizes of what happens on them."""
    histories = [run.history for run in runs]
    closed = solve(task("n + m", profile.modulus), "waves", profile.width)
    return {
        "modulus": profile.modulus,
        "width": profile.width,
        "fraction": runs[0].experiment.fraction,
        "learning_rate": runs[0].experiment.lr,
        "closed_form_growth": norm_growth(closed),
        "peak": _peak(histories[0], results(runs, "grokked_at")[0]),
        "runs": [
            {"curves": {name: history[name] for name in CURVES}, "events": events(history, run.result)}
            for run, history in zip(runs, histories, strict=True)
        ],
    }


def _peak(h: Mapping[str, np.ndarray], grokked: int | None) -> dict[str, tuple[float, float]] | None:
    """Steps and losses that show the maximum of the test loss: up to grokking, and the loss to as far below its first
    value as its maximum is above."""
    if grokked is None:
        return None
    first, largest = h["test_loss"][0], h["test_loss"][h["step"] <= grokked].max()
    rise = max(largest - first, 0.01 * first)
    return {"steps": (0.0, float(grokked)), "losses": (float(first - 2 * rise), float(first + 1.3 * rise))}


def events(h: Mapping[str, np.ndarray], result: Any) -> dict[str, Any]:
    """When what happened on a run's curves, and how large it was; None where it did not happen."""
    step, test = h["step"], h["test_accuracy"]
    gradient = np.hypot(h["gradient_in"], h["gradient_out"])
    norm = np.hypot(h["norm_in"], h["norm_out"])
    onset, risen = _first(step, test, ONSET), _first(step, test, RISEN)
    train = [_first(step, h["train_accuracy"], level) for level in (ONSET, RISEN)]
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
        "test_rise": None if risen is None or onset is None else risen - onset,
        "train_rise": None if train[0] is None or train[1] is None else train[1] - train[0],
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


def _first(step: np.ndarray, values: np.ndarray, level: float) -> int | None:
    reached = np.flatnonzero(values >= level)
    return int(step[reached[0]]) if len(reached) else None


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(2, 2, height=4.8, sharex=True)
    first = n["runs"][0]["events"]
    for panel, measure in zip(panels.flat, ("loss", "norm", "accuracy", "gradient"), strict=True):
        curves([run["curves"] for run in n["runs"]], measure, linear=100, ax=panel)
        for name, side in (("memorized_at", "right"), ("grokked_at", "left")):
            style.mark(panel, first[name], name.removesuffix("_at") if measure == "accuracy" else "", side)
    titles = (
        "loss: the test loss rises before it falls (inset)",
        "weight norms: fastest growth at the onset",
        "accuracy: training pairs first",
        "gradients: a maximum at grokking",
    )
    style.letter(panels.flat, titles)
    for panel in panels[1]:
        panel.set_title(panel.get_title(loc="left"), pad=13)
    panels[0, 0].set_ylabel("mean squared error")
    panels[0, 0].get_legend().set_loc("lower left")
    if n["peak"] is not None:
        _draw_peak(panels[0, 0], n)
    for panel in panels[0]:
        panel.set_xlabel("")
    style.note(
        figure,
        f"n + m mod {n['modulus']}, N = {n['width']}, α = {n['fraction']}, plain GD with rate "
        f"{number(n['learning_rate'])}; bold: seed 0, faint: {len(n['runs']) - 1} more",
    )
    return figure


def _draw_peak(panel: Any, n: Numbers) -> None:
    inset = panel.inset_axes((0.17, 0.42, 0.5, 0.42))
    curves([run["curves"] for run in n["runs"]], "loss", linear=math.inf, ax=inset)
    inset.set_yscale("linear")
    inset.set_xlim(n["peak"]["steps"])
    inset.set_ylim(n["peak"]["losses"])
    style.mark(inset, n["runs"][0]["events"]["memorized_at"])
    inset.get_legend().remove()
    inset.set_xlabel("step", fontsize=6, labelpad=1)
    inset.set_ylabel("loss", fontsize=6, labelpad=1)
    inset.tick_params(labelsize=5.5, length=2)
    inset.locator_params(nbins=3)


STUDY = Study(
    "fig0",
    "Grokking under plain gradient descent",
    "Modular addition trained by full-batch gradient descent with the mean squared error and no regularization at all. "
    "The network first learns the training pairs by heart; the test loss climbs a few percent to a maximum (inset, "
    "linear axes), and only then does the test accuracy jump. The weight norms grow on the way, to about the norm of "
    "the closed form; the gradients pass through a maximum. The dotted lines are memorization and grokking of "
    "seed 0.",
    numbers,
    Profile.addition_by_gd,
    draw,
)
