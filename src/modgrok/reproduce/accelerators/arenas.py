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
from modgrok.text import count, listed, number

DELAY = 5
"""Times the steps to the training set that the baseline has to take, for there to be a delay to shorten."""
THEIRS = {ADAM: 39_890, EMA_DECAYED: 910, MA: 2_940, MA_DECAYED: 790}
"""Steps that Lee et al. report."""
SOON, LONG, MODULUS = 500, 80_000, 113
"""Steps within which Prieto et al. show ⊥Grad and StableMax to generalize, and the modulus."""
SHARES = 1 / 5, 1 / 2
"""Shares of the authors' factor: the least with which theirs is confirmed, and the least without a remark."""
LEAST = number(1 / FASTER)
LATE = f"takes at least {DELAY} times as many steps to 95 % of the test set as to 95 % of the training set"
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
    """How many times fewer steps a contestant takes than the baseline; at least, where that never gets there."""
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
    late = delayed(t.where(contestant=base))
    ask.possible(f"{base} {LATE}", late)
    never = t.where(contestant=base)["grokked_at"].median() is None
    for name, theirs in names.items():
        found, need = gain(t, name, base), max(1 / FASTER, SHARES[0] * (theirs or 0))
        enough = not never or found is None or found >= need
        ask.possible(f"{base} gets there, or has steps enough to compare it with {name}", enough)
        ask.that(
            f"the median steps of {base} to 95 % of the test set (all its steps, where most seeds do not get there) "
            f"are {LEAST} times those of {name} or more, and a fifth of its authors' factor where they give one",
            found is not None and found >= need,
        )
        ask.lower(f"{name} is faster than {base}", times(t, name), times(t, base))
        if theirs:
            ask.remark(f"for {name} they are half of that factor", found is not None and found >= SHARES[1] * theirs)


@filters.claim("2405.20233")
def grokfast(t: Table, ask: Ask) -> None:
    """Grokfast with weight decay generalizes in many times fewer steps than Adam without it (its authors: 44 times by
    EMA, 50 by MA)."""
    ask.budget(t, steps=THEIRS[ADAM])
    sooner(t, ask, ADAM, {name: THEIRS[ADAM] / THEIRS[name] for name in (EMA_DECAYED, MA_DECAYED)})


@filters.claim("2405.20233")
def grokfast_alone(t: Table, ask: Ask) -> None:
    """Grokfast by MA generalizes in fewer steps without weight decay too (its authors: 14 times)."""
    ask.budget(t, steps=THEIRS[ADAM])
    sooner(t, ask, ADAM, {MA: THEIRS[ADAM] / THEIRS[MA]})


def _in_units(tasks: Iterable[Table], name: str) -> Column:
    """Steps to the test set of all tasks, in units of AdamW's median there."""
    return Column(time / statistics.median(times(t, ADAMW)) for t in tasks for time in times(t, name))


@inside.claim("2504.16041")
def muon(t: Table, ask: Ask) -> None:
    """Muon for the matrices inside a transformer generalizes in fewer steps than AdamW (its authors: 0.67 times as many
    epochs)."""
    tasks = t.by("operation")
    for operation, some in tasks.items():
        for name, cell in some.by("contestant").items():
            ask.show({f"{operation}: {name}": f"{number(cell['memorized_at'].median())} to the training set"})
            ask.show({f"{operation}: {name}, steps to the test set": cell["grokked_at"]})
    late = {operation: some for operation, some in tasks.items() if delayed(some.where(contestant=ADAMW))}
    ask.possible(f"on some operation {ADAMW} {LATE}", late)
    ask.budget(t, of="effect", seeds=4)  # As many tell a third fewer steps from chance.
    gains = {operation: gain(some, "Muon", ADAMW) for operation, some in late.items()}
    won = [found is not None and found > 1 / FASTER for found in gains.values()]
    ask.show({f"median steps over {ADAMW}'s": listed({name: found and 1 / found for name, found in gains.items()})})
    most = 2 * sum(won) > len(won)
    ask.that(f"Muon's median steps are below {FASTER} of {ADAMW}'s on most operations on which that is so late", most)
    own, usual = (_in_units(late.values(), name) for name in ("Muon", ADAMW))
    ask.lower(f"Muon is faster there, in units of {ADAMW}'s median steps", own, usual)
    ask.remark("on all of them", all(won))
    ask.remark(f"{ADAMW} has this delay on every operation", len(late) == len(tasks))


