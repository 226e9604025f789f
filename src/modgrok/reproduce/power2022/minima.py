"""Appendix A.5: how sharp the minima are."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.box_sharpness import box_sharpness
from modgrok.palette import TEST
from modgrok.plot import style
from modgrok.reproduce.figures import seeds
from modgrok.reproduce.form import Ask, Table, study
from modgrok.reproduce.power2022.operations import KNOWN
from modgrok.reproduce.power2022.sizes import trained, what
from modgrok.text import count, number

EXAMPLES = 512
"""Training examples over which the loss is taken."""
SEEDS, BOTH = 20, 3
"""Seeds of one setting, as in the authors' script, and how many of them have to know the test set, and not to."""


def sharpness_of(run: Run) -> dict[str, float]:
    examples = run.experiment.split.examples_of(run.task)
    chosen = np.flatnonzero(examples.trained)[:EXAMPLES]
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


@minima.claim(
    "A.5",
    "over networks that differ in their seed alone and know the training set, Spearman's correlation of sharpness and "
    "test accuracy is below −0.5 (the paper: −0.795); undecided with fewer than 20 seeds, or unless 3 of these "
    "networks know the test set and 3 do not",
)
def flat_minima(t: Table, ask: Ask) -> None:
    """Networks that generalize lie in flatter minima."""
    from scipy.stats import spearmanr

    some = at_minima(t)
    known = len(some.where(f"test_accuracy >= {KNOWN}"))
    ask.show({"networks": str(len(t)), "that know the training set": str(len(some)), "and the test set": str(known)})
    ask.undecided(f"{seeds(t)}; the paper has {SEEDS}.", t.seeds < SEEDS)
    few = min(known, len(some) - known) < BOTH
    ask.undecided(f"{known} of {count(len(some), 'network')} know the test set: too few to compare.", few)
    found = float(spearmanr(some["sharpness"], some["test_accuracy"])[0])
    ask.show({"Spearman's correlation": found}, paper="−0.795")
    for label, part in (
        ("know", some.where(f"test_accuracy >= {KNOWN}")),
        ("do not", some.where(f"test_accuracy < {KNOWN}")),
    ):
        ask.show({f"sharpness where they {label}": part["sharpness"]})
    ask.yes(f"Over {count(len(some), 'network')} the correlation is {number(found)}.")
    ask.fault("", found >= -0.5)
