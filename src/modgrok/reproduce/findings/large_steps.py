r"""Finding 3: large steps need less data (docs/findings/large-steps.md).

Gradient descent with momentum β leaves a quadratic valley whose curvature exceeds $2(1 + \beta)/\eta$, and training
sharpens the loss up to this ceiling. So a larger step admits only flatter ways to know the training set, and these
generalize from less data. At equal ceilings momentum should change nothing, though its effective rate
$\eta/(1 - \beta)$ is up to nineteen times as large.
"""

import math
from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.palette import GRAY, MARKERS, SERIES
from modgrok.reproduce.figures import modular, seeds
from modgrok.reproduce.form import Ask, Column, Line, Runs, Settings, Sizes, Table, runs, study
from modgrok.reproduce.transitions import transitions, within
from modgrok.text import number, percent

SCALES = {
    "the ceiling": lambda x, beta: x,
    "the effective rate": lambda x, beta: x * (1 + beta) / (1 - beta),
}
"""What may decide, in units in which gradient descent without momentum has x = η/10⁶ natural units."""
LOST = 0.9
"""Test accuracy below which the smallest rate has not found the rule."""


def descent(s: Sizes, x: float, beta: float, time: float | None = None) -> Settings:
    """Gradient descent with the ceiling 2/x (times 10⁻⁶, natural units) for the profile's time, rate times steps."""
    unit = 1e6 * (s.step_modulus / 97) ** 3 * s.step_width / 500
    steps = max(s.least_steps, round((time or s.step_time) * (1 - beta) / (1 + beta) / x))
    found = {"task": "n + m", "modulus": s.step_modulus, "width": s.step_width, "optimizer": "gd", "momentum": beta}
    found |= {"lr": float(f"{(1 + beta) * x * unit:.5g}"), "steps": steps, "snapshots": 2}
    return found | {"evaluations": 60, "record": ("sharpness",)}


def grid(s: Sizes) -> Runs:
    """Ceilings, momenta and fractions."""
    found = Runs([])
    for beta, ceilings in s.ceilings.items():
        every = {x: descent(s, x, beta) | {"until": 0} for x in ceilings}
        some = runs({}, x=every, fraction=list(s.step_fractions), seed=list(s.step_seeds))
        found += some.tag(beta=beta, part="grid")
    return found


