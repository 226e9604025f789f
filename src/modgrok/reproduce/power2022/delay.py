"""Figs. 1 and 4: how much later than the training set the test set is known, with and without weight decay, with more
and less data."""

from functools import partial
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.palette import TEST, TRAIN
from modgrok.plot import style
from modgrok.reproduce.figures import seeds, times
from modgrok.reproduce.form import Ask, Runs, Settings, Sizes, Table, curves, study
from modgrok.reproduce.power2022.sizes import DIVISION, grokking, lasting_division, trained, what
from modgrok.text import count, percent, spread

SEEDS, SCARCE = 5, 0.3
"""How many seeds tell times apart, and the share of data below which the paper does."""
EARLY, PAPER_STEPS = 100_000, 1_000_000
"""Steps without decay until which the paper sees little generalization, and those of its curve."""


def divisions(s: Sizes) -> Runs:
    without = {"weight_decay": 0.0, "steps": s.plain_steps}
    return trained(s, DIVISION, s.division_fraction, decay={"with": {}, "without": without})


def divisions_of_little(s: Sizes) -> Runs:
    ends: Settings = {"steps": s.paper_steps, "evaluations": s.scarce_evaluations, "until": 0}
    return trained(s, DIVISION, *s.scarce_fractions, seeds=s.scarce_seeds, **ends)


def test_loss(run: Run) -> dict[str, float | None]:
    """The test loss at the start, its least before its largest, that, with half of the test known, and at the end."""
    loss = run.history["test_loss"]
    half = np.flatnonzero(run.history["test_accuracy"] >= 0.5)
    return {
        "start": loss[0],
        "least": loss[: loss.argmax() + 1].min(),
        "largest": loss.max(),
        "at_half": loss[half[0]] if len(half) else None,
        "end": loss[-1],
    }


accuracies = study(
    "fig1",
    "Grokking of division",
    "Accuracy on the training and on the test part of the table of x / y, with weight decay and without. The paper's "
    "own curve is without, over a million steps.",
    runs=divisions,
    keep=("memorized_at", "grokked_at", curves("train_accuracy", "test_accuracy")),
)
losses = study(
    "fig4",
    "The test loss rises before it falls",
    "Losses of the same runs: the test loss goes up while the training set is memorized, and down again when the "
    "network generalizes.",
    runs=divisions,
    keep=("grokked_at", curves("train_loss", "test_loss"), test_loss),
)


data = study(
    "fig1b",
    "Less data takes longer",
    "Steps until 99 % of the training set and of the test set are right, against the share of the table; each run "
    "stops there.",
    runs=lambda s: grokking(s, *s.time_fractions),
    keep=("memorized_at", "grokked_at"),
)
scarce = study(
    "fig1c",
    "Division from little data",
    "The same for division, with shares of the table that are as small as the paper's.",
    runs=divisions_of_little,
    keep=("memorized_at", "grokked_at"),
)


def before_and_ever(run: Run) -> dict[str, float]:
    """The best test accuracy up to the step until which the paper sees little, and of all steps."""
    accuracy = run.history["test_accuracy"]
    return {"early": accuracy[run.history["step"] <= EARLY].max(), "best": accuracy.max()}


lasting = study(
    "fig1l",
    "Division without weight decay, for long",
    "Accuracy on the training and on the test part of the table of x / y, by Adam without weight decay, as in the "
    "paper's first figure.",
    runs=lasting_division,
    keep=("memorized_at", "grokked_at", curves("train_accuracy", "test_accuracy", most=600), before_and_ever),
)


def both_sides(t: Table, *shown: Any, name: str, **look: Any) -> str:
    """Curves on the training and on the test part, a panel for each kind of decay."""
    for panel, some in zip(shown, t.by("decay").values(), strict=True):
        for row in some:
            for side, color in (("train", TRAIN), ("test", TEST)):
                label = None if row.seed else side
                panel.plot(row.step[1:], row[f"{side}_{name}"][1:], color=color, label=label, alpha=0.8)
        panel.set(xscale="log", xlabel="step", **look)
    shown[0].set_ylabel(name)
    shown[0].legend(loc="center left")
    return f"{100 * t.one('fraction'):g} % of {what(t)}, {seeds(t)}"


of_accuracy = partial(both_sides, name="accuracy", ylim=(-0.02, 1.02))
for some, draw in ((accuracies, of_accuracy), (losses, partial(both_sides, name="loss", yscale="log"))):
    some.figure("AdamW with weight decay", "Adam, no weight decay", height=2.7, sharey=True)(draw)
lasting.figure(height=2.7)(of_accuracy)


def times_against_data(t: Table, panel: Any) -> str:
    times(panel, t, "fraction", ("training set", "test set", "some seed not within the steps"))
    panel.set(xlabel="share of the table that is trained on")
    panel.legend()
    return f"{what(t)}, at most {count(t.one('steps'))} steps, {seeds(t)}"


data.figure(width=style.COLUMN)(times_against_data)
scarce.figure(width=style.COLUMN)(times_against_data)


