"""Sections 1, 2 and 4.2: the critical fraction against the budget of steps, from runs that are trained for long."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.experiments.sweeps.trends import clearly_below
from modgrok.palette import MARKERS, SERIES
from modgrok.reproduce.figures import LINES, legend_above, modular, seeds, step_axis, time_curve
from modgrok.reproduce.form import BEYOND, Ask, Runs, Settings, Sizes, Table, runs, study
from modgrok.reproduce.gromov2023.search import ADAMW_DECAY, until_grokked
from modgrok.reproduce.gromov2023.sizes import budgets, natural_rate
from modgrok.reproduce.transitions import bars, show_budgets, transitions, within
from modgrok.text import count, number, percent

RATES = {"adam": (0.1, 1.0, 5.0), "adamw": (0.1, 1.0)}
"""In units of the rate from which they are searched. Adam's fastest rates with few data are the largest."""
EVALUATIONS = 200
POINTS = 25
"""Budgets at which the curves of the figure are computed."""
SLOWER = 2
"""How many times longer than with most data grokking takes just above the critical fraction, at least."""
NEAR = 0.2
"""α at which the paper leaves open whether gradient descent groks."""


def ways(s: Sizes) -> dict[str, Settings]:
    """Gradient descent, and Adam without and with weight decay at small and at large rates."""
    rate = natural_rate(s.search_descent, s.sweep_modulus, s.sweep_width)
    found: dict[str, Settings] = {"GD": {"optimizer": "gd", "lr": rate}}
    for optimizer, name, more in (("adam", "Adam", {}), ("adamw", "AdamW", {"weight_decay": ADAMW_DECAY})):
        for lr in (rate * s.search_adaptive for rate in RATES[optimizer]):
            found[f"{name}, rate {number(lr)}"] = {"optimizer": optimizer, "lr": lr, **more}
    return found


def long_runs(s: Sizes) -> Runs:
    long = runs(until_grokked(s, s.long_steps, EVALUATIONS), way=ways(s), fraction=[*s.long_fractions])
    longest = runs(until_grokked(s, s.longest_steps, EVALUATIONS) | ways(s)["GD"], fraction=[*s.longest_fractions])
    return (long.tag(part="long") + longest.tag(part="longest")).but(seed=range(s.long_seeds)).fresh_seeds()


def progress(run: Run) -> dict[str, float]:
    """Test accuracy at a tenth of the steps, at half of them and at the end."""
    step, accuracy = run.history["step"], run.history["test_accuracy"]
    found = np.interp(np.array([0.1, 0.5, 1]) * int(step[-1]), step, accuracy)
    return dict(zip(("tenth", "half", "end"), found, strict=True))


def within_budgets(s: Sizes, t: Table) -> dict[str, Any]:
    shown = np.unique(np.geomspace(s.long_steps / 100, s.long_steps, POINTS).round().astype(int)).tolist()
    long = t.where(part="long")
    return {"critical": within(long, budgets(s.long_steps), "way"), "curves": within(long, shown, "way")}


critical = study(
    "critical",
    "Critical fraction against budget",
    "The share of the table with which half of the runs grok within T steps, for plain gradient descent, Adam without "
    "and AdamW with weight decay at small and at large rates, each trained to the last of these budgets.",
    runs=long_runs,
    keep={"long": "grokked_at", "longest": ("grokked_at", progress)},
    also=within_budgets,
    beyond=True,
)


@critical.figure("the critical fraction falls with patience", "grokking time", height=3.4)
def patience(t: Table, left: Any, right: Any) -> str:
    t = t.where(part="long")
    curves, fractions, steps = transitions(t, "curves").by("way"), t["fraction"], t.one("steps")
    T = np.array(next(iter(curves.values()))["budget"])
    left.set(xscale="log", xlim=(T[0], T[-1]))
    for i, (way, found) in enumerate(curves.items()):
        middle, (below, above) = bars(found["alpha"])
        left.plot(T, middle, color=SERIES[i], marker=MARKERS[i], ls=LINES[i % len(LINES)], markevery=4)
        low, high = np.array(middle) - below, np.array(middle) + above
        left.fill_between(T, low, high, where=np.isfinite(middle), color=SERIES[i], alpha=0.15, linewidth=0)
        time_curve(right, t.where(way=way), "fraction", i, way)
    left.set(ylim=(min(fractions) - 0.03, max(fractions) + 0.03))
    left.set(xlabel="budget of steps, T", ylabel=r"critical fraction $\alpha_c(T)$")
    step_axis(right, steps, len(curves))
    right.margins(x=0.06)
    right.set(xlabel="fraction of the pairs trained on, α", ylabel="steps until test accuracy ≥ 99 %")
    legend_above(right.figure, [right], 5)
    sizes = f"{modular(t)}, N = {t.one('width')}, {seeds(t)}"
    return f"{sizes}; (a) with 95 % intervals, (b) median and range, × most do not grok within {count(steps)} steps"


