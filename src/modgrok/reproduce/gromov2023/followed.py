"""Networks followed through grokking from snapshot to snapshot: sharpness, the largest eigenvalue of the Hessian of the
training loss, against 2/rate; how far the tangent kernel drifts, and whether one frozen on the way would generalize."""

import math
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.sharpness import loss_sharpness
from modgrok.measures.tangent_kernel import kernel_path
from modgrok.palette import GRAY, GREEN, PURPLE, SERIES, TEST, TRAIN, VERMILLION
from modgrok.plot import style
from modgrok.reproduce.figures import modular, seed_look
from modgrok.reproduce.form import BEYOND, Ask, Row, Runs, Sizes, Table, runs, study
from modgrok.reproduce.gromov2023.sizes import Recipe
from modgrok.text import number, percent, spread

BETWEEN = 15
"""Snapshots between memorization and grokking that tell one event from the other."""
MOSTLY = 0.9
"""Share of the growth before memorization from which it goes with that rather than with grokking."""
MOST_PAIRS = 1200
"""Pairs between which kernels are compared."""
NEAR = 0.25
"""Steps this near each other, relatively, are one event."""
LOOKS = {
    "like_start": (GREEN, "-", "with the kernel at the start"),
    "like_target": (PURPLE, "-", "with the answers"),
    "train_accuracy": (TRAIN, "-", "network, train"),
    "test_accuracy": (TEST, "-", "network, test"),
    "regression_accuracy": (VERMILLION, "--", "kernel frozen at this step, test"),
}


def at_rates(s: Sizes, *rates: float) -> Runs:
    """n + m under plain gradient descent at several rates (tagged in natural units), for equally long times."""

    def settings(rate: float) -> dict[str, Any]:
        training = Recipe(rate, round(s.followed.steps * s.followed.rate / rate), s.followed.evaluations)
        found = training.gd(s.sweep_modulus, s.sweep_width, s.followed_fraction)
        return found | {"snapshots": s.followed_snapshots}

    return runs({}, rate={rate: settings(rate) for rate in rates}, seed=range(s.followed_seeds))


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
    """Drift and alignment of the kernel at every snapshot, and what regression with it answers."""
    found, networks, examples = snapshots_of(run)
    return found | kernel_path(networks, examples, MOST_PAIRS)


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
    below.set(ylabel="accuracy", ylim=(-0.03, 1.03))
    below.set_xscale("symlog", linthresh=10)
    below.set_xlim(left=0)
    below.set_xlabel(label)


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
        for name, side in (("memorized_at", "right"), ("grokked_at", "left")):
            style.mark(panel, t.first[name], name.removesuffix("_at") if panel is above else "", side)
        panel.legend(loc="center left")
    return _note(t, "test pairs")


def _enough_between(t: Table, ask: Ask) -> None:
    """Undecided where snapshots are too few to tell memorization from grokking."""
    between = t.each(lambda r: sum(r.memorized_at <= step <= r.grokked_at for step in r.step))
    ask.show({"snapshots between memorization and grokking": between}, over="run")
    ask.undecided(
        f"{min(between)} snapshots lie between memorization and grokking, too few to tell which of them it goes with.",
        min(between) < BETWEEN,
    )


def _stable(t: Table, ask: Ask) -> Table:
    found = t.where(lambda r: r.grokked_at is not None, status="finished")
    ask.undecided("No network groks.", not found)
    return found


def _grokked(t: Table, ask: Ask) -> Table:
    found = t.where(lambda r: r.grokked_at is not None)
    ask.undecided("The network does not grok.", not found)
    ask.show({"seeds that do not grok": f"{len(t) - len(found)} of {len(t)}"} if len(found) < len(t) else {})
    return found


def _growth(r: Row, event: str) -> float:
    """By how much sharpness has grown at the first snapshot from an event on."""
    return r.sharpness[next(i for i, step in enumerate(r.step) if step >= r[event])] / r.sharpness[0]


@sharpness.claim(
    BEYOND,
    "at every rate that groks, sharpness at the first snapshot from grokking on ≥ 10 × that at the start; undecided "
    f"with fewer than {BETWEEN} snapshots between memorization and grokking, which tell one event from the other. A "
    f"remark where {MOSTLY:.0%} of the growth (of the logarithm) comes before memorization, on average",
)
def sharpness_rises(t: Table, ask: Ask) -> None:
    """The loss becomes sharper as the network memorizes and groks."""
    found = _stable(t, ask)
    growth = found.each(lambda r: _growth(r, "grokked_at"))
    memorizing = found.each(lambda r: np.log(_growth(r, "memorized_at")) / np.log(_growth(r, "grokked_at")))
    early = memorizing.average()
    ask.show({"sharpness at grokking / at the start": growth}, over="run")
    ask.show({"share of that growth (in the logarithm) until memorization": memorizing}, percent, "run")
    _enough_between(found, ask)
    ask.yes(f"The largest eigenvalue of the Hessian grows about {growth.average():.0f}-fold by the time of grokking.")
    ask.fault("The largest eigenvalue of the Hessian does not grow tenfold by the time of grokking.", min(growth) < 10)
    ask.note(
        f"It goes with memorization: {percent(early)} of the growth (of the logarithm) is done then.", early >= MOSTLY
    )


