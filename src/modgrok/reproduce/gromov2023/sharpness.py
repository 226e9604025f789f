r"""Sharpness through grokking: the largest eigenvalue of the training loss's Hessian, against 2/rate."""

import math
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.sharpness import loss_sharpness
from modgrok.palette import GRAY, SERIES
from modgrok.reproduce.figures import modular, panels, seed_look
from modgrok.reproduce.form import BEYOND, Ask, Row, Runs, Sizes, Table, runs, study
from modgrok.reproduce.gromov2023.sizes import Recipe
from modgrok.text import number, percent

BETWEEN = 15
"""Snapshots between memorization and grokking that tell one event from the other."""
MOSTLY = 0.9
"""Share of the growth before memorization from which it goes with that rather than with grokking."""


def at_rates(s: Sizes, *rates: float) -> Runs:
    """n + m under plain gradient descent at several rates (tagged in natural units), for equally long times, with many
    snapshots."""

    def settings(rate: float) -> dict[str, Any]:
        training = Recipe(rate, round(s.followed.steps * s.followed.rate / rate), s.followed.evaluations)
        found = training.gd(s.sweep_modulus, s.sweep_width, s.followed_fraction)
        return found | {"snapshots": s.followed_snapshots}

    return runs({}, rate={rate: settings(rate) for rate in rates}, seed=range(s.followed_seeds))


def followed_steps(run: Run) -> list[int]:
    """Snapshots to measure: all from memorization to grokking, every sixth before and after, the first and last."""
    result: Any = run.result
    between = [result["memorized_at"] or math.inf, result["grokked_at"] or math.inf]
    last = len(run.snapshots) - 1
    return [step for i, step in enumerate(run.snapshots) if between[0] <= step <= between[1] or i % 6 == 0 or i == last]


def followed(run: Run) -> dict[str, Any]:
    """Sharpness at every snapshot in units of 2/η, beside the accuracies there."""
    steps = followed_steps(run)
    at = np.searchsorted(run.history["step"], steps)
    examples = run.experiment.split.examples_of(run.task)
    networks = [run.snapshot(step) for step in steps]
    found = loss_sharpness(networks, examples.inputs[examples.trained], examples.labels[examples.trained])
    curves = {name: run.history[name][at] for name in ("train_accuracy", "test_accuracy")}
    return {"step": steps, "sharpness": found, "over_limit": found * run.experiment.lr / 2} | curves


sharpness = study(
    "sharpness",
    "Sharpness through grokking",
    "The largest eigenvalue of the Hessian of the training loss, by Lanczos' method with products of the Hessian and a "
    "vector, along gradient descent at several rates, in units of 2/rate, above which a quadratic valley throws "
    "gradient descent out. Time is the step times the rate, so that gradient flow would give one curve.",
    runs=lambda s: at_rates(s, *s.sharpness_rates),
    keep=("status", "memorized_at", "grokked_at", followed),
    beyond=True,
    slow=True,
)


@sharpness.figure()
def edge(t: Table) -> Any:
    figure, (above, below) = panels(
        "largest eigenvalue of the Hessian",
        "accuracy",
        rows=2,
        height=4.4,
        note=f"{modular(t)}, N = {t.one('width')}, α = {t.one('fraction')}, plain GD, training loss; bold: seed 0, "
        f"faint: {t.seeds - 1} more",
        sharex=True,
        height_ratios=(1.5, 1),
    )
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
    below.set(ylabel="accuracy", ylim=(-0.03, 1.03))
    below.set_xscale("symlog", linthresh=10)
    below.set_xlim(left=0)
    below.set_xlabel(f"step × rate / {number(t.first.lr)}")
    below.plot([], [], color=GRAY, linestyle=":", label="train")
    below.plot([], [], color=GRAY, label="test")
    below.legend(loc="center left")
    return figure


def enough_between(t: Table, ask: Ask) -> None:
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
    ask.show({"sharpness at grokking / at the start": growth}, over="run")
    ask.show({"share of that growth (in the logarithm) until memorization": memorizing}, percent, "run")
    enough_between(found, ask)
    ask.yes(f"The largest eigenvalue of the Hessian grows about {growth.average():.0f}-fold by the time of grokking.")
    ask.fault("The largest eigenvalue of the Hessian does not grow tenfold by the time of grokking.", min(growth) < 10)
    ask.note(
        f"It goes with memorization: {percent(memorizing.average())} of the growth (of the logarithm) is done then.",
        memorizing.average() >= MOSTLY,
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
    ask.yes(
        "At the largest rate that groks, sharpness rises to 2/rate and stays there; at the smallest it stays below."
    )
    ask.fault(
        "Sharpness does not end at 2/rate at the largest rate that groks.",
        abs(ends[max(ends)] - 1) > 0.1 or max(ends.values()) > 1.1,
    )
    ask.fault(
        f"Small rates do not stay below: sharpness ends at 2/rate at all {len(ends)} rates that grok.",
        min(ends.values()) >= 0.9,
    )
    ask.show({f"last sharpness / (2/rate), rate {number(rate)} natural units": some for rate, some in last.items()})
    ask.show({"rates that do not grok": broken} if broken else {})
