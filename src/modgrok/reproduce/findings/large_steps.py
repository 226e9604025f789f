r"""Finding 3: large steps need less data (docs/findings/large-steps.md).

Gradient descent with momentum β leaves a quadratic valley whose curvature exceeds $2(1 + \beta)/\eta$, and training
sharpens the loss up to this ceiling. The hypothesis: the ceiling decides how much data is needed, so that at equal
ceilings momentum changes nothing, though its effective rate $\eta/(1 - \beta)$ is up to nineteen times as large.
"""

import math
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.palette import GRAY, MARKERS, SERIES
from modgrok.reproduce.figures import LINES, modular, seeds
from modgrok.reproduce.findings.sizes import descent_rate
from modgrok.reproduce.form import Ask, Column, Line, Runs, Settings, Sizes, Table, joined, runs, study
from modgrok.reproduce.gromov2023.sizes import natural_unit
from modgrok.reproduce.transitions import error_bars, transitions, within
from modgrok.text import number, percent

SCALES = {
    "ceiling": lambda x, beta: x,
    "effective rate": lambda x, beta: x * (1 + beta) / (1 - beta),
}
"""What may decide, in units in which gradient descent without momentum has x = η/10⁶ natural units."""
EDGE = 0.9
"""Share of the ceiling from which on training is at the edge."""


def descent(s: Sizes, x: float, beta: float, time: float | None = None) -> Settings:
    """Gradient descent with the ceiling 2/x (times 10⁻⁶, natural units) for the profile's time, rate times steps."""
    p, N = s.step_modulus, s.step_width
    steps = max(s.least_steps, round((time or s.step_time) * (1 - beta) / (1 + beta) / x))
    found = {"task": "n + m", "modulus": p, "width": N, "optimizer": "gd", "momentum": beta, "steps": steps}
    found |= {"lr": descent_rate((1 + beta) * x, p, N), "evaluations": 60, "snapshots": 2}
    return found | {"record": ("sharpness",)}


def grid(s: Sizes) -> Runs:
    """Ceilings, momenta and fractions."""
    every = {beta: {x: descent(s, x, beta) for x in ceilings} for beta, ceilings in s.ceilings.items()}
    found = joined(runs({}, x=some).tag(beta=beta, part="grid") for beta, some in every.items())
    return found.but(until=0, fraction=list(s.step_fractions), seed=range(s.step_seeds))


def switches(s: Sizes) -> Runs:
    """A small rate followed by a large one, and the reverse, at fractions where they differ."""
    small, large = min(s.ceilings[0]), s.large
    found = Runs([])
    for order, first, then, time in (
        ("small, then large", small, large, s.step_time / 4),
        ("large, then small", large, small, s.step_time / 20),
    ):
        began = runs(descent(s, first, 0, time), fraction=list(s.switched), seed=range(s.step_seeds))
        found += began.tag(part="before", order=order)
        for tags, experiment in began:
            after = descent(s, then, 0) | tags | {"parent": f"{experiment.id}@{experiment.steps}", "until": 0}
            found += runs(after).tag(part="after", order=order)
    return found


def noisy(s: Sizes) -> Runs:
    """The smallest rate with noise in every update, or with minibatches."""
    quiet = descent(s, s.noisy_rate, 0) | {"until": 0}
    unit = natural_unit(s.step_modulus, s.step_width)
    every: dict[str, Settings] = {f"noise {x:g}": {"update_noise": float(f"{x / unit:.4g}")} for x in s.noises}
    every |= {f"batches of {size}": {"optimizer": "sgd", "batch_size": size} for size in s.batches}
    return runs(quiet, noise=every, fraction=list(s.switched), seed=range(s.step_seeds)).tag(part="noise")


def adam(s: Sizes) -> Runs:
    common = {"task": "n + m", "modulus": s.step_modulus, "width": s.step_width, "optimizer": "adam"}
    common |= {"weight_decay": 0.0, "until": 0, "snapshots": 0, "evaluations": 100}
    every = {rate: {"lr": rate, "steps": round(s.adam_time / rate)} for rate in s.adam_rates}
    return runs(common, rate=every, fraction=list(s.step_fractions), seed=range(s.step_seeds)).tag(part="adam")