@sharpness.claim(
    BEYOND,
    "at the largest rate that groks the last sharpness, median over seeds, is within 10 % of 2/rate; at the smallest "
    "it is below 0.9 × 2/rate; at none above 1.1 × 2/rate",
)
def edge_of_stability(t: Table, ask: Ask) -> None:
    """Large rates end at the edge of stability, where sharpness is 2/rate; small ones stay below it."""
    last = {rate: some.each(lambda r: r.over_limit[-1]) for rate, some in _stable(t, ask).by("rate").items()}
    ends = {rate: float(np.median(some)) for rate, some in last.items()}
    broken = ", ".join(number(rate) for rate in t["rate"].distinct() if rate not in ends)
    at_edge = abs(ends[max(ends)] - 1) <= 0.1 and max(ends.values()) <= 1.1
    ask.yes(
        "At the largest rate that groks, sharpness rises to 2/rate and stays there; at the smallest it stays below."
    )
    ask.fault("At the largest rate that groks, sharpness does not end within a tenth of 2/rate.", not at_edge)
    ask.fault(
        f"Small rates do not stay below: sharpness ends above 0.9 of 2/rate at all {len(ends)} rates that grok.",
        min(ends.values()) >= 0.9,
    )
    ask.show({f"last sharpness / (2/rate), rate {number(rate)} natural units": some for rate, some in last.items()})
    ask.show({"rates that do not grok": broken} if broken else {})


@tangent.claim(
    BEYOND,
    "by the end the alignment (which knows no scale) of the kernel between test pairs with the answers has grown by "
    "≥ 0.05; a remark where its alignment with the initial kernel is still ≥ 0.9",
)
def kernel_drifts(t: Table, ask: Ask) -> None:
    """The tangent kernel does not stay what it is at initialization: features are learned."""
    t = _grokked(t, ask)
    first, last = (t.each(lambda r, i=i: r.like_target[i]) for i in (0, -1))  # type: ignore[misc]
    drift, like_start = (t.each(lambda r, name=name: r[name][-1]) for name in ("drift", "like_start"))  # type: ignore[misc]
    turned = min(b - a for a, b in zip(first, last, strict=True))
    ask.yes("The kernel turns toward the answers.")
    ask.fault(f"The kernel hardly turns toward the answers: its alignment grows by {number(turned, 2)}.", turned < 0.05)
    ask.note(
        f"It turns little, though: its alignment with the initial kernel ends at {number(like_start.average())}; what "
        "grows much is its scale, with the norms of the weights.",
        max(like_start) >= 0.9,
    )
    ask.show({"distance from the initial kernel / its norm": drift, "alignment with the initial kernel": like_start})
    ask.show({"alignment with the answers, start → end": f"{spread(first)} → {spread(last)}"})


@tangent.claim(
    BEYOND,
    "regression with the kernel frozen at a step answers ≤ 5 % of the test pairs at the start and ≥ 95 % at the end, "
    f"and passes 50 % at a step within {NEAR:.0%} of the one at which the network does; undecided with fewer than "
    f"{BETWEEN} snapshots between memorization and grokking",
)
def kernel_learns(t: Table, ask: Ask) -> None:
    """The kernel frozen on the way generalizes as soon as the network does, and not before."""
    t = _grokked(t, ask)

    def passes(row: Row, name: str) -> float:
        return next((step for step, value in zip(row.step, row[name], strict=True) if value >= 0.5), math.inf)

    apart = t.each(lambda r: passes(r, "regression_accuracy") / passes(r, "test_accuracy"))
    first, last = ([row.regression_accuracy[i] for row in t] for i in (0, -1))
    together = max(first) <= 0.05 and min(last) >= 0.95 and all(abs(ratio - 1) <= NEAR for ratio in apart)
    ask.show({"test accuracy of regression with the kernel, start": first, "end": last}, percent)
    ask.show({"step of the kernel's 50 % / of the network's": apart})
    _enough_between(t, ask)
    ask.yes(
        "Regression with the kernel of the memorizing network fails on test pairs; with that of the grokked network it "
        "answers them. What is learned at grokking is the kernel."
    )
    ask.fault("The frozen kernel does not begin to generalize when the network does.", not together)
