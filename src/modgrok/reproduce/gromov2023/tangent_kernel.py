"""The tangent kernel through grokking: how far it drifts, and whether a kernel frozen on the way would generalize."""

import math
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.tangent_kernel import kernel_path
from modgrok.palette import GREEN, PURPLE, TEST, TRAIN, VERMILLION
from modgrok.plot import style
from modgrok.reproduce.figures import modular, panels, seed_look
from modgrok.reproduce.form import BEYOND, Ask, Row, Table, study
from modgrok.reproduce.gromov2023.sharpness import BETWEEN, at_rates, enough_between, followed_steps
from modgrok.text import number, percent, spread

MOST_PAIRS = 1200
"""Pairs between which kernels are compared."""
NEAR = 0.25
"""Steps this near each other, relatively, are one event."""
LOOKS = {
    "like_start": (GREEN, "-", "with the kernel at the start"),
    "like_target": (PURPLE, "-", "with the answers"),
    "train_accuracy": (TRAIN, "-", "network, train"),
    "test_accuracy": (TEST, "-", "network, test"),
    "regression_accuracy": (VERMILLION, "--", "kernel frozen at this step, test"),
}


def followed(run: Run) -> dict[str, Any]:
    """Drift and alignment of the kernel at every snapshot, and what regression with it answers."""
    examples = run.experiment.split.examples_of(run.task)
    steps = followed_steps(run)
    path = kernel_path([run.snapshot(step) for step in steps], examples, MOST_PAIRS)
    at = np.searchsorted(run.history["step"], steps)
    return {
        "step": steps,
        **path,
        **{name: run.history[name][at] for name in ("train_accuracy", "test_accuracy")},
    }


tangent = study(
    "tangent_kernel",
    "The tangent kernel through grokking",
    "The tangent kernel of the network at every snapshot (the mean over outputs), between test pairs. Top: its "
    "centered alignment with the kernel at initialization and with that of the answers, 1 where two pairs have the "
    "same answer. Bottom: what kernel regression from the training pairs would answer with the kernel as it stands at "
    "that step, beside what the network answers.",
    runs=lambda s: at_rates(s, s.followed.rate),
    keep=("memorized_at", "grokked_at", followed),
    beyond=True,
    slow=True,
)


@tangent.figure()
def kernels(t: Table) -> Any:
    figure, (above, below) = panels(
        "what the tangent kernel is like",
        "what it would answer",
        rows=2,
        height=4.4,
        note=f"{modular(t)}, N = {t.one('width')}, α = {t.one('fraction')}, plain GD, test pairs; bold: seed 0, "
        f"faint: {t.seeds - 1} more",
        sharex=True,
    )
    for run in t:
        for name, (color, line, label) in LOOKS.items():
            panel = above if name.startswith("like") else below
            panel.plot(run.step, run[name], color=color, linestyle=line, **seed_look(run.seed or 0, label))
    above.set(ylabel="alignment (CKA)", ylim=(-0.03, 1.03))
    below.set(ylabel="accuracy", ylim=(-0.03, 1.03))
    below.set_xscale("symlog", linthresh=10)
    below.set_xlim(left=0)
    below.set_xlabel("step")
    for panel in (above, below):
        for name, side in (("memorized_at", "right"), ("grokked_at", "left")):
            style.mark(panel, t.first[name], name.removesuffix("_at") if panel is above else "", side)
        panel.legend(loc="center left")
    return figure


@tangent.claim(
    BEYOND,
    "by the end the alignment (which knows no scale) of the kernel between test pairs with the answers has grown by "
    "≥ 0.05; a remark where its alignment with the initial kernel is still ≥ 0.9",
)
def kernel_drifts(t: Table, ask: Ask) -> None:
    """The tangent kernel does not stay what it is at initialization: features are learnt."""
    ask.undecided("The network does not grok.", not t["grokked_at"].whole())
    drift = t.each(lambda r: r.drift[-1])
    first, last = ([row.like_target[i] for row in t] for i in (0, -1))
    like_start = t.each(lambda r: r.like_start[-1])
    ask.yes("The kernel turns toward the answers.")
    ask.fault(
        "The kernel does not turn toward the answers.",
        min(t.each(lambda r: r.like_target[-1] - r.like_target[0])) < 0.05,
    )
    ask.note(
        f"It turns little, though: its alignment with the initial kernel ends at {number(like_start.average())}; what "
        "grows much is its scale, with the norms of the weights.",
        max(like_start) >= 0.9,
    )
    ask.show({"distance from the initial kernel / its norm": drift, "alignment with the initial kernel": like_start})
    ask.show({"alignment with the answers, start → end": f"{spread(first)} → {spread(last)}"})


@tangent.claim(
    BEYOND,
    "regression with the kernel frozen at a step answers ≤ 5 % of the test pairs at the start and ≥ 95 % at the end, "
    f"and passes 50 % at a step within {NEAR:.0%} of the one at which the network does; undecided with fewer than "
    f"{BETWEEN} snapshots between memorization and grokking",
)
def kernel_learns(t: Table, ask: Ask) -> None:
    """The kernel frozen on the way generalizes as soon as the network does, and not before."""
    ask.undecided("The network does not grok.", not t["grokked_at"].whole())

    def passes(row: Row, name: str) -> float:
        return next((step for step, value in zip(row.step, row[name], strict=True) if value >= 0.5), math.inf)

    apart = t.each(lambda r: passes(r, "regression_accuracy") / passes(r, "test_accuracy"))
    first, last = ([row.regression_accuracy[i] for row in t] for i in (0, -1))
    ask.show({"test accuracy of regression with the kernel, start": first, "end": last}, percent)
    ask.show({"step of the kernel's 50 % / of the network's": apart})
    enough_between(t, ask)
    ask.yes(
        "Regression with the kernel of the memorizing network fails on test pairs; with that of the grokked network it "
        "answers them. What is learnt at grokking is the kernel."
    )
    ask.fault(
        "The frozen kernel does not begin to generalize when the network does.",
        max(first) > 0.05 or min(last) < 0.95 or not all(abs(ratio - 1) <= NEAR for ratio in apart),
    )
