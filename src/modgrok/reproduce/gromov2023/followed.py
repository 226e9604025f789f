"""Networks followed through grokking from snapshot to snapshot: sharpness, the largest eigenvalue of the Hessian of the
training loss, against 2/rate; how far the tangent kernel drifts, and whether one frozen on the way would generalize."""

import math
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.sharpness import loss_sharpness
from modgrok.measures.tangent_kernel import kernel_path
from modgrok.palette import GRAY, GREEN, PURPLE, SERIES, TEST, TRAIN, VERMILLION
from modgrok.reproduce.figures import mark_events, modular, seed_look
from modgrok.reproduce.form import BEYOND, Ask, Column, Row, Runs, Sizes, Table, runs, study
from modgrok.reproduce.gromov2023.sizes import Recipe
from modgrok.text import number, percent, spread

BETWEEN = 15
"""Snapshots between memorization and grokking that tell one event from the other."""
LOOKS = {
    "like_start": (GREEN, "-", "with the kernel at the start"),
    "like_target": (PURPLE, "-", "with the answers"),
    "train_accuracy": (TRAIN, "-", "network, train"),
    "test_accuracy": (TEST, "-", "network, test"),
    "regression_accuracy": (VERMILLION, "--", "kernel frozen at this step, test"),
}


def at_rates(s: Sizes, *rates: float) -> Runs:
    """n + m under plain gradient descent at several rates (tagged in natural units), for equally long times."""
    usual = s.followed
    trained = [Recipe(rate, round(usual.steps * usual.rate / rate), usual.evaluations) for rate in rates]
    settings = {one.rate: one.gd(s.sweep_modulus, s.sweep_width, s.followed_fraction) for one in trained}
    return runs({}, rate=settings, seed=range(s.followed_seeds)).but(snapshots=s.followed_snapshots)


def snapshots_of(run: Run) -> tuple[dict[str, Any], list[Any], Any]:
    """Steps with the accuracies there, networks and examples: all snapshots from memorization to grokking, every sixth
    before and after, the first and the last."""
    result: Any = run.result
    first, last = (result[name] or math.inf for name in ("memorized_at", "grokked_at"))
    ends = (0, len(run.snapshots) - 1)
    steps = [step for i, step in enumerate(run.snapshots) if first <= step <= last or i % 6 == 0 or i in ends]
    at = np.searchsorted(run.history["step"], steps)
    accuracies = {name: run.history[name][at] for name in ("train_accuracy", "test_accuracy")}
    return {"step": steps} | accuracies, [*map(run.snapshot, steps)], run.experiment.split.examples_of(run.task)


def sharpness_of(run: Run) -> dict[str, Any]:
    """Sharpness at every snapshot, and in units of 2/η."""
    found, networks, examples = snapshots_of(run)
    values = loss_sharpness(networks, examples.inputs[examples.trained], examples.labels[examples.trained])
    return found | {"sharpness": values, "over_limit": values * run.experiment.lr / 2}


def kernels_of(run: Run) -> dict[str, Any]:
    """Drift and alignment of the kernel between 1200 pairs at every snapshot, and what regression with it answers."""
    found, networks, examples = snapshots_of(run)
    return found | kernel_path(networks, examples, 1200)


sharpness = study(
    "sharpness",
    "Sharpness through grokking",
    "The largest eigenvalue of the Hessian of the training loss, by Lanczos' method with products of the Hessian and a "
    "vector, along gradient descent at several rates, in units of 2/rate, above which a quadratic valley throws "
    "gradient descent out. Time is the step times the rate, so that gradient flow would give one curve.",
    runs=lambda s: at_rates(s, *s.sharpness_rates),
    keep=("status", "memorized_at", "grokked_at", sharpness_of),
    beyond=True,
    slow=True,
)
tangent = study(
    "tangent_kernel",
    "The tangent kernel through grokking",
    "The tangent kernel of the network at every snapshot (the mean over outputs), between test pairs. Top: its "
    "centered alignment with the kernel at initialization and with that of the answers, 1 where two pairs have the "
    "same answer. Bottom: what kernel regression from the training pairs would answer with the kernel as it stands at "
    "that step, beside what the network answers.",
    runs=lambda s: at_rates(s, s.followed.rate),
    keep=("memorized_at", "grokked_at", kernels_of),
    beyond=True,
    slow=True,
)


