"""What the authors say, each in their own arena: their network, task, rate and decay, nothing tuned."""

import statistics
from collections.abc import Iterable, Mapping
from typing import Any

from modgrok.palette import EMPTY, GRAY, MARKERS, TEST, TRAIN
from modgrok.reproduce.accelerators.sizes import (
    ADAM,
    ADAMW,
    BESIDE,
    EMA_DECAYED,
    FASTER,
    MA,
    MA_DECAYED,
    ORTHOGONAL,
    STABLE,
    edges,
    filtered,
    inner_matrices,
)
from modgrok.reproduce.figures import legend_above, seeds
from modgrok.reproduce.form import BEYOND, Ask, Column, Table, study
from modgrok.text import count, number

DELAY = 5
"""Times the steps to the training set that the baseline has to take, for there to be a delay to shorten."""
THEIRS = {ADAM: 39_890, EMA_DECAYED: 910, MA: 2_940, MA_DECAYED: 790}
"""Steps that Lee et al. report."""
SOON, LONG, MODULUS = 500, 80_000, 113
"""Steps within which Prieto et al. show ⊥Grad and StableMax to generalize, and the modulus."""
SEEDS = 4
"""As many tell a third fewer steps from chance."""
SHARES = 1 / 5, 1 / 2
"""Shares of the authors' factor: the least with which theirs is confirmed, and the least without a remark."""
UNDECIDED = (
    f"undecided where the baseline does not take {DELAY} times as many steps to 95 % of the test set as to 95 % of the "
    "training set"
)
RULE = (
    "the baseline's median steps to 95 % test accuracy (all its steps, where most seeds do not get there) over the "
    f"contestant's: {number(1 / FASTER)} or more, and a fifth of the authors' factor where they give one; remark where "
    f"it is below half of theirs; {UNDECIDED}, where too few steps or too small a modulus are the reason, and where "
    "equal runs differ as much (rank test, P > 5 %)"
)

PLACE = "Marks are seeds; crosses stand for seeds that do not get there within the steps. Nothing is tuned."
filters = study(
    "figF",
    "Grokfast, in its authors' arena",
    "A two-layer transformer learns x · y by Adam with minibatches: filters of the gradient with the weight decay "
    f"that their authors give them, filters alone, and decay alone. {PLACE}",
    runs=filtered,
    keep=("memorized_at", "grokked_at"),
)
stability = study(
    "figE",
    "⊥Grad and StableMax, in their authors' arena",
    "A perceptron with two hidden layers learns n + m without weight decay on the full batch; each contestant beside "
    "AdamW at the same rate and β2. As in its authors' code, StableMax is taken in 64 bits and the softmax in 32. "
    f"{PLACE}",
    runs=edges,
    keep=("memorized_at", "grokked_at"),
)
inside = study(
    "figM",
    "Muon inside a transformer",
    "Power's two-layer transformer learns three operations by AdamW, and by Muon for the matrices in its blocks with "
    f"AdamW for everything else; every weight decays alike. {PLACE}",
    runs=inner_matrices,
    keep=("memorized_at", "grokked_at"),
)


def draw(t: Table, panel: Any) -> str:
    budget, cells = t.one("steps"), t.by("operation", "contestant")
    events = (("memorized_at", TRAIN, MARKERS[1], "training set"), ("grokked_at", TEST, MARKERS[0], "test set"))
    for row, ((_, name), cell) in enumerate(cells.items()):
        for column, color, marker, label in events:
            look = {"color": color, "alpha": 0.7, "markersize": 4.5, "ls": ""}
            known = cell[column].known()
            panel.plot(known, [row] * len(known), marker=marker, **look, label=None if row else label)
            if len(known) < len(cell):
                panel.plot(budget, row, marker="x", **look)
        if missing := cell["grokked_at"].count(None):
            at, text = (1.01, row), f"{missing} of {len(cell)} not within {count(budget)}"
            panel.annotate(text, at, xycoords=("axes fraction", "data"), fontsize=6.5, va="center", color=GRAY)
        if name in THEIRS:
            own = "test set, its authors" if name == ADAM else None
            panel.plot(THEIRS[name], row, marker="D", mfc="none", color=GRAY, ls="", markersize=6, label=own)
    panel.set_yticks(range(len(cells)), [": ".join(filter(None, key)) for key in cells])
    panel.set_ylim(len(cells) - 0.5, -0.5)
    first = min(t["memorized_at"].known() + t["grokked_at"].known(), default=2)
    panel.set(xscale="log", xlabel="steps to an accuracy of 95 %", xlim=(max(first, 1) / 1.5, 1.2 * budget))
    panel.xaxis.set_major_formatter(lambda value, _: number(value))
    panel.grid(axis="y", color=EMPTY)
    legend_above(panel.figure, [panel], 3)
    return f"modulo {t.one('modulus')}, at most {count(budget)} steps, {seeds(t)}"


