"""Section 3, Figs. 3 to 5: one number decides; formulas beside samples."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from modgrok.measures import threshold_model as model
from modgrok.measures.laws import exponent
from modgrok.palette import GRAY, MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.form import Ask, Sizes, Table, study
from modgrok.text import number

GAP, END, START = 1.0, 0.7, 21.0
"""ε, x̄ and b(0) of Fig. 3."""
GAPS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8)


def flow(s: Sizes) -> Iterator[dict[str, Any]]:
    """The test error along the flow, from the formula and from sampled points, and its exponent at the end."""
    end_time = model.zero_time(END, START, GAP)
    time = np.linspace(0, 1.25 * end_time, 61)
    b = model.threshold(time, END, START)
    # Of the positive class; b > 0 errs on no other.
    points = GAP + np.random.default_rng(3).exponential(size=s.points)
    distance = end_time * np.logspace(-4, -2, 30)
    near = model.test_error(model.threshold(end_time - distance, END, START), GAP)
    yield {
        "time": time,
        "error": model.test_error(b, GAP),
        "sampled": [np.mean(points < one) / 2 for one in b],
        "sigma": 0.25 / np.sqrt(s.points),
        "zero_time": end_time,
        "distance": distance,
        "near": near,
        "linear": GAP / 2 * distance * (GAP - END) / GAP,
        "exponent": exponent(distance, near),
    }


def probabilities(s: Sizes) -> Iterator[dict[str, Any]]:
    """The probability of grokking against ε_λ, and how far samples are from it in standard deviations."""
    rng, curve = np.random.default_rng(4), np.linspace(0, GAPS[-1], 60)
    for samples in (2, 5, 10):
        means = np.abs(model.draw_offsets(samples, s.time_sets, rng).mean)
        predicted = np.array([model.probability(gap, samples) for gap in GAPS])
        sampled = np.array([(means < gap).mean() for gap in GAPS])
        sigma = np.sqrt(predicted * (1 - predicted) / s.time_sets)
        yield {
            "samples": samples,
            "gaps": GAPS,
            "curve": curve,
            "formula": [model.probability(gap, samples) if gap else 0.0 for gap in curve],
            "sampled": sampled,
            "sigmas": (sampled - predicted) / sigma,
        }


def delays(s: Sizes) -> Iterator[dict[str, Any]]:
    """The distribution of grokking times for N = 2, and the largest distance of samples from it."""
    rng, grid, edges = np.random.default_rng(5), np.linspace(0, 9, 120), np.linspace(0, 9, 37)
    for gap in (0.4, 0.04, 0.004):
        sampled = np.sort(model.grokking_times(model.draw_offsets(2, s.time_sets, rng), gap))
        chosen = np.linspace(0, len(sampled) - 1, 400).astype(int)
        yield {
            "gap": gap,
            "grid": grid,
            "density": np.gradient(model.time_distribution(grid, gap), grid),
            "edges": edges,
            "histogram": np.histogram(sampled, edges)[0] / len(sampled) / np.diff(edges),
            "distance": np.abs(model.time_distribution(sampled[chosen], gap) - (chosen + 1) / len(sampled)).max(),
            "allowed": 1.63 / np.sqrt(len(sampled)),
            "median": np.median(sampled),
        }


transition = study(
    "fig3",
    "The test error vanishes at a finite time",
    "One number b separates two classes of points with a gap of 2ε between them. Under gradient flow b approaches its "
    "end exponentially, and the test error is exactly zero from the moment it enters the gap: a transition with "
    "exponent 1.",
    rows=flow,
)
chances = study(
    "fig4",
    "Probability of grokking in one dimension",
    "Whether the test error ever vanishes depends on the training points drawn. Regularization widens the gap to "
    "ε(1 + λ2) + λ1 and makes it more likely; so do more points.",
    rows=probabilities,
)
times = study(
    "fig5",
    "Grokking times in one dimension",
    "Time from zero training error to zero test error, over training sets of two points in each class that grok. The "
    "smaller the gap, the longer the delay; the mode moves as the logarithm of 1/ε.",
    rows=delays,
)


@transition.figure("the error vanishes at a finite time", "linearly, ν = 1", height=2.7)
def vanishing_error(t: Table, left: Any, right: Any) -> str:
    found = t.first
    left.plot(found.time, found.error, color=SERIES[0], label="formula")
    left.plot(found.time, found.sampled, "o", color=SERIES[1], markersize=2.5, label="sampled points")
    style.mark(left, found.zero_time, "$t_\\epsilon$")
    left.set(xlabel="time t", ylabel="test error E")
    left.legend(loc="lower left")
    right.loglog(found.distance, found.near, color=SERIES[0], label=f"formula, slope {found.exponent:.3f}")
    right.loglog(found.distance, found.linear, color=GRAY, linestyle="--", label="to first order")
    right.set(xlabel="$t_\\epsilon - t$", ylabel="test error E")
    right.legend()
    return f"ε = {GAP:g}, mean offset {END:g}, b(0) = {START:g}, no regularization"


@chances.figure(width=style.COLUMN, height=2.9)
def against_the_gap(t: Table, panel: Any) -> str:
    for i, row in enumerate(t):
        panel.plot(row.curve, row.formula, color=SERIES[i], label=f"N = {row.samples}")
        panel.plot(row.gaps, row.sampled, MARKERS[i], color=SERIES[i], fillstyle="none")
    panel.set(xlabel="$\\epsilon_\\lambda = \\epsilon(1 + \\lambda_2) + \\lambda_1$", ylabel="probability of grokking")
    panel.set_ylim(0, 1.03)
    panel.legend(loc="lower right")
    return "lines: formula; marks: sampled training sets of N points in each class"


@times.figure(width=style.COLUMN, height=2.9)
def densities(t: Table, panel: Any) -> str:
    for i, row in enumerate(t):
        panel.stairs(row.histogram, row.edges, color=SERIES[i], fill=True, alpha=0.25)
        panel.plot(row.grid, row.density, color=SERIES[i], label=f"$\\epsilon_\\lambda$ = {row.gap}")
    panel.set(xlabel="grokking time $t_G$", ylabel="density", xlim=(0, 9), ylim=(0, 1.05))
    panel.legend()
    return "N = 2; lines: formula; filled: sampled training sets"


@transition.claim("3 (Fig. 3)")
def linear_transition(t: Table, ask: Ask) -> None:
    """In one dimension the test error reaches zero at a finite time, linearly."""
    found = t.first
    off = max(abs(a - b) for a, b in zip(found.error, found.sampled, strict=True)) / found.sigma
    ask.that("the fitted exponent is 1 ± 0.02", abs(found.exponent - 1) <= 0.02)
    ask.that("sampled errors are within 4 standard deviations", off <= 4)
    ask.show({"exponent ν": number(found.exponent, 4), "largest distance of samples, in σ": off})


@chances.claim("3 (Fig. 4)")
def probability_in_one_dimension(t: Table, ask: Ask) -> None:
    """The probability of grokking in one dimension is known exactly."""
    worst = t.each(lambda r: max(map(abs, r.sigmas)))
    ask.that("every sampled probability is within 3 standard deviations of the formula", max(worst) <= 3)
    ask.show({f"largest distance in σ, N = {n}": off for n, off in zip(t["samples"], worst, strict=True)})


@times.claim("3 (Fig. 5)")
def times_in_one_dimension(t: Table, ask: Ask) -> None:
    """The distribution of grokking times in one dimension is known exactly."""
    off = t.where(lambda r: r.distance > r.allowed)
    ask.that("no sampled distribution is farther off than the 1 % Kolmogorov–Smirnov limit", not off)
    for row in t:
        limits = f"limit {number(row.allowed)}, median time {number(row.median)}"
        ask.show({f"largest distance, gap {row.gap}": f"{number(row.distance)} ({limits})"})