def _step_axis(below: Any, label: str) -> None:
    below.set_xscale("symlog", linthresh=10)
    below.set(xlabel=label, xlim=(0, None), ylabel="accuracy", ylim=(-0.03, 1.03))


def _note(t: Table, what: str) -> str:
    sizes = f"{modular(t)}, N = {t.one('width')}, α = {t.one('fraction')}, plain GD"
    return f"{sizes}, {what}; bold: seed 0, faint: {t.seeds - 1} more"


@sharpness.figure(
    "largest eigenvalue of the Hessian", "accuracy", rows=2, height=4.4, sharex=True, height_ratios=(1.5, 1)
)
def edge(t: Table, above: Any, below: Any) -> str:
    colors = dict(zip(t["rate"].distinct(), SERIES, strict=False))
    for row in t:
        time = [step * row.rate / t.first.rate for step in row.step]
        label = f"rate {number(row.lr)}" + (" (diverged)" if row.status != "finished" else "")
        look = seed_look(row.seed or 0) | {"color": colors[row.rate]}
        above.plot(time, row.over_limit, **look | {"label": "" if row.seed else label})
        below.plot(time, row.test_accuracy, **look)
        below.plot(time, row.train_accuracy, linestyle=":", **look)
    above.axhline(1, color=GRAY, linestyle="--", linewidth=0.9)
    places: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    above.annotate("stable below", (0.01, 1), (0, -2), va="top", fontsize=6, color=GRAY, **places)
    above.set(yscale="log", ylabel="sharpness / (2 / rate)")
    above.legend(loc="center left", bbox_to_anchor=(0, 0.62))
    _step_axis(below, f"step × rate / {number(t.first.lr)}")
    below.plot([], [], color=GRAY, linestyle=":", label="train")
    below.plot([], [], color=GRAY, label="test")
    below.legend(loc="center left")
    return _note(t, "training loss")


@tangent.figure("what the tangent kernel is like", "what it would answer", rows=2, height=4.4, sharex=True)
def kernels(t: Table, above: Any, below: Any) -> str:
    for run in t:
        for name, (color, line, label) in LOOKS.items():
            panel = above if name.startswith("like") else below
            panel.plot(run.step, run[name], color=color, linestyle=line, **seed_look(run.seed or 0, label))
    above.set(ylabel="alignment (CKA)", ylim=(-0.03, 1.03))
    _step_axis(below, "step")
    for panel in (above, below):
        mark_events(panel, t.first, panel is above)
        panel.legend(loc="center left")
    return _note(t, "test pairs")


def _enough_between(t: Table, ask: Ask) -> None:
    """Undecided where snapshots are too few to tell memorization from grokking."""
    between = t.each(lambda r: sum(r.memorized_at <= step <= r.grokked_at for step in r.step))
    ask.show({"snapshots between memorization and grokking": between}, over="run")
    ask.possible(
        f"{BETWEEN} snapshots or more lie between memorization and grokking, enough to tell one from the other",
        min(between) >= BETWEEN,
    )


def _grokked(t: Table, ask: Ask) -> Table:
    found = t.where("grokked_at >= 0")
    ask.possible("some network groks", found)
    return found


def _growth(r: Row, event: str) -> float:
    """By how much sharpness has grown at the first snapshot from an event on."""
    return r.sharpness[np.searchsorted(r.step, r[event])] / r.sharpness[0]