for one, height in ((filters, 2.6), (stability, 1.9), (inside, 2.4)):
    one.figure(height=height)(draw)


def delayed(t: Table) -> bool:
    """Whether most of these runs learn the test set so late that there is a delay to shorten."""
    learned, known = t["memorized_at"].median(), t["grokked_at"].median()
    return learned is not None and (known or t.one("steps")) >= DELAY * learned


def times(t: Table, name: str) -> Column:
    """Steps to the test set, all there are where it is not learned."""
    return t.where(contestant=name).each(lambda row: row.grokked_at or row.steps)


def gain(t: Table, name: str, base: str) -> float | None:
    """How many times fewer steps a contestant takes than the baseline, or at least takes where that never gets
    there."""
    own, usual = (t.where(contestant=one)["grokked_at"].median() for one in (name, base))
    return None if own is None else (usual or t.one("steps")) / own


def told(t: Table, *names: str) -> str:
    """Median steps to the test set, in words."""
    medians = {name: t.where(contestant=name)["grokked_at"].median() for name in names}
    more = f"more than {count(t.one('steps'))}"
    return "; ".join(f"{name}: {more if median is None else number(median)}" for name, median in medians.items())


def shown(t: Table, ask: Ask, *names: str) -> None:
    for name in names:
        cell = t.where(contestant=name)
        ask.show({f"{name}: steps to the training set": cell["memorized_at"]})
        theirs = count(THEIRS[name]) if name in THEIRS else ""
        ask.show({f"{name}: steps to the test set": cell["grokked_at"]}, paper=theirs)


def sooner(t: Table, ask: Ask, base: str, names: Mapping[str, float | None]) -> None:
    """Holds where every contestant is as much faster as it has to be, given its authors' factor."""
    shown(t, ask, base, *names)
    ask.undecided(
        f"{base} does not take {DELAY} times the steps to the training set, so there is no delay to shorten.",
        not delayed(t.where(contestant=base)),
    )
    never = t.where(contestant=base)["grokked_at"].median() is None
    least = "at least " if never else ""
    said = []
    for name, theirs in names.items():
        found, need = gain(t, name, base), max(1 / FASTER, SHARES[0] * (theirs or 0))
        ask.fault(f"{name}: most seeds do not get there within {count(t.one('steps'))} steps.", found is None)
        if found is not None:
            factor = f"{name} takes {least}{number(found)} times fewer steps than {base}"
            beside = f" (its authors: {number(theirs, 4)})" if theirs else ""
            ask.undecided(f"{factor}{beside}; {base} needs more steps to tell.", never and found < need)
            ask.fault(f"{factor}{beside}, fewer than {number(need)}.", found < need)
            if found >= need:
                ask.lower(f"{name} is faster than {base}", times(t, name), times(t, base))
            ask.note(f"{name}: less than half of its authors' factor.", theirs and found < SHARES[1] * theirs)
            said.append(factor + beside)
    ask.yes("; ".join(said) + ".")


