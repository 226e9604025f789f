"""The tangent kernel through grokking: how far it drifts, and whether a kernel frozen on the way would generalize."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.tangent_kernel import kernel_path
from modgrok.palette import GREEN, PURPLE, TEST, TRAIN, VERMILLION
from modgrok.plot import style
from modgrok.reproduce.figures import modular, panels
from modgrok.reproduce.form import BEYOND, Ask, Table, study
from modgrok.reproduce.gromov2023.sharpness import BETWEEN, enough_between
from modgrok.reproduce.gromov2023.sizes import usual_by_gd
from modgrok.text import number, percent, spread

MOST_PAIRS = 1200
"""Pairs between which kernels are compared."""


def followed(run: Run) -> dict[str, Any]:
    """Drift and alignment of the kernel at every snapshot, and what regression with it answers."""
    examples = run.experiment.split.examples_of(run.task)
    path = kernel_path([run.snapshot(step) for step in run.snapshots], examples, MOST_PAIRS)
    at = np.searchsorted(run.history["step"], run.snapshots)
    return {
        "step": run.snapshots,
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
    runs=lambda s: usual_by_gd(s, snapshots=s.followed_snapshots)[:1],
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
        note=f"{modular(t)}, N = {t.one('width')}, α = {t.one('fraction')}, plain GD, seed 0; test pairs",
        sharex=True,
    )
    run = t.first
    above.plot(run.step, run.like_start, color=GREEN, marker="o", label="with the kernel at the start")
    above.plot(run.step, run.like_target, color=PURPLE, marker="s", label="with the answers")
    above.set(ylabel="alignment (CKA)", ylim=(-0.03, 1.03))
    below.plot(run.step, run.train_accuracy, color=TRAIN, label="network, train")
    below.plot(run.step, run.test_accuracy, color=TEST, label="network, test")
    frozen: Any = {"color": VERMILLION, "marker": "o", "linestyle": "--"}
    below.plot(run.step, run.regression_accuracy, label="kernel frozen at this step, test", **frozen)
    below.set(ylabel="accuracy", ylim=(-0.03, 1.03))
    below.set_xscale("symlog", linthresh=10)
    below.set_xlim(left=0)
    below.set_xlabel("step")
    for panel in (above, below):
        for name, side in (("memorized_at", "right"), ("grokked_at", "left")):
            style.mark(panel, run[name], name.removesuffix("_at") if panel is above else "", side)
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
    "and passes 50 % within one snapshot of the network; undecided with fewer than "
    f"{BETWEEN} snapshots between memorization and grokking",
)
def kernel_learns(t: Table, ask: Ask) -> None:
    """The kernel frozen on the way generalizes as soon as the network does, and not before."""
    ask.undecided("The network does not grok.", not t["grokked_at"].whole())

    def passes(values: list[float]) -> int:
        return next((i for i, value in enumerate(values) if value >= 0.5), len(values) + 9)

    apart = t.each(lambda r: passes(r.regression_accuracy) - passes(r.test_accuracy))
    first, last = ([row.regression_accuracy[i] for row in t] for i in (0, -1))
    ask.show({"test accuracy of regression with the kernel, start": first, "end": last}, percent)
    ask.show({"snapshots between the kernel's 50 % and the network's": apart})
    enough_between(t, ask)
    ask.yes(
        "Regression with the kernel of the memorizing network fails on test pairs; with that of the grokked network it "
        "answers them. What is learnt at grokking is the kernel."
    )
    ask.fault(
        "The frozen kernel does not begin to generalize when the network does.",
        max(first) > 0.05 or min(last) < 0.95 or max(map(abs, apart)) > 1,
    )
