"""Grokking from a thousand examples, and the few neurons that remain (Barak et al. C.5, Merrill et al. 2023)."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.effective_width import active_neurons, incoming_norms
from modgrok.palette import GRAY, SERIES, TEST, TRAIN
from modgrok.reproduce.barak2022.sizes import parity
from modgrok.reproduce.figures import mark_events, seed_look
from modgrok.reproduce.form import Ask, Runs, Sizes, Table, curves, study
from modgrok.text import count, percent, spread

ACTIVE = 10
"""Neurons whose norms are drawn one by one."""


def thousand_examples(s: Sizes) -> Runs:
    """A thousand examples again and again, with L2 0.01 (Merrill et al. 2023)."""
    more = {"examples": 1000, "width": s.finite_width, "weight_decay": 0.01, "snapshots": 30, "evaluations": 120}
    return parity(s.bits, 3, s.finite_seeds, lr=0.1, steps=s.finite_steps, **more)


def neurons_of(run: Run) -> dict[str, Any]:
    """Norms on the way of those that are largest at the end and of the others, and how many do the work."""
    examples = run.experiment.split.examples_of(run.experiment.load_task())
    norms = np.array([incoming_norms(run.snapshot(step)) for step in run.snapshots])
    largest = np.argsort(-norms[-1])[:ACTIVE]
    return {
        "active": active_neurons(run.network, 1.0 - 2.0 * examples.inputs),
        "kept": run.snapshots,
        "largest": norms[:, largest].T,
        "others": np.delete(norms, largest, axis=1).mean(axis=1),
    }


grokking = study(
    "figG",
    "Grokking a parity, and what is left of the network",
    "From a thousand fixed examples the training accuracy is soon perfect and the test accuracy at chance. With weight "
    "decay a handful of neurons grows while all others decay; when they have taken over, the test accuracy jumps.",
    runs=thousand_examples,
    keep=("memorized_at", "grokked_at", curves("train_accuracy", "test_accuracy"), neurons_of),
)


@grokking.figure("", "neurons of seed 0", height=2.7)
def accuracies_and_norms(t: Table, left: Any, right: Any) -> str:
    for row in t:
        left.plot(row.step, row.train_accuracy, color=TRAIN, **seed_look(row.seed, "training accuracy"))
        left.plot(row.step, row.test_accuracy, color=TEST, **seed_look(row.seed, "test accuracy"))
    first = t.first
    for norms in first.largest:
        right.plot(first.kept, norms, color=SERIES[2], linewidth=0.9)
    right.plot(first.kept, first.others, color=GRAY, label="mean of the others")
    right.plot([], [], color=SERIES[2], label=f"the {ACTIVE} largest at the end")
    right.legend()
    for panel in (left, right):
        panel.set_xscale("symlog", linthresh=10)
        panel.set_xlabel("step")
        mark_events(panel, first, panel is left)
    left.set(ylabel="accuracy", ylim=(0.4, 1.02))
    right.set_ylabel("norm of a neuron's weights")
    left.legend(loc="upper left")
    return (
        f"parity of 3 of {t.one('bits')} bits, 1 000 examples, {t.one('width')} ReLU, L2 0.01; active neurons at "
        f"the end: {', '.join(map(str, t['active']))}"
    )


@grokking.claim("C.5")
def finite_grokking(t: Table, ask: Ask) -> None:
    """From a fixed set of examples with weight decay, parities are grokked."""
    delays = t["grokked_at"] - t["memorized_at"]
    ask.that("every seed knows 99 % of both sets", delays.whole())
    ask.that("the test set at least ten epochs (320 steps) later", min(delays.known(), default=0) >= 320)
    ask.show({"memorized at": t["memorized_at"], "grokked at": t["grokked_at"]})
    ask.show({"test accuracy at the end": t.each(lambda r: r.test_accuracy[-1])}, percent)


@grokking.claim("C.5; Merrill et al. 2023")
def small_subnetwork(t: Table, ask: Ask) -> None:
    """After grokking a handful of neurons does all the work."""
    middle, most = np.median(t["active"]), max(t["active"])
    ask.that("at most 10 neurons answer every example as the network does, in the median over seeds", middle <= 10)
    ask.remark("in every seed no more take part", most <= 10)
    ask.show({"active neurons (Merrill et al.: 6, 6, 6, 8, 8)": f"{spread(t['active'])} of {count(t.one('width'))}"})
