"""Figs. 7 to 9: the ball in D dimensions, formulas beside samples."""

from typing import Any

import numpy as np

from modgrok.palette import GRAY, MARKERS, SERIES, TEST, TRAIN
from modgrok.plot import style
from modgrok.reproduce.nested import Numbers, Study, Tree
from modgrok.reproduce.zunkovic2022.ball import Ball, draw_points, test_error
from modgrok.reproduce.zunkovic2022.profile import Profile

DIMENSIONS = (2, 5, 10)
TABLE = (
    *(Ball(D, 1.01) for D in (2, 5, 10)),
    *(Ball(D, 1.1) for D in (2, 5, 10, 20)),
    Ball(5, 1.01, 40),
    *(Ball(5, 1.01, 10, l2) for l2 in (1.0, 3.0, 30.0)),
    Ball(10, 1.01, 50),
)
SWEEPS = {
    "dimension D": [Ball(D, 1.1) for D in (2, 3, 5, 7, 10, 15, 20, 30)],
    "λ2": [Ball(10, 1.05, 10, l2) for l2 in (0.02, 0.1, 0.3, 1.0, 2.0, 3.0)],
    "samples N": [Ball(10, 1.02, N) for N in (10, 15, 20, 30, 40, 50)],
    "gap ε": [Ball(10, gap) for gap in (1.01, 1.03, 1.05, 1.07, 1.1, 1.15, 1.2)],
}
L1, L1_DIMENSIONS = 0.3, (5, 10, 20)
"""λ1 that is set against λ2, at ε = 1.01."""
FLOWS = (Ball(10, 1.2), Ball(128, 1.2))
TIMES = (Ball(5, 2.0, 2000, 0.01), Ball(10, 1.5, 2000, 0.01), Ball(10, 1.2, 2000, 0.1), Ball(20, 2.0, 2000, 0.01))


def errors(profile: Profile, runs: Tree) -> Numbers:
    """E_D(h) from the formula and sampled, and the exponent at h = 1 and along a flow."""
    rng = np.random.default_rng(6)
    h = np.linspace(0, 1.05, 22)
    found = {}
    for D in DIMENSIONS:
        first = draw_points((profile.points,), D, rng)[:, 0]
        predicted = test_error(h, D)
        sampled = np.array([np.mean(first > one) for one in h])
        sigma = np.sqrt(np.maximum(predicted * (1 - predicted), 1e-12) / profile.points)
        expected = predicted * profile.points >= 10
        distance = np.logspace(-6, -3, 30)
        near = test_error(1 - distance, D)
        found[D] = {
            "formula": predicted,
            "sampled": sampled,
            "sigmas": ((sampled - predicted) / sigma)[expected],
            "distance": distance,
            "near": near,
            "exponent": np.polyfit(np.log(distance), np.log(near), 1)[0],
            "flow_exponent": _flow_exponent(D),
            "predicted_exponent": (D + 1) / 2,
        }
    return {"h": h, "dimensions": found}


def _flow_exponent(dimension: int) -> float:
    """The slope of log E against log(t_ε − t) along the flow of infinitely many points from a start across e1."""
    ball = Ball(dimension, 1.5)
    end, rate = ball.gap / (ball.gap**2 + ball.slow_rate), ball.gap**2 + ball.slow_rate

    def h(t: np.ndarray) -> np.ndarray:
        along, across = end * -np.expm1(-rate * t), 2 * np.exp(-ball.slow_rate * t)
        return ball.gap * along / np.hypot(along, across)

    low, high = 0.0, 100.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if h(np.array([middle]))[0] < 1 else (low, middle)
    distance = np.logspace(-5, -3, 20) * high
    return float(np.polyfit(np.log(distance), np.log(test_error(h(high - distance), dimension)), 1)[0])


def trajectory(profile: Profile, runs: Tree) -> Numbers:
    """Training and test error along the flow of one training set in few and in many dimensions."""
    return {"flows": {ball.dimension: _flow(ball) for ball in FLOWS}}


def _flow(ball: Ball) -> dict[str, Any]:
    rng = np.random.default_rng(7)
    x = draw_points((2 * ball.samples,), ball.dimension, rng)
    x[:, 0] += ball.gap
    rates, modes = np.linalg.eigh(x.T @ x / len(x) + ball.l2 * np.eye(ball.dimension))
    end = modes.T @ x.mean(axis=0) / rates
    start = modes.T @ rng.standard_normal(ball.dimension)
    t = np.logspace(-1, 2, 400)
    w = (end + (start - end) * np.exp(-np.multiply.outer(t, rates))) @ modes.T
    h = ball.gap * w[:, 0] / np.linalg.norm(w, axis=1)
    train, test = (w @ x.T <= 0).mean(axis=1), test_error(h, ball.dimension)
    learnt, generalized = _from_then_on(t, train), _from_then_on(t, test)
    return {
        "time": t,
        "train": train,
        "test": test,
        "train_zero": learnt,
        "test_zero": generalized,
        "between": None if learnt is None else test[np.searchsorted(t, learnt)],
    }