@sharpness.claim(BEYOND)
def sharpness_rises(t: Table, ask: Ask) -> None:
    """The loss becomes sharper as the network memorizes and groks."""
    found = _grokked(t.where(status="finished"), ask)
    growth = found.each(lambda r: _growth(r, "grokked_at"))
    memorizing = found.each(lambda r: np.log(_growth(r, "memorized_at")) / np.log(_growth(r, "grokked_at")))
    ask.show({"sharpness at grokking / at the start": growth}, over="run")
    ask.show({"share of that growth (in the logarithm) until memorization": memorizing}, percent, "run")
    _enough_between(found, ask)
    tenfold = min(growth) >= 10
    ask.that("sharpness at grokking is at least 10 times that at the start, at every rate that groks", tenfold)
    late = memorizing.average() < 0.9
    ask.remark("less than 90 % of that growth (in the logarithm) comes before memorization, on average", late)


@sharpness.claim(BEYOND)
def edge_of_stability(t: Table, ask: Ask) -> None:
    """Large rates end at the edge of stability, where sharpness is 2/rate; small ones stay below it."""
    found = _grokked(t.where(status="finished"), ask)
    last = {rate: some.each(lambda r: r.over_limit[-1]) for rate, some in found.by("rate").items()}
    ends = {rate: float(np.median(some)) for rate, some in last.items()}
    broken = ", ".join(number(rate) for rate in t["rate"].distinct() if rate not in ends)
    fastest, most, least = ends[max(ends)], max(ends.values()), min(ends.values())
    ask.that(
        "at the largest rate that groks the last sharpness, median over seeds, is within 10 % of 2/rate",
        abs(fastest - 1) <= 0.1,
        f"{number(fastest)} of it",
    )
    ask.that("sharpness ends at 1.1 × 2/rate or less at every rate", most <= 1.1, f"{number(most)} of it")
    ask.that("sharpness ends below 0.9 × 2/rate at one rate at least", least < 0.9, f"{number(least)} of it")
    ask.show({f"last sharpness / (2/rate), rate {number(rate)} natural units": some for rate, some in last.items()})
    ask.show({"rates that do not grok": broken} if broken else {})


def _seeds_that_grok(t: Table, ask: Ask) -> Table:
    found = _grokked(t, ask)
    ask.show({"seeds that do not grok": f"{len(t) - len(found)} of {len(t)}"} if len(found) < len(t) else {})
    return found


@tangent.claim(BEYOND)
def kernel_drifts(t: Table, ask: Ask) -> None:
    """The tangent kernel does not stay what it is at initialization: features are learned."""
    t = _seeds_that_grok(t, ask)
    first, last = (Column(r.like_target[i] for r in t) for i in (0, -1))
    drift, like_start = (Column(r[name][-1] for r in t) for name in ("drift", "like_start"))
    grown = last - first
    ask.that(
        "the alignment (which knows no scale) of the kernel between test pairs with the answers grows by at least 0.05 "
        "by the end, in every seed",
        min(grown) >= 0.05,
        grown,
    )
    ask.remark("the kernel's alignment with the initial one ends below 0.9, in every seed", max(like_start) < 0.9)
    ask.show({"distance from the initial kernel / its norm": drift, "alignment with the initial kernel": like_start})
    ask.show({"alignment with the answers, start → end": f"{spread(first)} → {spread(last)}"})


@tangent.claim(BEYOND)
def kernel_learns(t: Table, ask: Ask) -> None:
    """The kernel frozen on the way generalizes as soon as the network does, and not before."""
    t = _seeds_that_grok(t, ask)

    def passes(row: Row, name: str) -> float:
        return next((step for step, value in zip(row.step, row[name], strict=True) if value >= 0.5), math.inf)

    apart = t.each(lambda r: passes(r, "regression_accuracy") / passes(r, "test_accuracy"))
    first, last = ([row.regression_accuracy[i] for row in t] for i in (0, -1))
    ask.show({"test accuracy of regression with the kernel, start": first, "end": last}, percent)
    ask.show({"step of the kernel's 50 % / of the network's": apart})
    _enough_between(t, ask)
    ask.that("regression with the kernel at the start answers at most 5 % of the test pairs", max(first) <= 0.05)
    ask.that("regression with the kernel at the end answers at least 95 %", min(last) >= 0.95)
    together = all(abs(ratio - 1) <= 0.25 for ratio in apart)
    ask.that("regression passes 50 % at a step within 25 % of that at which the network does", together)