def switches(s: Sizes) -> Runs:
    """A small rate that is raised slowly to a large one, and a large one followed by a small one. A rate raised at once
    diverges: the loss is sharper than the new ceiling by then."""
    small, large = min(s.ceilings[0]), s.large
    found = Runs([])
    for order, first, then, time in (
        ("small, then large", small, large, s.step_time / 4),
        ("large, then small", large, small, s.step_time / 20),
    ):
        began = runs(descent(s, first, 0, time), fraction=list(s.switched), seed=list(s.step_seeds))
        found += began.tag(part="before", order=order)
        for _, settings in began.rows:
            start = {"parent": f"{Experiment(**settings).id}@{settings['steps']}", "until": 0}
            after = descent(s, then, 0) | {name: settings[name] for name in ("fraction", "seed")}
            rise = {"warmup": after["steps"] // 4} if then > first else {}
            found += runs(after | start | rise).tag(part="after", order=order)
    return found


def noisy(s: Sizes) -> Runs:
    """The smallest rate with noise in every update, or with minibatches."""
    quiet = descent(s, min(s.ceilings[0]), 0) | {"until": 0}
    unit = (s.step_modulus / 97) ** 3 * s.step_width / 500
    every = {f"noise {level:g}": {"update_noise": float(f"{level / unit:.4g}")} for level in s.noises}
    every |= {f"batches of {size}": {"optimizer": "sgd", "batch_size": size} for size in s.batches}
    some = runs(quiet, noise=every, fraction=list(s.switched), seed=list(s.step_seeds))
    return some.tag(part="noise")


def adam(s: Sizes) -> Runs:
    common = {"task": "n + m", "modulus": s.step_modulus, "width": s.step_width, "optimizer": "adam"}
    common |= {"weight_decay": 0.0, "until": 0, "snapshots": 0, "evaluations": 100}
    every = {rate: {"lr": rate, "steps": round(s.adam_time / rate)} for rate in s.adam_rates}
    return runs(common, rate=every, fraction=list(s.step_fractions), seed=list(s.step_seeds)).tag(part="adam")


def end(run: Run) -> dict[str, Any]:
    """Test accuracy and sharpness in units of the ceiling, in the end and at most."""
    e, history = run.experiment, run.history
    over = np.array(history["sharpness"], float) * e.lr / (2 * (1 + e.momentum))
    return {
        "accuracy": history["test_accuracy"][-1] if run.result["status"] == "finished" else 0.0,
        "train": history["train_accuracy"][-1],
        "over": over[-1],
        "most": np.nanmax(over),
        "status": run.result["status"],
    }


def critical(s: Sizes, t: Table) -> dict[str, Any]:
    """α_c of gradient descent by ceiling, where no run diverges, and of Adam by rate, within the whole time."""
    descended, adaptive = t.where(part="grid", beta=0), t.where(part="adam")
    broken = {row.x for row in descended if row.status != "finished"}
    descended = descended.where(lambda row: row.x not in broken)
    most = max(max(descended["steps"], default=0), max(adaptive["steps"], default=0))
    found = {"critical": within(descended, [most], "x"), "critical_adam": within(adaptive, [most], "rate")}
    return found | {"between": s.shown_fractions}


large_steps = study(
    "large_steps",
    "Large steps need less data",
    "(a) Test accuracy of gradient descent after equal times, rate times steps, against the training fraction. (b) "
    "With momentum β, against η/(1 + β), which sets the ceiling 2(1 + β)/η of the sharpness, one color for each "
    "fraction. (c) The same against the effective rate η/(1 − β). (d) The critical fraction of gradient descent and of "
    "Adam against the rate.",
    runs=lambda s: grid(s) + switches(s) + noisy(s) + adam(s),
    keep={"grid": ("grokked_at", end), "before": ("grokked_at", end), "after": ("grokked_at", end)}
    | {"noise": ("grokked_at", end), "adam": ("grokked_at",)},
    also=critical,
)


def accuracies(t: Table, beta: float, fraction: float) -> Line:
    """Mean accuracy by ceiling, of runs that do not diverge."""
    return t.where(part="grid", beta=beta, fraction=fraction, status="finished").of("accuracy", Column.average, "x")


def against_descent(t: Table, scale: str) -> list[tuple[float, float]]:
    """Accuracy without momentum and with it, wherever gradient descent was run on both sides of the same value of a
    scale, linear in its logarithm in between."""
    found = []
    for beta in t.where(part="grid")["beta"].distinct():
        for fraction in t.where(part="grid")["fraction"].distinct():
            without = accuracies(t, 0, fraction)
            for x, accuracy in accuracies(t, beta, fraction).items() if beta else ():
                value = SCALES[scale](x, beta)
                if min(without) <= value <= max(without):
                    there = float(np.interp(math.log(value), np.log([*without]), without.y))
                    found.append((there, accuracy))
    return found


def apart(pairs: list[tuple[float, float]]) -> float:
    return float(np.sqrt(np.mean([(a - b) ** 2 for a, b in pairs])))


def lost(t: Table, part: str, **values: Any) -> Table:
    """The rows of a part at fractions at which the smallest rate ends below `LOST` in every network."""
    smallest = t.where(part="grid", beta=0)
    cells = smallest.where(x=min(smallest["x"])).by("fraction")
    return t.where(part=part, fraction=[a for a, cell in cells.items() if max(cell["accuracy"]) < LOST], **values)


@large_steps.figure(
    "larger steps, less data",
    "at equal ceilings",
    "at equal effective rates",
    "critical fraction",
    rows=2,
    height=5.4,
)
def steps_and_data(t: Table, by_data: Any, ceiling: Any, effective: Any, rates: Any) -> str:
    some = t.where(part="grid")
    for x, color in zip(some.where(beta=0)["x"].distinct(), SERIES, strict=False):
        line = some.where(beta=0, x=x).of("accuracy", Column.average, "fraction")
        by_data.plot([*line], line.y, color=color, marker="o", ms=3, label=f"η = {number(x)}")
    by_data.set(xlabel="training fraction α", ylabel="test accuracy", ylim=(-0.03, 1.03))
    by_data.legend(fontsize=6)
    shown = [a for a in some["fraction"].distinct() if a in t.first.between] or some["fraction"].distinct()
    for panel, scale in zip((ceiling, effective), SCALES.values(), strict=True):
        for beta, marker, line in zip(some["beta"].distinct(), MARKERS, ("-", "--", ":"), strict=False):
            for fraction, color in zip(shown, SERIES, strict=False):
                found = accuracies(t, beta, fraction)
                places = [scale(x, beta) for x in found]
                panel.plot(places, found.y, color=color, marker=marker, ls=line, lw=0.9, ms=3.5)
            panel.plot([], [], color=GRAY, marker=marker, ls=line, lw=0.9, ms=3.5, label=f"β = {beta:g}")
        for fraction, color in zip(shown, SERIES, strict=False):
            panel.plot([], [], color=color, label=f"α = {fraction:g}")
        panel.set(xscale="log", ylabel="test accuracy", ylim=(-0.03, 1.03))
        panel.legend(fontsize=6)
    ceiling.set_xlabel("η / (1 + β)")
    effective.set_xlabel("η / (1 − β)")
    for column, name, color, label in (
        ("critical", "x", SERIES[0], "gradient descent: η"),
        ("critical_adam", "rate", SERIES[1], "Adam: rate"),
    ):
        found = [r for r in transitions(t, column) if r.alpha.critical is not None] if t.first[column] else []
        ends = [[r.alpha.critical - r.alpha.low for r in found], [r.alpha.high - r.alpha.critical for r in found]]
        places, middles = [r[name] for r in found], [r.alpha.critical for r in found]
        rates.errorbar(places, middles, ends, marker="o", ms=3, capsize=2, color=color, label=label)
    rates.set(xscale="log", xlabel="rate", ylabel="α_c")
    rates.legend(fontsize=6)
    return f"{modular(some)}, N = {some.one('width')}, {seeds(some)}; η in 10⁶ natural units"


def falls(t: Table, ask: Ask, column: str, name: str) -> None:
    found = list(transitions(t, column))
    ask.show({f"α_c at rate {number(r[name])}": str(r.alpha) for r in found})
    first, last = found[0].alpha, found[-1].alpha
    low = first.low if first.low is not None else 0.0
    high = last.high if last.high is not None else 1.0
    ask.possible("the largest rate groks at some fraction tried", last.critical is not None or last.high is not None)
    ask.that(
        "α_c at the largest rate is below that at the smallest by at least 0.02, intervals included", low - high >= 0.02
    )


@large_steps.claim("large steps")
def less_data(t: Table, ask: Ask) -> None:
    """At equal times, rate times steps, gradient descent needs less data the larger its steps are, up to divergence."""
    stable = t.where(part="grid", beta=0, status="finished")
    ask.budget(stable, "effect", modulus=97, seeds=3)
    falls(t, ask, "critical", "x")
    ask.yes("The critical fraction of gradient descent falls with its rate, at equal times.")


@large_steps.claim("large steps")
def ceiling_decides(t: Table, ask: Ask) -> None:
    """Where it does not diverge, momentum changes nothing at equal ceilings 2(1 + β)/η, and much at equal effective
    rates."""
    distances = {scale: apart(pairs) for scale in SCALES if (pairs := against_descent(t, scale))}
    ask.possible("there are networks to compare at both", len(distances) == 2)
    ceiling, effective = distances.values()
    ask.budget(t.where(part="grid"), "effect", modulus=97, seeds=3)
    ask.that("at equal ceilings the root mean square difference of accuracies is at most 0.1", ceiling <= 0.1)
    ask.that("at equal effective rates it is at least 0.2", effective >= 0.2)
    ask.show({f"difference at equal {scale.removeprefix('the ')}": value for scale, value in distances.items()})
    diverged = t.where(lambda r: r.status == "diverged", part="grid").by("beta", "x")
    ask.show({"diverges": ", ".join(f"β = {b:g} at η/(1 + β) = {x:g}" for b, x in diverged)} if diverged else {})
    ask.yes("Networks with and without momentum answer equally well at equal ceilings, not at equal effective rates.")


@large_steps.claim("large steps")
def held_at_the_ceiling(t: Table, ask: Ask) -> None:
    """With little data training ends at the ceiling, 2(1 + β)/η, with every momentum."""
    end = lost(t, "grid", status="finished").where("x >= 0.25", "x <= 1")
    ask.possible("there are such networks with three momenta", len(end["beta"].distinct()) >= 3)
    near = [abs(over - 1) <= 0.05 for over in end["over"]]
    ask.that("the last sharpness is within 5 % of the ceiling in nine of ten", np.mean(near) >= 0.9)
    for beta, cell in end.by("beta").items():
        ask.show({f"last sharpness / ceiling, β = {beta:g}": cell["over"]}, over="network")
    ask.yes("Training ends at the ceiling.")


def gained(t: Table, rows: Table) -> list[float]:
    """Accuracy of networks beyond that of the smallest rate with the same data and the same initial weights."""
    smallest = t.where(part="grid", beta=0)
    plain = {(r.fraction, r.seed): r.accuracy for r in smallest.where(x=min(smallest["x"]))}
    return [row.accuracy - plain[row.fraction, row.seed] for row in rows]


@large_steps.claim("large steps")
def early_steps_count(t: Table, ask: Ask) -> None:
    """Large steps count early: some of them before the test set is known, and small ones thereafter, go a long way."""
    early, after = (lost(t, part, order="large, then small") for part in ("before", "after"))
    ask.possible("the smallest rate ends below 90 % at some fraction of the switches", len(after))
    ask.possible("the large rate has not grokked before it is made small", early["grokked_at"].none())
    gain = gained(t, after)
    ask.budget(after, "effect", modulus=97, seeds=3)
    ask.that("every network answers more of the test set in the end than with small steps alone", min(gain) > 0)
    ask.that("by 0.2 on average", np.mean(gain) >= 0.2)
    ask.show({"accuracy gained": gain, "accuracy at the switch": early["accuracy"]}, percent, "network")
    ask.show({"networks that grok": f"{len(after['grokked_at'].known())} of {len(after)}"})
    ask.yes("Networks keep what a few large steps have gained, and small steps go on from there.")


@large_steps.claim("large steps")
def late_steps_count(t: Table, ask: Ask) -> None:
    """Large steps count late as well: a small rate at its end, raised slowly to a large one, groks."""
    after = lost(t, "after", order="small, then large")
    ask.possible("the smallest rate ends below 90 % at some fraction of the switches", len(after))
    ask.budget(after, "effect", modulus=97, seeds=3)
    ask.possible("most of them do not diverge", np.mean([r.status == "finished" for r in after]) > 0.5)
    ask.that("at least two thirds grok", len(after["grokked_at"].known()) >= 2 / 3 * len(after))
    ask.show({"networks that grok": f"{len(after['grokked_at'].known())} of {len(after)}"})
    ask.show({"accuracy": after["accuracy"]}, percent, "network")
    ask.yes("A network that small steps have left without the rule finds it once they become large.")


@large_steps.claim("large steps")
def noise_does_not(t: Table, ask: Ask) -> None:
    """Noise is no substitute: neither noisy updates nor minibatches gain much at a small rate."""
    found = lost(t, "noise")
    ask.possible("the smallest rate ends below 90 % at some fraction tried", len(found))
    ask.budget(found, "effect", modulus=97, seeds=3)
    gain = {noise: gained(t, cell) for noise, cell in found.by("noise").items()}
    ask.that("none gains more than 0.2 of the test set on average", max(map(np.mean, gain.values())) <= 0.2)
    ask.show({f"accuracy gained, {noise}": values for noise, values in gain.items()}, percent, "network")
    ask.yes("With noise instead of large steps little is gained.")


@large_steps.claim("large steps")
def adam_too(t: Table, ask: Ask) -> None:
    """Adam needs less data at larger rates too, at equal times."""
    ask.budget(t.where(part="adam"), "effect", modulus=97, seeds=3)
    falls(t, ask, "critical_adam", "rate")
    ask.yes("The critical fraction of Adam falls with its rate.")