def _from_then_on(t: np.ndarray, error: np.ndarray) -> float | None:
    wrong = np.flatnonzero(error > 0)
    last = wrong[-1] if len(wrong) else -1
    return None if last == len(t) - 1 else float(t[last + 1])


def probability(profile: Profile, runs: Tree) -> Numbers:
    """The probability that the test error vanishes: corrected formula, printed formula, samples; with λ1 too."""
    rng = np.random.default_rng(8)

    def row(ball: Ball) -> dict[str, Any]:
        return vars(ball) | {
            "formula": ball.predicted_probability(),
            "printed": ball.predicted_probability(printed=True),
            "sampled": ball.sampled_probability(profile.sets, rng),
        }

    return {
        "sets": profile.sets,
        "table": [row(ball) for ball in TABLE],
        "sweeps": {name: [row(ball) for ball in balls] for name, balls in SWEEPS.items()},
        "sparse": [
            vars(ball)
            | {
                "l2_sampled": ball.sampled_probability(profile.sets, rng),
                "l1_sampled": ball.sampled_probability(max(100, profile.sets // 10), rng, L1),
            }
            for ball in (Ball(D, 1.01) for D in L1_DIMENSIONS)
        ],
    }


def times(profile: Profile, runs: Tree) -> Numbers:
    """Grokking times from random starts, and the slow and fast predictions."""
    rng = np.random.default_rng(9)
    edges = np.linspace(0, 1.3, 53)
    first = TIMES[0]
    limit = 1 - first.gap**-2
    r = limit * (1 - np.logspace(0, -7, 400)[1:])
    sampled = first.limit_times(profile.time_sets, rng)
    return {
        "edges": edges,
        "histogram": np.histogram(sampled, edges)[0] / len(sampled) / np.diff(edges),
        "fast": {"share": first.fast_share(), **_fast_density(first, r)},
        "below_fast": float(np.mean(sampled < first.slow_time() - 1e-3)),
        "settings": [
            vars(ball)
            | {
                "sampled": ball.limit_times(profile.time_sets // 10, rng).mean(),
                "corrected": ball.slow_time(),
                "printed": ball.slow_time(printed=True),
                "fast_share": ball.fast_share(),
            }
            for ball in TIMES
        ],
    }


def _fast_density(ball: Ball, r: np.ndarray) -> dict[str, np.ndarray]:
    """The density of the fast times, by change of variables from r = |w⊥|², χ² with D − 1 degrees of freedom."""
    from scipy.stats import chi2

    t = ball.fast_time(r)
    return {"time": t, "density": chi2.pdf(r, ball.dimension - 1) / np.gradient(t, r)}


def draw_errors(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, height=2.7)
    left, right = panels[0]
    for i, (D, found) in enumerate(n["dimensions"].items()):
        left.plot(n["h"], found["formula"], color=SERIES[i], label=f"D = {D}")
        left.plot(n["h"], found["sampled"], MARKERS[i], color=SERIES[i], fillstyle="none", markersize=3)
        label = f"D = {D}: slope {found['exponent']:.3f}"
        right.loglog(found["distance"], found["near"], color=SERIES[i], label=label)
    left.set(xlabel="$h = \\epsilon w_1 / |w|$", ylabel="test error E")
    left.legend()
    right.set(xlabel="1 − h", ylabel="test error E")
    right.legend()
    style.letter(panels[0], ("test error of a perceptron on two balls", "near the transition, ν = (D + 1)/2"))
    style.note(figure, "lines: formula; marks: sampled points")
    return figure


def draw_trajectory(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, height=2.7, sharey=True)
    for panel, flow in zip(panels[0], n["flows"].values(), strict=True):
        panel.plot(flow["time"], flow["train"], color=TRAIN, label="training error")
        panel.plot(flow["time"], flow["test"], color=TEST, label="test error")
        for name, side in (("train_zero", "right"), ("test_zero", "left")):
            style.mark(panel, flow[name], "zero from here on" if name == "test_zero" else "", side)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_ylim(1e-8, 1)
        panel.set_xlabel("time t")
    panels[0, 0].set_ylabel("error")
    panels[0, 0].legend(loc="lower left")
    style.letter(panels[0], (f"D = {D}" for D in n["flows"]))
    style.note(figure, "ε = 1.2, λ2 = 0.1, N = 10, weights N(0, 1) at the start")
    return figure


def draw_probability(n: Numbers) -> Any:
    figure, panels = style.grid(2, 2, height=4.4, sharey=True)
    fields = ("dimension", "l2", "samples", "gap")
    for panel, (name, rows), field in zip(panels.flat, n["sweeps"].items(), fields, strict=True):
        x = [row[field] for row in rows]
        panel.plot(x, [row["formula"] for row in rows], color=SERIES[0], label="formula, corrected")
        panel.plot(x, [row["printed"] for row in rows], color=GRAY, linestyle=":", label="as printed")
        panel.plot(x, [row["sampled"] for row in rows], "o", color=SERIES[1], label="sampled training sets")
        panel.set_xlabel(name)
        panel.set_ylim(0, 1.03)
    for panel in panels[:, 0]:
        panel.set_ylabel("probability of grokking")
    panels[0, 0].legend(loc="lower left")
    style.letter(
        panels.flat,
        (
            "N = 10, λ2 = 0.1, ε = 1.1",
            "D = 10, N = 10, ε = 1.05",
            "D = 10, λ2 = 0.1, ε = 1.02",
            "D = 10, N = 10, λ2 = 0.1",
        ),
    )
    style.note(figure, f"{n['sets']:,} training sets for each point".replace(",", "\u202f"))
    return figure


def draw_times(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, height=2.8)
    left, right = panels[0]
    left.stairs(n["histogram"], n["edges"], color=SERIES[0], fill=True, alpha=0.35, label="random starts")
    left.plot(n["fast"]["time"], n["fast"]["density"], color=SERIES[1], label="fast part, formula")
    first = n["settings"][0]
    left.axvline(first["corrected"], color=SERIES[2], linewidth=1, label="slow part, corrected")
    left.axvline(first["printed"], color=GRAY, linewidth=1, linestyle=":", label="slow part, as printed")
    left.set(xlabel="grokking time", ylabel="density", yscale="log", xlim=(0, 1.3), ylim=(1e-4, 100))
    left.legend(loc="upper left", bbox_to_anchor=(0.2, 1.02), fontsize=6)
    rows = n["settings"]
    place = np.arange(len(rows))
    for i, (key, label) in enumerate(
        (("sampled", "random starts"), ("corrected", "corrected"), ("printed", "printed"))
    ):
        right.bar(
            place + 0.27 * (i - 1), [row[key] for row in rows], 0.25, color=(SERIES[0], SERIES[2], GRAY)[i], label=label
        )
    right.set_xticks(place, [f"D = {row['dimension']}\nε = {row['gap']:g}\nλ2 = {row['l2']:g}" for row in rows])
    right.set_ylabel("mean grokking time")
    right.legend(fontsize=6)
    style.letter(panels[0], ("D = 5, ε = 2, λ2 = 0.01", "the slow part in four settings"))
    return figure


STUDIES = (
    Study(
        "figE",
        "Test error of the ball model",
        "The test error depends on one number, the projection h of the weights on the axis between the balls. It "
        "vanishes at h = 1 with an exponent that grows with the dimension.",
        errors,
        draw=draw_errors,
    ),
    Study(
        "fig7",
        "Flows in 10 and 128 dimensions",
        "Gradient flow on ten points of each ball from random weights. The training error is zero before the test "
        "error. In high dimension few points lie at the rim of a ball, and the test error is very small long before it "
        "is zero.",
        trajectory,
        draw=draw_trajectory,
    ),
    Study(
        "fig8",
        "Probability of grokking in D dimensions",
        "Whether the test error vanishes for a random training set, against each parameter of the model. The formula "
        "of Appendix B with its misprints corrected follows the samples; as printed it is far off in high dimension.",
        probability,
        draw=draw_probability,
    ),
    Study(
        "fig9",
        "Grokking times in D dimensions",
        "Time between the criteria for zero training error (conservative: for the worst angle a training point can "
        "have) and zero test error, along the flow of infinitely many points from w(0) ~ N(0, 1). Few starts are fast; "
        "most wait for the transverse weights to decay, which takes ln(ε²/(ε² − 1)) / 2λ_D and not ln(ε⁴/(ε⁴ − 1)) / "
        "2λ_D as printed. The formula of the fast part is for λ_D ≪ 1; here λ_D = 0.15, and starts in between fill the "
        "gap to the spike.",
        times,
        draw=draw_times,
    ),
)
