"""Appendix A.5: how sharp the minima are."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.box_sharpness import box_sharpness
from modgrok.palette import BLUE, VERMILLION
from modgrok.plot import style
from modgrok.reproduce.form import Ask, Runs, Sizes, Table, study
from modgrok.reproduce.power2022.operations import everything
from modgrok.reproduce.power2022.sizes import trained
from modgrok.reproduce.power2022.variants import variants
from modgrok.text import count, number

EXAMPLES = 512
"""Training examples over which the loss is taken."""
SEEDS = 20
"""Of one setting, in the authors' script."""


def ended(s: Sizes) -> Runs:
    """One network of every variant, of every share of wrong labels, and of every operation at the fractions of the
    variants."""
    s = s.but(seeds=1)
    found = variants.runs(s) + trained(s, s.studied, s.wrong_fraction, wrong_labels=[*s.wrong])
    found += Runs([row for row in everything(s).rows if row[0]["fraction"] in s.variant_fractions])
    return Runs([*{experiment: row for row, (_, experiment) in zip(found.rows, found, strict=True)}.values()])


def sharpness_of(run: Run) -> dict[str, Any]:
    e, examples = run.experiment, run.experiment.split.examples_of(run.task)
    chosen = np.flatnonzero(examples.trained)[:EXAMPLES]
    value = box_sharpness(run.network, examples.inputs[chosen], examples.labels[chosen])
    return {"sharpness": value, "decays": bool(e.weight_decay) and e.decay_to == "zero"}


minima = study(
    "figA5",
    "Sharpness of the minima",
    "Sharpness, as defined by Keskar et al., of trained networks against their test accuracy: one network for every "
    "variant, every share of wrong labels and every operation.",
    runs=ended,
    keep=("test_accuracy", sharpness_of),
)


@minima.figure(width=style.COLUMN)
def sharpness_and_accuracy(t: Table, panel: Any) -> str:
    for decays, color, label in ((True, BLUE, "weight decay"), (False, VERMILLION, "none, or toward the start")):
        some = t.where(decays=decays)
        panel.scatter(some["sharpness"], some["test_accuracy"], color=color, s=14, label=label)
    panel.legend(loc="center left")
    panel.set(xscale="log", xlabel="sharpness φ", ylabel="test accuracy", ylim=(-0.02, 1.02))
    return f"{len(t)} networks at their last step"


def _correlation(t: Table) -> float | None:
    from scipy.stats import spearmanr

    both = t["sharpness"], t["test_accuracy"]
    return float(spearmanr(*both)[0]) if all(len(set(values)) > 1 for values in both) else None


@minima.claim(
    "A.5",
    "over networks that differ in their seed alone, Spearman's correlation of sharpness and test accuracy is below "
    "−0.5 (the paper: −0.795); undecided with fewer than 20 of them",
)
def flat_minima(t: Table, ask: Ask) -> None:
    """Networks that generalize lie in flatter minima."""
    found, decayed = _correlation(t), _correlation(t.where(decays=True))
    ask.show({"Spearman's correlation": found, "among networks with weight decay": decayed, "networks": count(len(t))})
    ask.undecided("All networks have the same accuracy or sharpness.", found is None)
    ask.undecided(
        "These networks differ in task, variant and labels, which decide sharpness and accuracy both; the paper's "
        "differ in their seed alone.",
        t.seeds < SEEDS,
    )
    ask.yes(f"Over {count(len(t), 'network')} the correlation is {number(found)}.")
    ask.fault("", found is not None and found >= -0.5)
