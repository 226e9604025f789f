"""The tangent kernel through grokking: how far it drifts, and whether a kernel frozen on the way would generalize."""

from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.measures import alignment, kernel_answers, tangent_kernel
from modgrok.palette import GREEN, PURPLE, TEST, TRAIN, VERMILLION
from modgrok.plot import style
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study

MOST_PAIRS = 1200
"""Pairs between which kernels are compared."""


def experiments(profile: Profile) -> list[Experiment]:
    """n + m under plain gradient descent, weights kept on the way."""
    return profile.further.descend(snapshots=profile.further.snapshots)[:1]


def numbers(profile: Profile, runs: list[Run]) -> Numbers:
    """Drift and alignment of the kernel at every snapshot, and what regression with it answers."""
    further = profile.further
    return {
        "modulus": further.modulus,
        "width": further.width,
        "fraction": further.fraction,
        "runs": [_followed(run) for run in runs],
    }


def _followed(run: Run) -> dict[str, Any]:
    history, steps, result = run.history, run.snapshots, dict(run.result or {})
    at = np.searchsorted(history["step"], steps)
    examples = run.experiment.split.examples_of(run.task)
    train, test = examples.inputs[examples.trained], examples.inputs[~examples.trained]
    chosen = np.random.default_rng(0).permutation(len(test))[:MOST_PAIRS]
    test, answers = test[chosen], examples.answers[~examples.trained][chosen]
    target = (answers[:, None] == answers).astype(np.float64)
    labels = examples.labels[examples.trained]
    start = tangent_kernel(run.snapshot(0), test, test)
    rows = []
    for step in steps:
        network = run.snapshot(step)
        kernel = tangent_kernel(network, test, test)
        across, among = tangent_kernel(network, test, train), tangent_kernel(network, train, train)
        answered = kernel_answers(among, across, labels, run.task.answers)
        rows.append(
            {
                "drift": np.linalg.norm(kernel - start) / np.linalg.norm(start),
                "like_start": alignment(kernel, start),
                "like_target": alignment(kernel, target),
                "regression_accuracy": float((answered == answers).mean()),
            }
        )
    curves = ("train_accuracy", "test_accuracy")
    return {
        "memorized_at": result["memorized_at"],
        "grokked_at": result["grokked_at"],
        "step": steps,
        **{name: [row[name] for row in rows] for name in rows[0]},
        **{name: history[name][at] for name in curves},
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(2, 1, height=4.4, sharex=True)
    above, below = panels[:, 0]
    run = n["runs"][0]
    above.plot(run["step"], run["like_start"], color=GREEN, marker="o", label="with the kernel at the start")
    above.plot(run["step"], run["like_target"], color=PURPLE, marker="s", label="with the answers")
    above.set_ylabel("alignment (CKA)")
    above.set_ylim(-0.03, 1.03)
    below.plot(run["step"], run["train_accuracy"], color=TRAIN, label="network, train")
    below.plot(run["step"], run["test_accuracy"], color=TEST, label="network, test")
    below.plot(
        run["step"],
        run["regression_accuracy"],
        color=VERMILLION,
        marker="o",
        linestyle="--",
        label="kernel frozen at this step, test",
    )
    below.set_ylabel("accuracy")
    below.set_ylim(-0.03, 1.03)
    below.set_xscale("symlog", linthresh=10)
    below.set_xlim(left=0)
    below.set_xlabel("step")
    for panel in (above, below):
        for name, side in (("memorized_at", "right"), ("grokked_at", "left")):
            style.mark(panel, run[name], name.removesuffix("_at") if panel is above else "", side)
        panel.legend(loc="center left")
    style.letter((above, below), ("what the tangent kernel is like", "what it would answer"))
    style.note(figure, f"n + m mod {n['modulus']}, N = {n['width']}, α = {n['fraction']}, plain GD, seed 0; test pairs")
    return figure


STUDY = Study(
    "tangent_kernel",
    "The tangent kernel through grokking",
    "The tangent kernel of the network at every snapshot (the mean over outputs), between test pairs. Top: its "
    "centered alignment with the kernel at initialization and with that of the answers, 1 where two pairs have the "
    "same answer. Bottom: what kernel regression from the training pairs would answer with the kernel as it stands at "
    "that step, beside what the network answers.",
    numbers,
    experiments,
    draw,
    beyond=True,
    slow=True,
)
