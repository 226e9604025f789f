"""Fig. 2 left: variants of training at the paper's rates, and each at the best of the same rates and decays."""

import math
from collections.abc import Iterable
from typing import Any

from modgrok.measures.samples import best_trial, edge
from modgrok.palette import EMPTY, GRAY, MARKERS, TEST, TRAIN
from modgrok.reproduce.figures import seeds
from modgrok.reproduce.form import BEYOND, Ask, Row, Runs, Settings, Sizes, Table, study
from modgrok.reproduce.power2022.operations import areas, best, enough, levels, levels_against_data, show_areas
from modgrok.reproduce.power2022.sizes import DECAYED, MINIBATCHES, TO_START, VARIANTS, trained, what
from modgrok.text import count, number, percent

RATE, DECAY = 1e-3, 1.0
WORST = f"at the paper's rate {RATE} and decay {DECAY:g}, a trial being its worst seed"
TUNED = [name for name in VARIANTS if name == MINIBATCHES or VARIANTS[name].keys() - {"lr", "weight_decay"}]
"""Variants that are nothing but another rate or decay are among the trials of minibatches."""
KINDS = {"without": ("weight_decay <= 0", TRAIN), "with": ("weight_decay > 0", TEST)}
"""Of trials: without decay and with some."""


def searched(s: Sizes, names: Iterable[str], rates: Iterable[float], decays: Iterable[float], steps: int) -> Runs:
    """Every rate and decay of those variants that the profile has, until it is grokked."""
    found = {name: VARIANTS[name] for name in names if name in s.variants}
    tried: Settings = {"lr": [*rates], "weight_decay": [*decays]}
    return trained(s, s.studied, s.tuned_fraction, variant=found, steps=steps, until=0, **tried)


def trials(s: Sizes, t: Table) -> dict[str, Any]:
    """A trial counts as its worst seed does."""
    found = []
    for (name, rate, decay), some in t.by("variant", "lr", "weight_decay").items():
        times, trial = some["grokked_at"], {"variant": name, "lr": rate, "weight_decay": decay}
        found.append(trial | {"best": min(some["best"]), "grokked_at": max(times) if times.whole() else None})
    return {"trials": found}


variants = study(
    "fig2",
    "Variants of training",
    "Best test accuracy within the steps, for one operation, under variants of the optimizer, at the rates that the "
    "paper gives. The next figures give each variant its best rate and decay.",
    runs=lambda s: trained(
        s, s.studied, *s.variant_fractions, seeds=1, variant={name: VARIANTS[name] for name in s.variants}
    ),
    keep=best,
)
tuned = study(
    "fig2t",
    "Every variant at its best rate and decay",
    "The same variants, each searched over the same learning rates and weight decays, zero included, so that none is "
    "compared at settings that favor another. A trial is scored by its worst seed; the best trial is the first to "
    "know 99 % of the test set or, where none does, the most accurate. Strengths of dropout and noise are the "
    "paper's.",
    runs=lambda s: searched(s, TUNED, s.tuned_rates, s.tuned_decays, s.steps),
    keep=(best, "grokked_at"),
    also=trials,
)
centers = study(
    "fig2u",
    "Decay to zero and to the start, for longer",
    "Minibatches again, with decay toward zero and toward the initial weights, each at the best of the same rates and "
    "decays and trained for longer. A trial is scored by its worst seed.",
    runs=lambda s: searched(s, (MINIBATCHES, TO_START), s.center_rates, s.center_decays, s.long_steps),
    keep=(best, "grokked_at"),
    also=trials,
)
to_start = study(
    "to_start",
    "Decay to the start for as long as in the paper",
    runs=lambda s: trained(
        s, s.studied, s.tuned_fraction, decay_to="start", weight_decay=[0.0, DECAY], steps=s.paper_steps, until=0
    ),
    keep=(best, "grokked_at"),
)


@variants.figure(height=3.2)
def levels_of_variants(t: Table, panel: Any) -> str:
    return levels_against_data(t, panel, "variant", f"{what(t)},")


def chosen(t: Table) -> dict[str, dict[str, Row]]:
    """Of every variant the best trial of each kind."""
    tried = Table(t.first.trials).by("variant").items()
    return {name: {kind: _best(some.where(which)) for kind, (which, _) in KINDS.items()} for name, some in tried}