@stability.claim("2501.04697")
def orthogonal_gradient(t: Table, ask: Ask) -> None:
    """⊥Grad generalizes soon: in fewer steps than AdamW, and without a delay."""
    ask.budget(t, steps=SOON, modulus=MODULUS)
    late = _with_delay(t, ask)
    gains = {name: gain(t, name, BESIDE[name]) for name in late}
    won = [name for name, found in gains.items() if found is not None and found >= 1 / FASTER]
    ask.that(
        "at one of the authors' rates at which AdamW is that late, the median steps of ⊥Grad to 95 % of the test set "
        f"are at most {FASTER} of AdamW's (all its steps, where most seeds do not get there)",
        won,
    )
    for name in won:
        own = t.where(contestant=name)
        ask.lower(f"{name} is faster than {BESIDE[name]}", times(t, name), times(t, BESIDE[name]))
        ask.remark(f"{name} takes at most the {SOON} steps of its authors", (own["grokked_at"].median() or 0) <= SOON)
        ask.remark(f"{name} has no such delay", not delayed(own))
    ask.remark("at both rates", len(won) == len(ORTHOGONAL))
    ask.yes(f"Median steps of {told(t, *sum(((name, BESIDE[name]) for name in late), ()))}.")


def _with_delay(t: Table, ask: Ask) -> list[str]:
    """The rates of ⊥Grad at which AdamW has a delay."""
    shown(t, ask, *ORTHOGONAL, *(BESIDE[name] for name in ORTHOGONAL))
    late = [name for name in ORTHOGONAL if delayed(t.where(contestant=BESIDE[name]))]
    ask.possible(f"at one of the authors' two rates AdamW {LATE}", late)
    return late


@stability.claim("2501.04697")
def stablemax(t: Table, ask: Ask) -> None:
    """StableMax generalizes without weight decay, where the softmax does not."""
    ask.budget(t, steps=LONG, modulus=MODULUS)
    base = BESIDE[STABLE]
    sooner(t, ask, base, {STABLE: None})
    ask.yes(f"Median steps of {told(t, STABLE, base)}.")
    ask.remark("the softmax does not get there", t.where(contestant=base)["grokked_at"].median() is None)
    ask.remark(
        "both losses are taken in the same precision (as by its authors StableMax is in 64 bits, the softmax in 32, "
        "and which of the two helps is open)",
        False,
    )


@stability.claim("2501.04697")
def without_decay(t: Table, ask: Ask) -> None:
    """⊥Grad generalizes without weight decay, where AdamW does not."""
    late = _with_delay(t, ask)
    ask.budget(t, steps=SOON, modulus=MODULUS)
    reached = {name: t.where(contestant=name)["grokked_at"].median() for name in t["contestant"].distinct()}
    alone = [name for name in late if reached[name] and (reached[BESIDE[name]] or t.one("steps") + 1) > SOON]
    ask.that(
        "at one of the authors' rates at which AdamW is that late, most seeds of ⊥Grad know 95 % of the test set, and "
        f"most of AdamW do not within the {SOON} steps that the authors show",
        alone,
    )
    ask.remark("at both rates", len(alone) == len(ORTHOGONAL))
    later = any(reached[BESIDE[name]] for name in alone)
    ask.remark(f"AdamW does not later either, up to step {count(t.one('steps'))}", not later)


@filters.claim(f"{BEYOND} (2405.20233)")
def grokfast_beside_decay(t: Table, ask: Ask) -> None:
    """Grokfast generalizes in fewer steps than Adam with the same weight decay."""
    pairs = {name: BESIDE[name] for name in (EMA_DECAYED, MA_DECAYED)}
    shown(t, ask, *pairs, *pairs.values())
    reached = t.where(contestant=[*pairs, *pairs.values()])["grokked_at"].known()
    ask.possible("some seed of Adam or of a filter gets there", reached)
    gains = {name: gain(t, name, base) for name, base in pairs.items()}
    won = [found is not None and found > 1 / FASTER for found in gains.values()]
    ratios = listed({name: found and 1 / found for name, found in gains.items()})
    ask.show({"median steps over those of Adam with the same decay": ratios})
    ask.that(
        f"the median steps of one filter to 95 % of the test set are below {FASTER} of Adam's with the same decay",
        any(won),
    )
    ask.remark("for both filters", all(won))
