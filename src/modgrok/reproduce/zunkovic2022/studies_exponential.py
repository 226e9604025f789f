"""Figs. 3 to 5: the model with one number, formulas beside samples."""

from typing import Any

import numpy as np

from modgrok.palette import GRAY, MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.nested import Numbers, Study, Tree
from modgrok.reproduce.zunkovic2022 import exponential as model
from modgrok.reproduce.zunkovic2022.profile import Profile

GAP, END, START = 1.0, 0.7, 21.0
"""ε, x̄ and b(0) of Fig. 3."""
SAMPLES = (2, 5, 10)
GAPS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8)
TIME_GAPS = (0.4, 0.04, 0.004)


def transition(profile: Profile, runs: Tree) -> Numbers:
    """The test error along the flow, from the formula and from sampled points, and its exponent at the end."""
    rng = np.random.default_rng(3)
    end_time = model.zero_time(END, START, GAP)
    t = np.linspace(0, 1.25 * end_time, 61)
    b = model.threshold(t, END, START)
    points = GAP + rng.exponential(size=profile.points)  # of the positive class; b > 0 errs on no other
    distance = end_time * np.logspace(-4, -2, 30)
    near = model.test_error(model.threshold(end_time - distance, END, START), GAP)
    return {
        "time": t,
        "threshold": b,
        "error": model.test_error(b, GAP),
        "sampled": [np.mean(points < one) / 2 for one in b],
        "sigma": 0.25 / np.sqrt(profile.points),
        "zero_time": end_time,
        "distance": distance,
        "near": near,
        "linear": GAP / 2 * distance * (GAP - END) / GAP,
        "exponent": np.polyfit(np.log(distance), np.log(near), 1)[0],
    }


def probability(profile: Profile, runs: Tree) -> Numbers:
    """The probability of grokking against ε_λ, and how far samples are from it in standard deviations."""
    rng = np.random.default_rng(4)
    curve = np.linspace(0, GAPS[-1], 60)
    found: Numbers = {"gaps": GAPS, "curve": curve, "samples": {}}
    for count in SAMPLES:
        means = np.abs(model.draw_offsets(count, profile.time_sets, rng).mean)
        predicted = np.array([model.probability(gap, count) for gap in GAPS])
        sampled = np.array([(means < gap).mean() for gap in GAPS])
        sigma = np.sqrt(predicted * (1 - predicted) / profile.time_sets)
        found["samples"][count] = {
            "formula": [model.probability(gap, count) if gap else 0.0 for gap in curve],
            "predicted": predicted,
            "sampled": sampled,
            "sigmas": (sampled - predicted) / sigma,
        }
    return found


def times(profile: Profile, runs: Tree) -> Numbers:
    """The distribution of grokking times for N = 2, and the largest distance of samples from it."""
    rng = np.random.default_rng(5)
    found = {}
    for gap in TIME_GAPS:
        sampled = np.sort(model.grokking_times(model.draw_offsets(2, profile.time_sets, rng), gap))
        grid = np.linspace(0, 9, 120)
        share = np.arange(1, len(sampled) + 1) / len(sampled)
        chosen = np.linspace(0, len(sampled) - 1, 400).astype(int)
        distance = np.abs(model.time_distribution(sampled[chosen], gap) - share[chosen]).max()
        edges = np.linspace(0, 9, 37)
        found[gap] = {
            "grid": grid,
            "density": np.gradient(model.time_distribution(grid, gap), grid),
            "edges": edges,
            "histogram": np.histogram(sampled, edges)[0] / len(sampled) / np.diff(edges),
            "count": len(sampled),
            "distance": distance,
            "allowed": 1.63 / np.sqrt(len(sampled)),
            "median": np.median(sampled),
        }
    return {"gaps": found}


def draw_transition(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, height=2.7)
    left, right = panels[0]
    left.plot(n["time"], n["error"], color=SERIES[0], label="formula")
    left.plot(n["time"], n["sampled"], "o", color=SERIES[1], markersize=2.5, label="sampled points")
    style.mark(left, n["zero_time"], "$t_\\epsilon$")
    left.set(xlabel="time t", ylabel="test error E")
    left.legend(loc="lower left")
    right.loglog(n["distance"], n["near"], color=SERIES[0], label=f"formula, slope {n['exponent']:.3f}")
    right.loglog(n["distance"], n["linear"], color=GRAY, linestyle="--", label="to first order")
    right.set(xlabel="$t_\\epsilon - t$", ylabel="test error E")
    right.legend()
    style.letter(panels[0], ("the error vanishes at a finite time", "linearly, ν = 1"))
    style.note(figure, f"ε = {GAP:g}, mean offset {END:g}, b(0) = {START:g}, no regularization")
    return figure


def draw_probability(n: Numbers) -> Any:
    figure, panels = style.grid(1, 1, style.COLUMN, 2.9)
    panel = panels[0, 0]
    for i, (count, found) in enumerate(n["samples"].items()):
        panel.plot(n["curve"], found["formula"], color=SERIES[i], label=f"N = {count}")
        panel.plot(n["gaps"], found["sampled"], MARKERS[i], color=SERIES[i], fillstyle="none")
    panel.set(xlabel="$\\epsilon_\\lambda = \\epsilon(1 + \\lambda_2) + \\lambda_1$", ylabel="probability of grokking")
    panel.set_ylim(0, 1.03)
    panel.legend(loc="lower right")
    style.note(figure, "lines: formula; marks: sampled training sets of N points in each class")
    return figure


def draw_times(n: Numbers) -> Any:
    figure, panels = style.grid(1, 1, style.COLUMN, 2.9)
    panel = panels[0, 0]
    for i, (gap, found) in enumerate(n["gaps"].items()):
        panel.stairs(found["histogram"], found["edges"], color=SERIES[i], fill=True, alpha=0.25)
        panel.plot(found["grid"], found["density"], color=SERIES[i], label=f"$\\epsilon_\\lambda$ = {gap}")
    panel.set(xlabel="grokking time $t_G$", ylabel="density", xlim=(0, 9), ylim=(0, 1.05))
    panel.legend()
    style.note(figure, "N = 2; lines: formula; filled: sampled training sets")
    return figure


STUDIES = (
    Study(
        "fig3",
        "The test error vanishes at a finite time",
        "One number b separates two classes of points with a gap of 2ε between them. Under gradient flow b approaches "
        "its end exponentially, and the test error is exactly zero from the moment it enters the gap: a transition "
        "with exponent 1.",
        transition,
        draw=draw_transition,
    ),
    Study(
        "fig4",
        "Probability of grokking in one dimension",
        "Whether the test error ever vanishes depends on the training points drawn. Regularization widens the gap to "
        "ε(1 + λ2) + λ1 and makes it more likely; so do more points.",
        probability,
        draw=draw_probability,
    ),
    Study(
        "fig5",
        "Grokking times in one dimension",
        "Time from zero training error to zero test error, over training sets of two points in each class that grok. "
        "The smaller the gap, the longer the delay; the mode moves as the logarithm of 1/ε.",
        times,
        draw=draw_times,
    ),
)
