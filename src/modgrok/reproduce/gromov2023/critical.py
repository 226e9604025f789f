"""The critical fraction against the budget of steps, from runs that are trained for long: α_c(T)."""

from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.palette import MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.gromov2023.profile import Profile, natural_unit
from modgrok.reproduce.gromov2023.times import LINES, draw_times, step_axis, summary
from modgrok.reproduce.gromov2023.transitions import bars, known, transitions_of_budgets
from modgrok.reproduce.gromov2023.tuning import ADAMW_DECAY, trial_run
from modgrok.reproduce.nested import Numbers, Study, Tree, results
from modgrok.text import count, number

ADAM_RATES, ADAMW_RATES = (0.1, 1.0, 5.0), (0.1, 1.0)
"""In units of the rate from which they are searched. Adam's fastest rates with few data are the largest."""
EVALUATIONS = 200
POINTS = 25
"""Budgets at which the curves of the figure are computed."""


def contestants(profile: Profile) -> dict[str, dict[str, Any]]:
    """Gradient descent, and Adam without and with weight decay at small and at large rates."""
    large = profile.search.adaptive
    rate = profile.search.descent * natural_unit(profile.sweep_modulus, profile.sweep_width)
    found: dict[str, dict[str, Any]] = {"GD": {"optimizer": "gd", "lr": float(f"{rate:.4g}")}}
    for lr in (rate * large for rate in ADAM_RATES):
        found[f"Adam, rate {number(lr)}"] = {"optimizer": "adam", "lr": lr}
    for lr in (rate * large for rate in ADAMW_RATES):
        found[f"AdamW, rate {number(lr)}"] = {"optimizer": "adamw", "lr": lr, "weight_decay": ADAMW_DECAY}
    return found


def long_run(profile: Profile, settings: dict[str, Any], fraction: float, seed: int, steps: int) -> Experiment:
    return trial_run(profile, settings, fraction, seed, steps=steps, evaluations=EVALUATIONS)


def experiments(profile: Profile) -> Tree:
    search = profile.search
    descent = contestants(profile)["GD"]
    return {
        "long": {
            name: [
                [long_run(profile, settings, a, seed, search.long_steps) for seed in range(search.long_seeds)]
                for a in search.long_fractions
            ]
            for name, settings in contestants(profile).items()
        },
        "longest": [
            [long_run(profile, descent, a, seed, search.longest_steps) for seed in range(search.long_seeds)]
            for a in search.longest_fractions
        ],
    }


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Grokking times by optimizer, fraction and seed, α_c for every budget; gradient descent for longest."""
    search, times = profile.search, results(runs["long"], "grokked_at")
    fractions, budgets = search.long_fractions, search.budgets(search.long_steps)
    shown = np.unique(np.geomspace(search.long_steps / 100, search.long_steps, POINTS).round().astype(int)).tolist()
    return {
        "modulus": profile.sweep_modulus,
        "width": profile.sweep_width,
        "seeds": search.long_seeds,
        "steps": search.long_steps,
        "settings": contestants(profile),
        "fractions": fractions,
        "times": times,
        "summary": {name: summary(cells) for name, cells in times.items()},
        "test_accuracy": results(runs["long"], "test_accuracy"),
        "budgets": budgets,
        "critical": {name: transitions_of_budgets(fractions, cells, budgets) for name, cells in times.items()},
        "curve_budgets": shown,
        "curves": {name: transitions_of_budgets(fractions, cells, shown) for name, cells in times.items()},
        "longest": {
            "fractions": search.longest_fractions,
            "steps": search.longest_steps,
            "times": results(runs["longest"], "grokked_at"),
            "memorized_at": results(runs["longest"], "memorized_at"),
            "accuracy": [[_progress(run) for run in cell] for cell in runs["longest"]],
        },
    }


def _progress(run: Run) -> dict[str, float]:
    """Test accuracy at a tenth of the steps, at half of them and at the end."""
    step, accuracy = run.history["step"], run.history["test_accuracy"]
    last = int(step[-1])
    return {
        name: float(np.interp(at * last, step, accuracy)) for name, at in (("tenth", 0.1), ("half", 0.5), ("end", 1))
    }


def draw(n: Numbers) -> Any:
    figure, (panels,) = style.grid(1, 2, height=3.4)
    left, right = panels
    T = np.array(n["curve_budgets"])
    left.set_xscale("log")
    left.set_xlim(T[0], T[-1])
    for i, (name, found) in enumerate(n["curves"].items()):
        middle, below, above = bars(found)
        left.plot(T, middle, color=SERIES[i], marker=MARKERS[i], ls=LINES[i % len(LINES)], markevery=4)
        inside = np.array([known(one) for one in found])
        low, high = np.array(middle) - below, np.array(middle) + above
        left.fill_between(T, low, high, where=inside, color=SERIES[i], alpha=0.15, linewidth=0)
        draw_times(right, n["fractions"], n["summary"][name], i, name)
    left.set_ylim(n["fractions"][0] - 0.03, n["fractions"][-1] + 0.03)
    left.set_xlabel("budget of steps, T")
    left.set_ylabel(r"critical fraction $\alpha_c(T)$")
    step_axis(right, n["steps"], len(n["curves"]))
    right.margins(x=0.06)
    right.set_xlabel("fraction of the pairs trained on, α")
    right.set_ylabel("steps until test accuracy ≥ 99 %")
    style.letter(panels, ("the critical fraction falls with patience", "grokking time"))
    handles, labels = right.get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=6.5, ncols=5, loc="outside upper center")
    style.note(
        figure,
        f"n + m mod {n['modulus']}, N = {n['width']}, {n['seeds']} seeds; (a) with 95 % intervals, (b) median and "
        f"range, × most do not grok within {count(n['steps'])} steps",
    )
    return figure


STUDY = Study(
    "critical",
    "Critical fraction against budget",
    "The share of the table with which half of the runs grok within T steps, for plain gradient descent, Adam without "
    "and AdamW with weight decay at small and at large rates, each trained to the last of these budgets.",
    numbers,
    experiments,
    draw,
    beyond=True,
)