@filters.claim("2405.20233", RULE)
def grokfast(t: Table, ask: Ask) -> None:
    """Grokfast with weight decay generalizes in many times fewer steps than Adam without it (its authors: 44 times by
    EMA, 50 by MA)."""
    ask.budget(t, steps=THEIRS[ADAM])
    sooner(
        t, ask, ADAM, {EMA_DECAYED: THEIRS[ADAM] / THEIRS[EMA_DECAYED], MA_DECAYED: THEIRS[ADAM] / THEIRS[MA_DECAYED]}
    )


@filters.claim("2405.20233", RULE)
def grokfast_alone(t: Table, ask: Ask) -> None:
    """Grokfast by MA generalizes in fewer steps without weight decay too (its authors: 14 times)."""
    ask.budget(t, steps=THEIRS[ADAM])
    sooner(t, ask, ADAM, {MA: THEIRS[ADAM] / THEIRS[MA]})


def _in_units(tasks: Iterable[Table], name: str) -> Column:
    """Steps to the test set of all tasks, in units of AdamW's median there."""
    return Column(time / statistics.median(times(t, ADAMW)) for t in tasks for time in times(t, name))


@inside.claim(
    "2504.16041",
    f"Muon's median steps to 95 % test accuracy below {FASTER} of AdamW's on most operations on which AdamW takes "
    f"{DELAY} times as many steps to the test set as to the training set; remark where not on all of them, and where "
    f"AdamW has no such delay on some; undecided where it has on none, with fewer than {SEEDS} seeds, and where all "
    "their times, in units of AdamW's median on the operation, differ by chance as much (rank test, P > 5 %)",
)
def muon(t: Table, ask: Ask) -> None:
    """Muon for the matrices inside a transformer generalizes in fewer steps than AdamW (its authors: 0.67 times as many
    epochs)."""
    tasks = t.by("operation")
    for operation, some in tasks.items():
        for name, cell in some.by("contestant").items():
            ask.show({f"{operation}: {name}": f"{number(cell['memorized_at'].median())} to the training set"})
            ask.show({f"{operation}: {name}, steps to the test set": cell["grokked_at"]})
    late = {operation: some for operation, some in tasks.items() if delayed(some.where(contestant=ADAMW))}
    ask.undecided(f"AdamW takes {DELAY} times the steps to the training set on no operation.", not late)
    ask.budget(t, of="effect", seeds=SEEDS)
    gains = {operation: gain(some, "Muon", ADAMW) for operation, some in late.items()}
    won = [found is not None and found > 1 / FASTER for found in gains.values()]
    ratios = ", ".join(f"{operation} {number(found and 1 / found)}" for operation, found in gains.items())
    ask.yes(f"Median steps over AdamW's: {ratios} (its authors: 0.67).")
    ask.fault("", 2 * sum(won) <= len(won))
    if 2 * sum(won) > len(won):
        own, usual = (_in_units(late.values(), name) for name in ("Muon", ADAMW))
        ask.lower("Muon is faster than AdamW, in units of AdamW's median steps", own, usual)
    ask.note("Not on every operation.", not all(won))
    ask.note(f"On {len(tasks) - len(late)} of {len(tasks)} AdamW has no delay.", len(late) < len(tasks))


@stability.claim(
    "2501.04697",
    f"at one of the authors' two rates, or both: {RULE}; remark where at one only, where it takes more than {SOON} "
    f"steps, or {DELAY} times those to the training set",
)
def orthogonal_gradient(t: Table, ask: Ask) -> None:
    """⊥Grad generalizes soon: in fewer steps than AdamW, and without a delay."""
    ask.budget(t, steps=SOON, modulus=MODULUS)
    late = _with_delay(t, ask)
    gains = {name: gain(t, name, BESIDE[name]) for name in late}
    won = [name for name, found in gains.items() if found is not None and found >= 1 / FASTER]
    ask.yes(f"Median steps of {told(t, *sum(((name, BESIDE[name]) for name in late), ()))}.")
    ask.fault("", not won)
    for name in won:
        own = t.where(contestant=name)
        ask.lower(f"{name} is faster than {BESIDE[name]}", times(t, name), times(t, BESIDE[name]))
        ask.note(f"{name}: its authors' run takes {SOON} steps.", (own["grokked_at"].median() or 0) > SOON)
        ask.note(f"{name} has a delay too.", delayed(own))
    ask.note("At one rate only.", len(won) < len(ORTHOGONAL))


