"""Figs. 2 and 4: norms that grow in stairs, spikes of the loss, and what does away with both."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.spikes import FLOOR, RISE, growth, spikes
from modgrok.measures.spikes import stairs as stairs_between
from modgrok.palette import GRAY, SERIES
from modgrok.plot import style
from modgrok.reproduce.form import Ask, Column, Row, Runs, Sizes, Table, curves, runs, study
from modgrok.reproduce.thilak2022.sizes import ADAM, DESCENT_RATE, DOUBLE, EPSILONS, FIRST, LAST, perceptron
from modgrok.text import count, number, percent

SHOWN = (FIRST, LAST, DOUBLE)
"""Variants whose curves are drawn."""
PANELS: Any = {"rows": 2, "columns": len(SHOWN), "height": 3.8, "sharex": True, "sharey": "row"}
LABELS = {"train_loss": "training loss", "last_layer": "norm of the last layer", "test_accuracy": "test accuracy"}
SCALES = {"loss": "log", "train_loss": "log", "feature_change": "log", "curvature": "symlog"}
"""Of the measures that are not drawn linearly."""
LEAST = FLOOR / 10
CUT = f"losses below {LEAST:g} are drawn there"
drawn = curves("train_loss", "last_layer", most=600)


def all_variants(s: Sizes) -> Runs:
    """Adam as the paper has it, and what does away with the spikes or is said to."""
    made = ADAM | {
        "RMSProp": {"optimizer": "rmsprop"},
        "gradient descent": {"optimizer": "gd", "lr": 10 * DESCENT_RATE},
        "momentum": {"optimizer": "momentum", "lr": DESCENT_RATE},
    }
    made |= {f"weight decay {decay:g}": {"optimizer": "adamw", "weight_decay": decay} for decay in s.decays}
    return runs(perceptron(s), variant=made, seed=range(s.seeds))


def spikes_of(run: Run) -> dict[str, Any]:
    return {"spikes": len(spikes(run.history["step"], run.history["train_loss"]))}


def stairs_of(run: Run) -> dict[str, Any]:
    return growth(run.history["step"], run.history["train_loss"], run.history["last_layer"])


stairs = study(
    "fig2",
    "Stairs of the norm, spikes of the loss",
    "Long after the training set is learned, Adam's last layer grows in stairs, and at the end of each the loss shoots "
    "up: the slingshot. With a larger ε, or with logits and loss in 64 bits, it does not.",
    runs=lambda s: runs(perceptron(s), variant={name: ADAM[name] for name in SHOWN}, seed=range(s.seeds)),
    keep=(drawn, spikes_of, stairs_of),
)
counts = study(
    "fig4",
    "What has spikes and what has none",
    "Spikes of the training loss for Adam with three ε, with logits and loss in 64 bits, for other optimizers, and "
    "with weight decay.",
    runs=all_variants,
    keep=("train_accuracy", "test_accuracy", spikes_of),
)


def draw_curve(panel: Any, row: Row, measure: str, linewidth: float = 0.9, **look: Any) -> None:
    """A measure of a run against the step; losses below `LEAST` are drawn there."""
    values = np.maximum(row[measure], LEAST) if "loss" in measure else row[measure]
    panel.plot(row.step, values, linewidth=linewidth, **look)
    panel.set_yscale(SCALES.get(measure, "linear"))


def curves_by_variant(
    t: Table, *shown: Any, variants: Sequence[str] = SHOWN, legend: str = "lower right", **below: Any
) -> str:
    """A column of panels for each variant, a row for each measure; `below` is how the last row looks."""
    columns = [shown[i :: len(variants)] for i in range(len(variants))]
    for column, name in zip(columns, variants, strict=True):
        for panel, measure in zip(column, LABELS, strict=False):
            for row in t.where(variant=name):
                draw_curve(panel, row, measure, color=SERIES[row.seed], label=f"seed {row.seed}")
        column[0].set_title(name)
        column[-1].set(xlabel="step", **below)
    for panel, label in zip(columns[0], LABELS.values(), strict=False):
        panel.set_ylabel(label)
    columns[0][-1].legend(loc=legend)
    return f"modulo {t.one('modulus')}, cross-entropy; {CUT}"


stairs.figure(**PANELS)(curves_by_variant)


@counts.figure(width=style.COLUMN, height=3.2)
def spikes_by_variant(t: Table, panel: Any) -> str:
    cells = t.by("variant")
    for row, cell in enumerate(cells.values()):
        found = cell["spikes"]
        panel.plot(found, [row] * len(found), "o", color=SERIES[0] if any(found) else GRAY, alpha=0.6)
    panel.set_yticks(range(len(cells)), cells)
    panel.invert_yaxis()
    panel.set(xlabel=f"spikes in {count(t.one('steps'))} steps, a mark for each seed")
    panel.xaxis.get_major_locator().set_params(integer=True)
    panel.grid(axis="y", linewidth=0.3)
    return f"a spike: the training loss rises to {RISE} times its least value so far"


def found_in(t: Table, *names: str) -> dict[str, Column]:
    """The spikes of every seed of variants."""
    return {f"spikes, {name}": t.where(variant=name)["spikes"] for name in names}


def climbs(row: Row, places: Sequence[int]) -> list[bool]:
    """Whether the last layer climbs a stair between every two spikes."""
    return stairs_between(np.array(row.step, int), np.array(row.last_layer, float), places)


@stairs.claim("3 (Fig. 2)")
def stairs_and_spikes(t: Table, ask: Ask) -> None:
    """Long after memorization the last layer grows in stairs, each of which ends in a spike of the training loss."""
    seeds = t.where(variant=FIRST)
    found = seeds.each(lambda r: climbs(r, spikes(np.array(r.step, int), np.array(r.train_loss, float))))
    stairs, between = sum(map(sum, found)), sum(map(len, found))
    ask.that("with ε = 1e-8 every seed has two spikes or more", all(found))
    ask.that(
        "between most of them the last layer grows at least thrice as much in the last quarter of the steps as in the "
        "first: growth, then a spike, then a plateau",
        2 * stairs > between,
    )
    ask.yes(f"In {stairs} of {between} intervals between spikes it grows before the second spike, not after the first.")
    ask.show(found_in(t, FIRST))
    ask.show({"intervals that are a stair": f"{stairs} of {between}"})
    ask.show({"growth in spikes": seeds["share_of_growth"], "steps in spikes": seeds["share_of_steps"]}, percent)
    ask.show({"growth of the norm after the loss has vanished": seeds["growth"]})
    ask.show({"the same in 64 bits": t.where(variant=DOUBLE)["growth"]})


@counts.claim("4 (Fig. 4)")
def larger_epsilon(t: Table, ask: Ask) -> None:
    """The larger Adam's ε, the fewer the spikes; at 1e-5 there are none."""
    found = found_in(t, *EPSILONS)
    first, second, last = found.values()
    *small, large = map(number, EPSILONS.values())
    sums = f"{sum(first)}, {sum(second)} and {sum(last)}"
    ask.yes(f"There are {sums} spikes at ε = {', '.join(small)} and {large}, all seeds together.")
    ask.lower("there are fewer spikes at ε = 1e-7 than at 1e-8", second, first)
    ask.that("there are none at 1e-5", not any(last))
    ask.show(found)