@accuracies.claim("3.1 (Fig. 1 left)")
def division(t: Table, ask: Ask) -> None:
    """Division is grokked long after it is memorized, and much later without weight decay."""
    decayed, plain = t.by("decay").values()
    late = decayed.where(lambda r: r.grokked_at and r.memorized_at and r.grokked_at >= 2 * r.memorized_at)["grokked_at"]
    budget = min(steps[-1] for steps in plain["step"])
    slow = late and min(plain["grokked_at"].known(), default=budget + 1) > 3 * max(late) <= budget
    ask.that("the training set is known within 1 000 steps", len(t.where("memorized_at <= 1000")) == len(t))
    ask.that("with decay most seeds know the test set at least twice as late", 2 * len(late) > len(decayed))
    ask.that("without decay none does within three times the steps of the slowest with decay", slow)
    ask.remark("with decay all seeds do", len(late) == len(decayed))
    for some, kind in ((decayed, "with decay"), (plain, "without")):
        ask.show({f"steps to the training set, {kind}": some["memorized_at"]})
        ask.show({f"steps to the test set, {kind}": some["grokked_at"]})
    ask.show({"test accuracy at the end, without": plain.each(lambda r: r.test_accuracy[-1])}, percent)
    ask.show({"steps without decay": count(budget)})


@losses.claim("A.4 (Fig. 4)")
def second_descent(t: Table, ask: Ask) -> None:
    """While the network memorizes the test loss rises, and falls again when it generalizes."""
    seeds = t.where("grokked_at >= 0", decay="with")
    grown, ended = seeds["largest"] / seeds["least"], seeds["end"] / seeds["start"]
    good = [g >= 1.2 and e <= 0.5 for g, e in zip(grown, ended, strict=True)]
    rises = "the test loss grows to 1.2 times its least value before or more, and ends below half of the start"
    ask.that(f"in most seeds that grok with decay {rises}", 2 * sum(good) > len(seeds))
    ask.yes(f"It rises to {spread(grown)} times its least value before, and ends at {spread(ended)} of the start.")
    ask.show({"largest test loss over the least before": grown})
    ask.show({"largest test loss over that of the start": seeds["largest"] / seeds["start"]})
    ask.show({"last test loss over that of the start": ended})
    half = "test loss when half of the test set is right, over that of the start"
    ask.show({half: seeds["at_half"] / seeds["start"]})


def growth(t: Table, time: str) -> float:
    """How much longer a time is for one percent less data: of the line through its logarithms against the share."""
    some = t.where(f"{time} >= 0")
    slope = np.polyfit(some["fraction"], np.log(some[time]), 1)[0] if len(some["fraction"].distinct()) > 1 else np.nan
    return float(np.exp(-slope / 100) - 1)


@scarce.claim("3.1 (Fig. 1 center)", data)
def time_against_data(t: Table, s5: Table, ask: Ask) -> None:
    """With less data the test set takes much longer, the training set does not."""
    for some in (t, s5):
        for f, cell in some.by("fraction").items():
            both = f"{spread(cell['memorized_at'])}; {spread(cell['grokked_at'])}"
            ask.show({f"steps to training and test set of {what(some)} at {percent(f, 0)}": both})
    few = t.where(f"fraction <= {SCARCE}")
    test, train, steep = growth(t, "grokked_at"), growth(t, "memorized_at"), growth(few, "grokked_at")
    ask.show({"more time to the test set for one percent less data": test}, percent)
    ask.show({"the same up to 30 % of the table": steep}, percent, paper="40 to 50 % between 25 and 30 %, in S5")
    ask.show({"more time to the training set for one percent less data": train}, percent)
    done = few.median("grokked_at", "fraction").known()
    ask.budget(t, "effect", seeds=SEEDS)
    ask.possible(
        f"at three shares of {SCARCE} or less, where the paper measures it, most seeds know the test set",
        len(done) >= 3,
    )
    ask.that(
        "for less data the time to the test set grows, and faster than that to the training set, along lines through "
        "the logarithms of the times of all seeds that know it",
        not test <= max(0.0, train),
    )
    ask.remark("up to 30 % of the table one percent less takes at least 20 % longer", not steep < 0.2)
    ask.remark("every run is done within the steps", t["grokked_at"].whole())


@lasting.claim("3.1 (Fig. 1 left)")
def division_without_decay(t: Table, ask: Ask) -> None:
    """Without weight decay division is grokked too, but hardly before 100 000 steps."""
    steps = t.one("steps")
    ask.show({"steps to the training set": t["memorized_at"], "steps to the test set": t["grokked_at"]})
    ask.show({f"best test accuracy until step {count(EARLY)}": t["early"], "best of all": t["best"]}, percent)
    ask.that("the training set is known within 1 000 steps", len(t.where("memorized_at <= 1000")) == len(t))
    ask.that("until step 100 000 the test accuracy stays below 10 %", max(t["early"]) < 0.1)
    known = t["grokked_at"].known()
    enough = ask.faults or known or steps >= PAPER_STEPS
    ask.possible("some seed knows 99 % of the test set, or has had the paper's 1 000 000 steps", enough)
    ask.that("some seed knows 99 % of the test set in the end", known)
    ask.remark("all seeds do", t["grokked_at"].whole())
