"""Section 4, Figs. 7 to 9: the ball in D dimensions, formulas beside samples."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from modgrok.measures.laws import exponent
from modgrok.measures.linear_flow import Ball, Flow, Inputs, draw_points, test_error
from modgrok.palette import GRAY, MARKERS, SERIES, TEST, TRAIN
from modgrok.plot import style
from modgrok.reproduce.form import Ask, Sizes, Table, study
from modgrok.text import count, number, percent

DIMENSIONS = (2, 5, 10)
TABLE = (
    *(Ball(D, 1.01) for D in (2, 5, 10)),
    *(Ball(D, 1.1) for D in (2, 5, 10, 20)),
    Ball(5, 1.01, 40),
    *(Ball(5, 1.01, 10, l2) for l2 in (1.0, 3.0, 30.0)),
    Ball(10, 1.01, 50),
)
SWEEPS: dict[str, dict[float, Ball]] = {
    "dimension D": {D: Ball(D, 1.1) for D in (2, 3, 5, 7, 10, 15, 20, 30)},
    "λ2": {l2: Ball(10, 1.05, 10, l2) for l2 in (0.02, 0.1, 0.3, 1.0, 2.0, 3.0)},
    "samples N": {N: Ball(10, 1.02, N) for N in (10, 15, 20, 30, 40, 50)},
    "gap ε": {gap: Ball(10, gap) for gap in (1.01, 1.03, 1.05, 1.07, 1.1, 1.15, 1.2)},
}
SPARSE, L1 = tuple(Ball(D, 1.01) for D in (5, 10, 20)), 0.3
"""Where λ1 is set against λ2."""
FLOWS = (Ball(10, 1.2), Ball(128, 1.2))
TIMES = (Ball(5, 2.0, 2000, 0.01), Ball(10, 1.5, 2000, 0.01), Ball(10, 1.2, 2000, 0.1), Ball(20, 2.0, 2000, 0.01))


def errors(s: Sizes) -> Iterator[dict[str, Any]]:
    """E_D(h) from the formula and sampled, and the exponent at h = 1 and along a flow."""
    rng, h, distance = np.random.default_rng(6), np.linspace(0, 1.05, 22), np.logspace(-6, -3, 30)
    for D in DIMENSIONS:
        first = draw_points((s.points,), D, rng)[:, 0]
        predicted, near = test_error(h, D), test_error(1 - distance, D)
        sampled = np.array([np.mean(first > one) for one in h])
        sigma = np.sqrt(np.maximum(predicted * (1 - predicted), 1e-12) / s.points)
        yield {
            "dimension": D,
            "h": h,
            "formula": predicted,
            "sampled": sampled,
            "sigmas": ((sampled - predicted) / sigma)[predicted * s.points >= 10],
            "distance": distance,
            "near": near,
            "exponent": exponent(distance, near),
            "flow_exponent": _flow_exponent(Ball(D, 1.5)),
        }


def _flow_exponent(ball: Ball) -> float:
    """The slope of log E against log(t_ε − t) along the flow of infinitely many points from a start across e1."""
    from scipy.optimize import brentq

    def h(t: Any) -> Any:
        along, across = ball.along(t, np.zeros(1)), 2 * np.exp(-ball.slow_rate * t)
        return ball.gap * along / np.hypot(along, across)

    end = brentq(lambda t: h(t)[0] - 1, 0, 100, xtol=1e-14)
    distance = np.logspace(-5, -3, 20) * end
    return exponent(distance, test_error(h(end - distance), ball.dimension))


def flows(s: Sizes) -> Iterator[dict[str, Any]]:
    """Training and test error along the flow of one training set in few and in many dimensions."""
    for ball in FLOWS:
        rng, t = np.random.default_rng(7), np.logspace(-1, 2, 400)
        train = Inputs(ball.training_sets(1, rng)[0], np.ones(2 * ball.samples, int))
        flow = Flow(train, ball.l2, rng.standard_normal(ball.dimension))
        w = flow.weights(t)
        known, test = flow.errors(train, t), test_error(ball.gap * w[:, 0] / np.linalg.norm(w, axis=1), ball.dimension)
        learned, generalized = _from_then_on(t, known), _from_then_on(t, test)
        yield {
            "dimension": ball.dimension,
            "time": t,
            "train": known,
            "test": test,
            "train_zero": learned,
            "test_zero": generalized,
            "between": None if learned is None else test[np.searchsorted(t, learned)],
        }


def _from_then_on(t: np.ndarray, error: np.ndarray) -> float | None:
    """When the error is zero for the rest."""
    last = max(np.flatnonzero(error > 0), default=-1)
    return None if last == len(t) - 1 else float(t[last + 1])


def probabilities(s: Sizes) -> Iterator[dict[str, Any]]:
    """The probability that the test error vanishes: corrected formula, printed formula, samples; with λ1 too."""
    rng = np.random.default_rng(8)
    asked: list[tuple[str, float | None, Ball]] = [("table", None, ball) for ball in TABLE]
    asked += [(name, x, ball) for name, balls in SWEEPS.items() for x, ball in balls.items()]
    for part, x, ball in asked:
        formula, printed = (ball.predicted_probability(printed=wrong) for wrong in (False, True))
        found = {"formula": formula, "printed": printed, "sampled": ball.sampled_probability(s.sets, rng)}
        yield {"part": part, "x": x, "sets": s.sets} | vars(ball) | found
    for ball in SPARSE:
        found = {"sampled": ball.sampled_probability(s.sets, rng)}
        found["l1_sampled"] = ball.sampled_probability(max(100, s.sets // 10), rng, L1)
        yield {"part": "sparse", "sets": s.sets} | vars(ball) | found


def delays(s: Sizes) -> Iterator[dict[str, Any]]:
    """Grokking times from random starts, and the slow and fast predictions."""
    from scipy.stats import chi2

    rng, edges, first = np.random.default_rng(9), np.linspace(0, 1.3, 53), TIMES[0]
    sampled = first.limit_times(s.time_sets, rng)
    # The density of the fast times, by change of variables from r = |w⊥|², χ² with D − 1 degrees of freedom.
    r = (1 - first.gap**-2) * (1 - np.logspace(0, -7, 400)[1:])
    time = first.fast_time(r)
    more = {
        "edges": edges,
        "histogram": np.histogram(sampled, edges)[0] / len(sampled) / np.diff(edges),
        "fast_time": time,
        "fast_density": chi2.pdf(r, first.dimension - 1) / np.gradient(time, r),
    }
    for ball in TIMES:
        corrected, printed = (ball.slow_time(printed=wrong) for wrong in (False, True))
        mean = ball.limit_times(s.time_sets // 10, rng).mean()
        found = {"sampled": mean, "corrected": corrected, "printed": printed}
        yield vars(ball) | found | (more if ball is first else {})


balls = study(
    "figE",
    "Test error of the ball model",
    "The test error depends on one number, the projection h of the weights on the axis between the balls. It vanishes "
    "at h = 1 with an exponent that grows with the dimension.",
    rows=errors,
)
trajectories = study(
    "fig7",
    "Flows in 10 and 128 dimensions",
    "Gradient flow on ten points of each ball from random weights. The training error is zero before the test error. "
    "In high dimension few points lie at the rim of a ball, and the test error is very small long before it is zero.",
    rows=flows,
)
chances = study(
    "fig8",
    "Probability of grokking in D dimensions",
    "Whether the test error vanishes for a random training set, against each parameter of the model. The formula of "
    "Appendix B with its misprints corrected follows the samples; as printed it is far off in high dimension.",
    rows=probabilities,
)
times = study(
    "fig9",
    "Grokking times in D dimensions",
    "Time between the criteria for zero training error (conservative: for the worst angle a training point can have) "
    "and zero test error, along the flow of infinitely many points from w(0) ~ N(0, 1). Few starts are fast; most wait "
    "for the transverse weights to decay, which takes ln(ε²/(ε² − 1)) / 2λ_D and not ln(ε⁴/(ε⁴ − 1)) / 2λ_D as "
    "printed. The formula of the fast part is for λ_D ≪ 1; here λ_D = 0.15, and starts in between fill the gap to the "
    "spike.",
    rows=delays,
)


@balls.figure("test error of a perceptron on two balls", "near the transition, ν = (D + 1)/2", height=2.7)
def error_of_balls(t: Table, left: Any, right: Any) -> str:
    for i, row in enumerate(t):
        name = f"D = {row.dimension}"
        left.plot(row.h, row.formula, color=SERIES[i], label=name)
        left.plot(row.h, row.sampled, MARKERS[i], color=SERIES[i], fillstyle="none", markersize=3)
        right.loglog(row.distance, row.near, color=SERIES[i], label=f"{name}: slope {row.exponent:.3f}")
    for panel, x in ((left, "$h = \\epsilon w_1 / |w|$"), (right, "1 − h")):
        panel.set(xlabel=x, ylabel="test error E")
        panel.legend()
    return "lines: formula; marks: sampled points"


@trajectories.figure("D = 10", "D = 128", height=2.7, sharey=True)
def two_flows(t: Table, *shown: Any) -> str:
    for panel, row in zip(shown, t, strict=True):
        panel.plot(row.time, row.train, color=TRAIN, label="training error")
        panel.plot(row.time, row.test, color=TEST, label="test error")
        style.mark(panel, row.train_zero, "", "right")
        style.mark(panel, row.test_zero, "zero from here on")
        panel.set(xscale="log", yscale="log", ylim=(1e-8, 1), xlabel="time t")
    shown[0].set_ylabel("error")
    shown[0].legend(loc="lower left")
    return "ε = 1.2, λ2 = 0.1, N = 10, weights N(0, 1) at the start"


@chances.figure(
    "N = 10, λ2 = 0.1, ε = 1.1",
    "D = 10, N = 10, ε = 1.05",
    "D = 10, λ2 = 0.1, ε = 1.02",
    "D = 10, N = 10, λ2 = 0.1",
    rows=2,
    height=4.4,
    sharey=True,
)
def against_each_parameter(t: Table, *shown: Any) -> str:
    for panel, name in zip(shown, SWEEPS, strict=True):
        sweep = t.where(part=name)
        panel.plot(sweep["x"], sweep["formula"], color=SERIES[0], label="formula, corrected")
        panel.plot(sweep["x"], sweep["printed"], color=GRAY, linestyle=":", label="as printed")
        panel.plot(sweep["x"], sweep["sampled"], "o", color=SERIES[1], label="sampled training sets")
        panel.set(xlabel=name, ylim=(0, 1.03))
    for panel in shown[::2]:
        panel.set_ylabel("probability of grokking")
    shown[0].legend(loc="lower left")
    return f"{count(t.one('sets'))} training sets for each point"


@times.figure("D = 5, ε = 2, λ2 = 0.01", "the slow part in four settings")
def slow_and_fast(t: Table, left: Any, right: Any) -> None:
    first, places = t.first, np.arange(len(t))
    left.stairs(first.histogram, first.edges, color=SERIES[0], fill=True, alpha=0.35, label="random starts")
    left.plot(first.fast_time, first.fast_density, color=SERIES[1], label="fast part, formula")
    left.axvline(first.corrected, color=SERIES[2], linewidth=1, label="slow part, corrected")
    left.axvline(first.printed, color=GRAY, linewidth=1, linestyle=":", label="slow part, as printed")
    left.set(xlabel="grokking time", ylabel="density", yscale="log", xlim=(0, 1.3), ylim=(1e-4, 100))
    left.legend(loc="upper left", bbox_to_anchor=(0.2, 1.02), fontsize=6)
    for i, (column, color) in enumerate({"sampled": SERIES[0], "corrected": SERIES[2], "printed": GRAY}.items()):
        label = "random starts" if column == "sampled" else column
        right.bar(places + 0.27 * (i - 1), t[column], 0.25, color=color, label=label)
    right.set_xticks(places, t.each(lambda r: f"D = {r.dimension}\nε = {r.gap:g}\nλ2 = {r.l2:g}"))
    right.set(ylabel="mean grokking time", ylim=(0, 1.2 * max(t["sampled"])))
    right.legend(loc="upper center", fontsize=6, ncols=3)


@balls.claim("4")
def ball_exponent(t: Table, ask: Ask) -> None:
    """In D dimensions the exponent of the transition is (D + 1)/2."""
    worst = max(t.each(lambda r: max(map(abs, r.sigmas), default=0.0)))
    off = t.each(lambda r: max(abs(e - (r.dimension + 1) / 2) for e in (r.exponent, r.flow_exponent)))
    ask.that("fitted exponents are within 0.02 of (D + 1)/2, at fixed weights and along a flow", max(off) <= 0.02)
    ask.that("sampled errors are within 4 σ", worst <= 4)
    ask.show({f"ν, D = {r.dimension}": f"{r.exponent:.4f}, along a flow {r.flow_exponent:.4f}" for r in t})
    ask.show({"largest distance of samples, in σ": worst})


@trajectories.claim("4 (Fig. 7)")
def ball_grokking(t: Table, ask: Ask) -> None:
    """The ball model groks: the test error vanishes after the training error."""
    delayed = t.where("train_zero > 0", "test_zero > 0", lambda r: r.train_zero < r.test_zero)
    ask.that("in 10 and 128 dimensions both errors vanish, the training error first", len(delayed) == len(t))
    for r in t:
        then = f"test error {number(r.between)} then and zero at t = {number(r.test_zero)}"
        ask.show({f"D = {r.dimension}": f"training error zero at t = {number(r.train_zero)}, {then}"})


@chances.claim("4, B (Fig. 8)")
def ball_probability(t: Table, ask: Ask) -> None:
    """The probability of grokking in D dimensions follows a closed form."""
    rows = t.where(part="table")
    worst, printed = (max(map(abs, rows[column] - rows["sampled"])) for column in ("formula", "printed"))
    ask.yes("The formula of Appendix B follows the samples,")
    ask.that("the corrected formula is within 0.03 of the samples everywhere in the table", worst <= 0.03)
    ask.note(
        f"once ε² replaces the printed ε in α3 and χ² is divided by the variance; with ε it is off by up to "
        f"{number(printed)}. The weights are taken as Gaussian, which costs up to {number(worst)}."
    )
    for r in rows:
        setting = f"D = {r.dimension}, N = {r.samples}, λ2 = {r.l2:g}, ε = {r.gap:g}"
        ask.show({setting: f"formula {r.formula:.4f}, sampled {r.sampled:.4f}, as printed {r.printed:.4f}"})


@chances.claim("4 (Fig. 8)")
def sparse_weights(t: Table, ask: Ask) -> None:
    """In high dimension L1 regularization groks more often than L2."""
    rows = t.where(part="sparse")
    more = min(rows["l1_sampled"] - rows["sampled"])
    ask.that("with λ1 more training sets grok than with λ2, by at least 0.1 at D = 5, 10 and 20", more >= 0.1)
    for r in rows:
        shares = f"λ1 = 0.3: {percent(r.l1_sampled)}, λ2 = 0.1: {percent(r.sampled)}"
        ask.show({f"D = {r.dimension}, ε = {r.gap:g}": shares})


@times.claim("4 (Fig. 9)")
def ball_times(t: Table, ask: Ask) -> None:
    """Most starts in D dimensions grok at one time, which is set by the slowest rate."""
    printed = t["sampled"] / t["printed"]
    early = f"{number(min(printed))} to {number(max(printed))}"
    off = max(t.each(lambda r: abs(r.sampled / r.corrected - 1)))
    ask.that("the mean time is within 10 % of ln(ε²/(ε² − 1)) / 2λ_D in four settings", off <= 0.1)
    ask.yes("The times are at the spike of the slow part,")
    ask.note(f"with ε² in Eq. 47; with the printed ε⁴ it is {early} times too early.")
    for r in t:
        found = f"mean {r.sampled:.3f}, corrected {r.corrected:.3f}, as printed {r.printed:.3f}"
        ask.show({f"D = {r.dimension}, ε = {r.gap:g}, λ2 = {r.l2:g}": found})