@counts.claim("2605.06152")
def precision_is_the_cause(t: Table, ask: Ask) -> None:
    """Spikes come from the rounding of the softmax in 32 bits: with logits and loss in 64 bits there are none."""
    found = found_in(t, FIRST, DOUBLE)
    single, double = found.values()
    ask.that("with logits and loss in float64 no seed has a spike", not any(double))
    ask.that("with float32 every seed has one, all else equal", all(single))
    ask.yes(f"In 64 bits there are no spikes, in 32 bits {sum(single)}, all seeds together.")
    ask.show(found)


@counts.claim("4, App. A")
def adaptive_optimizers_only(t: Table, ask: Ask) -> None:
    """Gradient descent has no slingshots, with momentum or without; RMSProp has them as Adam does."""
    names = ("gradient descent", "momentum")
    descent, adaptive = t.where(variant=names), sum(t.where(variant="RMSProp")["spikes"])
    ask.that("no seed of gradient descent with or without momentum has a spike", not any(descent["spikes"]))
    ask.remark("RMSProp has some", adaptive)
    ask.remark("descent has learned the training set in all runs", min(descent["train_accuracy"]) >= 0.99)
    ask.yes(f"Gradient descent has no spikes; RMSProp has {adaptive}, all seeds together.")
    ask.show(found_in(t, FIRST, "RMSProp", *names))
    ask.show({"training accuracy of descent": descent["train_accuracy"]}, percent)


@counts.claim("4 (wd sweep)")
def decay_removes(t: Table, ask: Ask) -> None:
    """Weight decay removes the spikes."""
    *weaker, largest = t.where("weight_decay > 0")["variant"].distinct()
    most = t.where(variant=largest)
    ask.that(f"no seed has a spike at {largest}", not any(most["spikes"]))
    ask.remark("weaker decay leaves none either", not any(t.where(variant=weaker)["spikes"]))
    ask.show(found_in(t, FIRST, *weaker, largest))
    ask.show({f"test accuracy, {largest}": most["test_accuracy"]}, percent)