def end(run: Run) -> dict[str, Any]:
    """Test accuracy and sharpness in units of the ceiling, in the end and at most."""
    e, history = run.experiment, run.history
    result: Any = run.result
    over = np.array(history["sharpness"], float) * e.lr / (2 * (1 + e.momentum))
    return {
        "accuracy": history["test_accuracy"][-1] if result["status"] == "finished" else 0.0,
        "over": over[-1],
        "most": np.nanmax(over),
        "status": result["status"],
    }


def critical(s: Sizes, t: Table) -> dict[str, Any]:
    """α_c of gradient descent by ceiling, where no run diverges, and of Adam by rate, within the whole time."""
    descended, adaptive = t.where(part="grid", beta=0), t.where(part="adam")
    broken = {row.x for row in descended if row.status != "finished"}
    descended = descended.where(lambda row: row.x not in broken)
    most = max(max(descended["steps"]), max(adaptive["steps"], default=0))
    return {"critical": within(descended, [most], "x"), "critical_adam": within(adaptive, [most], "rate")}


large_steps = study(
    "large_steps",
    "Large steps need less data",
    "(a) Test accuracy of gradient descent after equal times, rate times steps, against the training fraction. (b) "
    "With momentum β, against η/(1 + β), which sets the ceiling 2(1 + β)/η of the sharpness, at the fractions at which "
    "the rate makes a difference; runs that diverge are left out. (c) The same against the effective rate η/(1 − β). "
    "(d) The critical fraction of gradient descent and of Adam against the rate.",
    runs=lambda s: grid(s) + switches(s) + noisy(s) + adam(s),
    keep=dict.fromkeys(("grid", "before", "after", "noise"), ("grokked_at", end)) | {"adam": ("grokked_at",)},
    also=critical,
)


def accuracies(t: Table, beta: float, fraction: float) -> Line:
    """Mean accuracy by ceiling; 0 where a run diverges."""
    return t.where(part="grid", beta=beta, fraction=fraction).of("accuracy", Column.average, "x")


def distances(t: Table) -> dict[str, float]:
    """By scale: the root mean square difference of accuracy without momentum and with it, wherever gradient descent was
    run on both sides of the same value of the scale, linear in its logarithm in between."""
    found: dict[str, list[float]] = {scale: [] for scale in SCALES}
    for beta, fraction in t.where("beta > 0", part="grid").by("beta", "fraction"):
        without = accuracies(t, 0, fraction)
        for x, accuracy in accuracies(t, beta, fraction).items():
            for scale, of in SCALES.items():
                if min(without) <= (value := of(x, beta)) <= max(without):
                    there = np.interp(math.log(value), np.log([*without]), without.y)
                    found[scale].append(float(there) - accuracy)
    return {scale: float(np.sqrt(np.mean(np.square(apart)))) for scale, apart in found.items() if apart}


def hopeless(t: Table) -> list[float]:
    """Fractions at which gradient descent at the smallest rate never groks."""
    smallest = t.where(part="grid", beta=0)
    smallest = smallest.where(x=min(smallest["x"]))
    return [fraction for fraction, cell in smallest.by("fraction").items() if cell["grokked_at"].none()]