def _best(tried: Table) -> Row:
    """`edge` says where it is an outermost one."""
    one = tried.rows[best_trial([(r.grokked_at, r.best) for r in tried])]
    edges = edge(one.lr, tried["lr"], "rate") + edge(one.weight_decay, tried["weight_decay"], "decay")
    return Row(vars(one) | {"edge": edges})


def trials_and_best(t: Table, left: Any, right: Any) -> str:
    tried, found = Table(t.first.trials).by("variant"), chosen(t)
    for row, (name, best_of) in enumerate(found.items()):
        for kind, (which, color) in KINDS.items():
            for panel, measure in ((left, "best"), (right, "grokked_at")):
                reached = tried[name].where(which)[measure].known()
                panel.plot(reached, [row] * len(reached), "|", color=color, alpha=0.5)
                if (value := best_of[kind][measure]) is not None:
                    look: Any = {"marker": MARKERS[kind == "without"], "linestyle": "none", "markersize": 4}
                    panel.plot(value, row, color=color, label=None if row else f"best {kind} decay", **look)
        text = f"rate {number(best_of['with'].lr)}, decay {number(best_of['with'].weight_decay)}"
        place: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center"}
        right.annotate(text, (1, row), (4, 0), fontsize=6, color=GRAY, **place)
    left.set_yticks(range(len(found)), [name.removeprefix("Adam, ").replace("AdamW", "decay") for name in found])
    left.set(ylim=(len(found) - 0.5, -0.5), xlabel="best test accuracy", xlim=(-0.02, 1.02))
    right.set(xlabel="steps to 99 % of the test set", xlim=(0, t.one("steps")))
    right.locator_params(axis="x", nbins=5)
    right.xaxis.set_major_formatter(lambda value, _: number(value))
    for panel in (left, right):
        panel.grid(axis="y", color=EMPTY)
    left.figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    worst = f"the worst of {seeds(t)}" if t.seeds > 1 else "one seed"
    return (
        f"{what(t)}, {percent(t.one('fraction'), 0)} of the table, at most {count(t.one('steps'))} steps, {worst}; "
        f"lines: its {count(len(tried[MINIBATCHES]), 'trial')}; beside: the best with decay"
    )


tuned.figure(columns=2, height=2.6, sharey=True)(trials_and_best)
centers.figure(columns=2, height=2.6, sharey=True)(trials_and_best)


@variants.claim("3.2 (Fig. 2 left)")
def decay_is_best(t: Table, ask: Ask) -> None:
    """Weight decay improves generalization more than every other variant, and more than halves the data needed."""
    lines = levels(t, "variant")
    found, needs = areas(lines), {name: enough(line) for name, line in lines.items()}
    best = max(found.values()) <= found[DECAYED] + 1e-9
    ask.that("no variant has a larger mean best accuracy over the fractions than AdamW with decay", best)
    ask.that("it is at least 0.1 above Adam in minibatches", found[DECAYED] >= found[MINIBATCHES] + 0.1)
    halved = (needs[MINIBATCHES] or max(lines[DECAYED])) >= 2 * (needs[DECAYED] or math.inf)
    ask.remark("the fractions show that it halves the data needed", halved)
    show_areas(ask, found)
    ask.show({f"fraction that is enough, {name}": percent(value, 0) for name, value in needs.items()})


@tuned.claim(BEYOND)
def decay_is_best_when_tuned(t: Table, ask: Ask) -> None:
    """Weight decay is best also where every variant has the learning rate and decay that suit it."""
    found = chosen(t)
    decayed, most = found[MINIBATCHES]["with"], max(one["without"].best for one in found.values())
    ask.that(
        "with decay, minibatches have a best test accuracy at least 0.1 above that of every variant without, each at "
        "the best of the same rates and decays, a trial being its worst seed",
        most <= decayed.best - 0.1,
    )
    ask.yes(f"Without it none passes {percent(most)}, minibatches with it reach {percent(decayed.best)}.")
    limit = math.inf if decayed.grokked_at is None else 0.8 * decayed.grokked_at
    ask.remark(
        "every variant with decay takes 0.8 of their steps or more to 99 % of the test set, and none gets there alone",
        all((one["with"].grokked_at or math.inf) >= limit for one in found.values()),
    )
    show_trials(ask, {f"{n}, {kind} decay": one[kind] for n, one in found.items() for kind in KINDS})


