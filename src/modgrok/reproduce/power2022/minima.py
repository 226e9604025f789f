"""Appendix A.5: how sharp the minima are."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.sharpness import box_sharpness
from modgrok.palette import TEST
from modgrok.plot import style
from modgrok.reproduce.figures import seeds
from modgrok.reproduce.form import Ask, Table, study
from modgrok.reproduce.power2022.operations import KNOWN
from modgrok.reproduce.power2022.sizes import trained, what
from modgrok.text import count

SEEDS, BOTH = 20, 3
"""Seeds of one setting, as in the authors' script, and how many of them have to know the test set, and not to."""


def sharpness_of(run: Run) -> dict[str, float]:
    """Of the loss over 512 training examples."""
    examples = run.experiment.split.examples_of(run.task)
    chosen = np.flatnonzero(examples.trained)[:512]
    return {"sharpness": box_sharpness(run.network, examples.inputs[chosen], examples.labels[chosen])}


minima = study(
    "figA5",
    "Sharpness of the minima",
    "Sharpness, as defined by Keskar et al., of networks that differ in their seed alone, against their test accuracy, "
    "at a step at which some know the test set and others do not yet.",
    runs=lambda s: trained(s, s.studied, s.minima_fraction, seeds=s.minima_seeds, steps=s.minima_steps),
    keep=("train_accuracy", "test_accuracy", sharpness_of),
)


def at_minima(t: Table) -> Table:
    """The networks that know the training set: others are at no minimum."""
    return t.where(f"train_accuracy >= {KNOWN}")


@minima.figure(width=style.COLUMN)
def sharpness_and_accuracy(t: Table, panel: Any) -> str:
    for some, look in ((at_minima(t), {}), (t.where(f"train_accuracy < {KNOWN}"), {"facecolors": "none"})):
        label = "training set not known" if look else "training set known"
        panel.scatter(some["sharpness"], some["test_accuracy"], edgecolors=TEST, color=TEST, s=14, label=label, **look)
    panel.legend(loc="center right")
    panel.set(xscale="log", xlabel="sharpness φ", ylabel="test accuracy", ylim=(-0.02, 1.02))
    return f"{what(t)}, {100 * t.one('fraction'):g} % of the table, step {count(t.one('steps'))}, {seeds(t)}"


@minima.claim("A.5")
def flat_minima(t: Table, ask: Ask) -> None:
    """Networks that generalize lie in flatter minima."""
    from scipy.stats import spearmanr

    some = at_minima(t)
    known, others = (some.where(f"test_accuracy {sign} {KNOWN}") for sign in (">=", "<"))
    counts = {"networks": t, "that know the training set": some, "and the test set": known}
    ask.show({label: str(len(part)) for label, part in counts.items()})
    ask.possible(f"there are {SEEDS} seeds of one setting", t.seeds >= SEEDS)
    enough = min(len(known), len(others)) >= BOTH
    ask.possible(f"of the networks that know the training set {BOTH} know the test set and {BOTH} do not", enough)
    found = float(spearmanr(some["sharpness"], some["test_accuracy"])[0])
    ask.show({"Spearman's correlation": found}, paper="−0.795")
    ask.show({"sharpness where they know": known["sharpness"], "sharpness where they do not": others["sharpness"]})
    opposed = not found >= -0.5
    ask.that("over these networks Spearman's correlation of sharpness and test accuracy is below −0.5", opposed)