@large_steps.figure(
    "larger steps, less data", "at equal ceilings", "at equal effective rates", "critical fraction", rows=2, height=5.4
)
def steps_and_data(t: Table, by_data: Any, ceiling: Any, effective: Any, rates: Any) -> str:
    some = t.where(part="grid", status="finished")
    for x, color in zip(some.where(beta=0)["x"].distinct(), SERIES, strict=False):
        line = some.where(beta=0, x=x).of("accuracy", Column.average, "fraction")
        by_data.plot([*line], line.y, color=color, marker="o", ms=3, label=f"η = {number(x)}")
    by_data.set(xlabel="training fraction α", ylabel="test accuracy", ylim=(-0.03, 1.03))
    by_data.legend(fontsize=6)
    differ = [a for a in some["fraction"].distinct() if np.ptp(accuracies(some, 0, a).y) > 0.05]
    for panel, scale in zip((ceiling, effective), SCALES.values(), strict=True):
        for beta, marker, style in zip(some["beta"].distinct(), MARKERS, LINES, strict=False):
            look: Any = {"marker": marker, "ls": style, "lw": 0.9, "ms": 3.5}
            for fraction, color in zip(differ, SERIES, strict=False):
                found = accuracies(some, beta, fraction)
                panel.plot([scale(x, beta) for x in found], found.y, color=color, **look)
            panel.plot([], [], color=GRAY, label=f"β = {beta:g}", **look)
        for fraction, color in zip(differ, SERIES, strict=False):
            panel.plot([], [], color=color, label=f"α = {fraction:g}")
        panel.set(xscale="log", ylabel="test accuracy", ylim=(-0.03, 1.03))
    ceiling.legend(fontsize=6)
    ceiling.set_xlabel("η / (1 + β)")
    effective.set_xlabel("η / (1 − β)")
    kinds = ("critical", "x", "gradient descent, η"), ("critical_adam", "rate", "Adam, rate")
    for series, (column, name, label) in enumerate(kinds):
        alphas = transitions(t, column)
        error_bars(rates, alphas[name], alphas["alpha"], series, label)
    rates.set(xscale="log", xlabel="rate", ylabel="α_c")
    rates.legend(fontsize=6)
    return f"{modular(some)}, N = {some.one('width')}, {seeds(some)}; η in 10⁶ natural units"


def falls(t: Table, ask: Ask, column: str, name: str) -> None:
    found = transitions(t, column)
    ask.show({f"α_c at rate {number(r[name])}": str(r.alpha) for r in found})
    first, last = found["alpha"][0], found["alpha"][-1]
    ask.possible("the largest rate groks at some fraction tried", last.critical is not None or last.high is not None)
    gap = (first.low if first.low is not None else 0.0) - (last.high if last.high is not None else 1.0)
    ask.that("α_c at the largest rate is below that at the smallest by at least 0.02, intervals included", gap >= 0.02)


@large_steps.claim("large steps")
def less_data(t: Table, ask: Ask) -> None:
    """At equal times, rate times steps, gradient descent needs less data the larger its steps are, up to divergence."""
    stable = t.where(part="grid", beta=0, status="finished")
    ask.budget(stable, "effect", modulus=97, seeds=3)
    falls(t, ask, "critical", "x")
    ask.yes("The critical fraction of gradient descent falls with its rate, at equal times.")


@large_steps.claim("large steps")
def ceiling_decides(t: Table, ask: Ask) -> None:
    """Momentum changes nothing at equal ceilings of the sharpness, 2(1 + β)/η, and much at equal effective rates."""
    found = distances(t)
    ask.possible("there are networks to compare at both", len(found) == 2)
    ceiling, effective = found.values()
    ask.budget(t.where(part="grid"), "effect", modulus=97, seeds=3)
    ask.that("at equal ceilings the root mean square difference of accuracies is at most 0.15", ceiling <= 0.15)
    ask.that("at equal effective rates it is at least twice that, and 0.1", effective >= max(2 * ceiling, 0.1))
    ask.show({f"difference at equal {scale}": value for scale, value in found.items()})
    stable, without = t.where(part="grid", status="finished"), "after the fact, without runs that diverge: "
    ask.show({f"{without}difference at equal {scale}": value for scale, value in distances(stable).items()})
    broken = t.where(lambda r: r.status != "finished", part="grid").by("beta", "x")
    ask.show({"runs diverge at": "; ".join(f"β = {b:g}, η/(1 + β) = {x:g}" for b, x in broken)} if broken else {})
    last = stable.where("x >= 0.25", "x <= 1", fraction=hopeless(t))
    for beta, cell in last.by("beta").items():
        label = f"last sharpness / ceiling where the smallest rate never groks, β = {beta:g}"
        ask.show({label: cell["over"]}, over="network")
    ask.yes("Networks with and without momentum answer equally well at equal ceilings, not at equal effective rates.")