def reached(one: Row) -> str:
    return f"{percent(one.best)}, " + (f"99 % at step {count(one.grokked_at)}" if one.grokked_at else "99 % never")


@centers.claim("3.2 (Fig. 2 left)")
def decay_to_the_start(t: Table, ask: Ask) -> None:
    """Decay toward the initial weights helps less than decay to zero."""
    names = {"Adam": (MINIBATCHES, 0.0), "decay to zero": (MINIBATCHES, DECAY), "decay to the start": (TO_START, DECAY)}
    tried = Table(t.first.trials).where(lr=RATE).by("variant", "weight_decay")
    found = {name: tried[key].first for name, key in names.items() if key in tried}
    ask.show({name: reached(one) for name, one in found.items()})
    ask.possible("Adam is trained without decay, with decay to zero and to the start", len(found) == len(names))
    _, zero, start = found.values()
    ends = [one.grokked_at or math.inf for one in (zero, start)]
    ask.possible(f"{WORST}, either knows 99 % of the test set", min(ends) < math.inf)
    better = zero.best >= start.best + 0.1 or ends[0] < ends[1]
    ask.that("decay to zero has a best test accuracy that is 0.1 higher, or knows 99 % sooner", better)


@to_start.claim("3.2 (Fig. 2 left)")
def decay_to_the_start_helps(t: Table, ask: Ask) -> None:
    """Decay toward the initial weights helps."""
    plain, start = (t.where(weight_decay=decay) for decay in (0.0, DECAY))
    ask.show({"best test accuracy with it": start["best"], "without decay": plain["best"]}, percent)
    ask.show({"steps to the test set with it": start["grokked_at"], "without": plain["grokked_at"]})
    higher = min(start["best"]) >= min(plain["best"]) + 0.1
    ask.that(f"{WORST}, decay to the start has a best test accuracy at least 0.1 above that without", higher)
    ask.budget(t, steps=100_000)


@centers.claim(BEYOND)
def decay_to_the_start_when_tuned(t: Table, ask: Ask) -> None:
    """Decay toward the initial weights helps, but less than decay to zero, also where each has the rate and decay that
    suit it."""
    found = chosen(t)
    ask.possible("decay to the start is trained", TO_START in found)
    plain, zero, start = found[MINIBATCHES]["without"], found[MINIBATCHES]["with"], found[TO_START]["with"]
    ask.possible("decay to zero knows 99 % of the test set, at the best of the rates and decays", zero.grokked_at)
    ask.that("decay to the start is at least 0.1 above Adam without decay", start.best >= plain.best + 0.1)
    later = (start.grokked_at or math.inf) > zero.grokked_at
    ask.that("at its best it knows 99 % of the test set later, or never", later)
    show_trials(ask, {"Adam": plain, "decay to the start": start, "decay to zero": zero})


def show_trials(ask: Ask, found: dict[str, Row]) -> None:
    """Their settings and ends; a remark where one of them is at an edge of the search."""
    for name, one in found.items():
        settings = f"rate {number(one.lr)}, decay {number(one.weight_decay)}{one.edge}"
        ask.show({f"{name} ({settings})": reached(one)})
    ask.remark("each best rate and decay lies off the edge of the search", not any(o.edge for o in found.values()))


@variants.claim("3.2 (Fig. 2 left)")
def narrow_rates(t: Table, ask: Ask) -> None:
    """The learning rate has to be right within less than a decade."""
    lines = levels(t, "variant")
    names = (MINIBATCHES, "Adam, rate 0.0003", "Adam, rate 0.003")
    ask.possible("Adam is trained at three rates", all(name in lines for name in names))
    found = areas({name: lines[name] for name in names})
    show_areas(ask, found)
    usual, *others = found.values()
    ask.possible("at one of them the mean best accuracy is 5 % or more", max(usual, *others) >= 0.05)
    ask.that("a rate three times smaller or larger has no larger mean best accuracy", max(others) <= usual)