def _with_delay(t: Table, ask: Ask) -> list[str]:
    """The rates of ⊥Grad at which AdamW has a delay."""
    shown(t, ask, *ORTHOGONAL, *(BESIDE[name] for name in ORTHOGONAL))
    late = [name for name in ORTHOGONAL if delayed(t.where(contestant=BESIDE[name]))]
    ask.undecided(f"AdamW takes {DELAY} times the steps to the training set at neither rate.", not late)
    return late


@stability.claim("2501.04697", f"{RULE}; a remark in any case, since only one of the losses is taken in 64 bits")
def stablemax(t: Table, ask: Ask) -> None:
    """StableMax generalizes without weight decay, where the softmax does not."""
    ask.budget(t, steps=LONG, modulus=MODULUS)
    base = BESIDE[STABLE]
    sooner(t, ask, base, {STABLE: None})
    ask.yes(f"Median steps of {told(t, STABLE, base)}.")
    ask.note("The softmax gets there too.", t.where(contestant=base)["grokked_at"].median() is not None)
    ask.note(
        "StableMax is taken in 64 bits, the softmax in 32, as by its authors: which of the two helps is open.", True
    )


@stability.claim(
    "2501.04697",
    f"at one of the authors' two rates, or both: most seeds of ⊥Grad reach 95 % test accuracy without decay, and most "
    f"of AdamW do not within the {SOON} steps that the authors show; remark where at one only, or where AdamW does "
    f"later; {UNDECIDED}, and where too small a modulus is the reason",
)
def without_decay(t: Table, ask: Ask) -> None:
    """⊥Grad generalizes without weight decay, where AdamW does not."""
    late = _with_delay(t, ask)
    ask.budget(t, steps=SOON, modulus=MODULUS)
    reached = {name: t.where(contestant=name)["grokked_at"].median() for name in t["contestant"].distinct()}
    alone = [name for name in late if reached[name] and (reached[BESIDE[name]] or t.one("steps") + 1) > SOON]
    ask.yes(f"⊥Grad does; AdamW does not within {count(t.one('steps'))} steps.")
    ask.fault(f"⊥Grad does not within {count(t.one('steps'))} steps, or AdamW does within {SOON}.", not alone)
    ask.note("At one rate only.", len(alone) < len(ORTHOGONAL))
    if too := {name: reached[BESIDE[name]] for name in alone if reached[BESIDE[name]]}:
        ask.yes("⊥Grad does.")
        ask.note(f"AdamW does too, at {', '.join(map(number, too.values()))} steps; its authors show {SOON}.")


@filters.claim(
    f"{BEYOND} (2405.20233)",
    f"each filter's median steps to 95 % test accuracy below {FASTER} of those of Adam with the same decay; remark "
    "where only one of the filters; undecided where no seed of Adam and no filter gets there",
)
def grokfast_beside_decay(t: Table, ask: Ask) -> None:
    """Grokfast generalizes in fewer steps than Adam with the same weight decay."""
    pairs = {EMA_DECAYED: BESIDE[EMA_DECAYED], MA_DECAYED: BESIDE[MA_DECAYED]}
    shown(t, ask, *pairs, *pairs.values())
    ask.undecided("None of them gets there.", t.where(contestant=[*pairs, *pairs.values()])["grokked_at"].none())
    gains = {name: gain(t, name, base) for name, base in pairs.items()}
    won = [found is not None and found > 1 / FASTER for found in gains.values()]
    ratios = ", ".join(f"{name} {number(found and 1 / found)}" for name, found in gains.items())
    ask.yes(f"Median steps over those of Adam with the same decay: {ratios}.")
    ask.fault("", not any(won))
    ask.note("Only one of the filters.", sum(won) == 1)