@large_steps.claim("large steps")
def edge_first(t: Table, ask: Ask) -> None:
    """Where the smallest rate never groks, whoever groks has been at the edge of stability."""
    low = t.where(part="grid", status="finished", fraction=hopeless(t))
    grokked = low.where("grokked_at > 0")
    away = low.where(f"most < {EDGE}")
    ask.possible("some network groks there", len(grokked) >= 3, str(len(grokked)))
    ask.possible("and some stays away from the edge", len(away) >= 3, str(len(away)))
    ask.that(f"all that grok have reached {EDGE} of the ceiling before", min(grokked["most"]) >= EDGE)
    ask.that("none that stays below groks", away["grokked_at"].none())
    ask.show({"largest sharpness / ceiling of those that grok": grokked["most"]}, over="network")
    ask.show({"accuracy of those that stay below": away["accuracy"]}, percent, "network")
    ask.yes("Below the critical fraction of the smallest rate, only networks at the edge of stability grok.")


@large_steps.claim("large steps")
def now_decides(t: Table, ask: Ask) -> None:
    """What decides is the rate now: a small one followed by a large one groks, the reverse does not."""
    after = t.where(part="after", fraction=hopeless(t))
    ask.possible("the small rate alone never groks at some fraction of the switches", len(after))
    early = t.where(part="before", order="large, then small", fraction=hopeless(t))
    ask.possible("the large rate has not grokked before it is made small", early["grokked_at"].none())
    orders = after.by("order")
    share = {order: cell.each(lambda r: r.grokked_at is not None).average() for order, cell in orders.items()}
    ask.budget(after, "effect", modulus=97, seeds=3)
    ask.that("at least two thirds grok after the rate is made large", share["small, then large"] >= 2 / 3)
    ask.that("at most one third after it is made small", share["large, then small"] <= 1 / 3)
    ask.show({f"share that groks, {order}": value for order, value in share.items()}, percent)
    small = t.where(part="grid", beta=0, fraction=after["fraction"])
    for fraction, cell in small.where(x=min(small["x"])).by("fraction").items():
        ask.show({f"small alone: accuracy at α = {fraction:g}": cell["accuracy"]}, percent)
    for order, cell in orders.items():
        ask.show({f"{order}: runs that diverge": f"{sum(r.status != 'finished' for r in cell)} of {len(cell)}"})
        for fraction, some in cell.by("fraction").items():
            ask.show({f"{order}: accuracy at α = {fraction:g}": some["accuracy"]}, percent)
    ask.yes("Making a small rate large lets networks grok, and making a large one small stops them.")


@large_steps.claim("large steps")
def noise_does_not(t: Table, ask: Ask) -> None:
    """Noise is no substitute: at a small rate neither noisy updates nor minibatches make networks grok there."""
    found = t.where(part="noise", fraction=hopeless(t))
    ask.possible("the small rate alone never groks at some fraction tried", len(found))
    ask.budget(found, "never", modulus=97, seeds=3)
    some = {noise: cell["grokked_at"].known() for noise, cell in found.by("noise").items()}
    ask.that("no network with noise groks", not any(some.values()))
    for (fraction, noise), cell in found.by("fraction", "noise").items():
        ask.show({f"test accuracy at α = {fraction:g}, {noise}": cell["accuracy"]}, percent)
    quiet = t.where(part="grid", beta=0, lr=found.first.lr, fraction=found["fraction"])
    for fraction, cell in quiet.by("fraction").items():
        ask.show({f"test accuracy at α = {fraction:g} and the same rate, no noise": cell["accuracy"]}, percent)
    ask.yes("With noise instead of large steps nothing is gained.")


@large_steps.claim("large steps")
def adam_too(t: Table, ask: Ask) -> None:
    """Adam needs less data at larger rates too, at equal times."""
    ask.budget(t.where(part="adam"), "effect", modulus=97, seeds=3)
    falls(t, ask, "critical_adam", "rate")
    ask.yes("The critical fraction of Adam falls with its rate.")
