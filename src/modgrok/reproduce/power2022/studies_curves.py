"""Figs. 1 left and 4: a part of the division table, learnt with and without weight decay."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.palette import TEST, TRAIN
from modgrok.plot import style
from modgrok.reproduce.nested import Numbers, Study, Tree, results
from modgrok.reproduce.power2022.profile import Profile
from modgrok.text import count

CURVES = ("train_loss", "test_loss", "train_accuracy", "test_accuracy")
TITLES = {"with": "AdamW with weight decay", "without": "Adam, no weight decay"}


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Curves and times of every seed."""
    found: Numbers = {"modulus": profile.modulus, "fraction": profile.division_fraction}
    for kind, some in runs.items():
        found[kind] = {
            "runs": [{"step": run.history["step"]} | {name: run.history[name] for name in CURVES} for run in some],
            "memorized_at": results(some, "memorized_at"),
            "grokked_at": results(some, "grokked_at"),
            "loss": [_loss(run) for run in some],
        }
    return found


def _loss(run: Run) -> dict[str, float]:
    """The test loss at the start, at its least before its largest, there, when half of the test set is known, and at
    the end."""
    history = run.history
    test = history["test_loss"]
    half = np.flatnonzero(history["test_accuracy"] >= 0.5)
    return {
        "start": test[0],
        "least": test[: test.argmax() + 1].min(),
        "largest": test.max(),
        "at_half": test[half[0]] if len(half) else None,
        "end": test[-1],
    }


def draw_accuracies(n: Numbers) -> Any:
    return _draw(n, "accuracy", {"ylim": (-0.02, 1.02)})


def draw_losses(n: Numbers) -> Any:
    return _draw(n, "loss", {"yscale": "log"})


def _draw(n: Numbers, name: str, look: dict[str, Any]) -> Any:
    figure, panels = style.grid(1, 2, height=2.7, sharey=True)
    for panel, kind in zip(panels[0], TITLES, strict=True):
        for i, run in enumerate(n[kind]["runs"]):
            for side, color in (("train", TRAIN), ("test", TEST)):
                label = side if i == 0 else None
                panel.plot(run["step"][1:], run[f"{side}_{name}"][1:], color=color, label=label, alpha=0.8)
        panel.set(xscale="log", xlabel="step", **look)
    panels[0, 0].set_ylabel(name)
    panels[0, 0].legend(loc="center left")
    style.letter(panels[0], TITLES.values())
    style.note(
        figure, f"{100 * n['fraction']:g} % of x / y modulo {n['modulus']}, {count(len(n['with']['runs']), 'seed')}"
    )
    return figure


STUDIES = (
    Study(
        "fig1",
        "Grokking of division",
        "Accuracy on the training and on the test part of the table of x / y, with weight decay and without. The "
        "paper's own curve is without, over a million steps.",
        numbers,
        lambda profile: profile.divisions(),
        draw_accuracies,
    ),
    Study(
        "fig4",
        "The test loss rises before it falls",
        "Losses of the same runs: the test loss goes up while the training set is memorized, and down again when the "
        "network generalizes.",
        numbers,
        lambda profile: profile.divisions(),
        draw_losses,
    ),
)