@critical.claim("1, 2, 4.2 (Fig. 3a)")
def critical_fraction(t: Table, ask: Ask) -> None:
    """Grokking needs a minimal share of data, and takes longest just above it."""
    rows = transitions(t)
    found = {way: some["alpha"] for way, some in rows.by("way").items()}
    medians = {
        way: some.median("grokked_at", "fraction").known().y for way, some in t.where(part="long").by("way").items()
    }
    slowing = {way: times[0] / times[-1] for way, times in medians.items() if times}
    ask.that(
        "at the largest budget α_c of GD, Adam and AdamW lies inside the fractions tried",
        all(alpha[-1].critical is not None for alpha in found.values()),
    )
    ask.that(
        f"for each of them the median time at the smallest α that groks is at least {SLOWER} times that at the largest",
        all(slowing.get(way, 0) >= SLOWER for way in found),
    )
    ask.remark(
        "α_c of each is the same at the smallest and the largest budget, within the 95 % interval of the difference",
        not any(clearly_below(alpha[-1], alpha[0]) for alpha in found.values()),
    )
    ask.show({f"time just above α_c / with most data, {way}": ratio for way, ratio in slowing.items()})
    show_budgets(ask, rows)
    ask.show({"p": str(t.one("modulus"))})


@critical.claim("4.2")
def adamw_fraction(t: Table, ask: Ask) -> None:
    """AdamW is more data-efficient than gradient descent."""
    rows = transitions(t)
    cells = rows.by("way")
    found = [way for way in cells if way.startswith("AdamW")]
    lower = [[*map(clearly_below, cells[way]["alpha"], cells["GD"]["alpha"])] for way in found]
    ask.that(
        "at the largest budget α_c of AdamW is below that of GD at some rate, beyond the 95 % interval of the "
        "difference",
        any(one[-1] for one in lower),
    )
    ask.remark("at every budget and rate", all(map(all, lower)))
    show_budgets(ask, rows, ("GD", *found))


@critical.claim(BEYOND)
def adam_needs_more(t: Table, ask: Ask) -> None:
    """Without weight decay Adam needs more data than plain gradient descent."""
    rows = transitions(t)
    last = {way: some["alpha"][-1] for way, some in rows.by("way").items()}
    found = [way for way in last if way.startswith("Adam,")]
    for way in found:
        ask.that(
            f"at the largest budget α_c of {way}, is above that of GD, beyond the 95 % interval of the difference",
            clearly_below(last["GD"], last[way]),
            f"{last[way]} against {last['GD']}",
        )
    show_budgets(ask, rows, ("GD", *found))


@critical.claim("4.2")
def very_long(t: Table, ask: Ask) -> None:
    """For α near 0.2 gradient descent groks too, after an extremely long time."""
    cells = t.where(part="longest").by("fraction")
    ask.possible(f"plain GD is trained for very long at α = {NEAR}, which the paper names for p = 97", NEAR in cells)
    near = cells[NEAR]
    grokked = len(near["grokked_at"].known())
    ask.show({f"grokking step at α = {a}": cell["grokked_at"] for a, cell in cells.items()})
    for name, words in (("tenth", "after a tenth of the steps"), ("half", "after half"), ("end", "at the end")):
        ask.show({f"test accuracy at α = {NEAR} {words}": near[name]}, percent)
    ask.show({"steps": count(near.one("steps"))})
    ask.possible(
        "some run groks or no test accuracy rises by more than 0.01 in the second half, for the paper names no number "
        "of steps",
        grokked or not any(near.each(lambda r: r.end > r.half + 0.01)),
    )
    ask.that(f"some run of plain GD at α = {NEAR} groks within the longest training", grokked)
    ask.remark("all of them do", grokked == len(near))
