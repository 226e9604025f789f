"""The critical fraction against the budget of steps, from runs that are trained for long (sections 1, 2, 4.2; Fig. 3a),
and as a measure of how complex a function is (section 5.2)."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.experiments.sweeps.trends import clearly_below
from modgrok.palette import SERIES
from modgrok.plot import style
from modgrok.reproduce.figures import legend_above, modular, seeds, series_look, step_axis, time_curve
from modgrok.reproduce.form import BEYOND, Ask, Runs, Settings, Sizes, Table, runs, study
from modgrok.reproduce.gromov2023.search import until_grokked
from modgrok.reproduce.gromov2023.sizes import USUAL_DECAY, budgets, natural_rate
from modgrok.reproduce.transitions import bars, error_bars, show_budgets, transitions, within
from modgrok.text import count, number, percent

RATES = {"Adam": (0.1, 1.0, 5.0), "AdamW": (0.1, 1.0)}
"""In units of the rate from which they are searched. Adam's fastest rates with few data are the largest."""
SLOWER = 2
"""How many times longer than with most data grokking takes just above the critical fraction, at least."""
NEAR = 0.2
"""α at which the paper leaves open whether gradient descent groks."""
EASY = ("n + m", "n - m", "n^2 + m^2", "n^3 + 2*m", "(n + m)^2", "n*m")
"""F(f1(n) + f2(m)) and a product: what the paper's network learns easily."""
HARD = ("n^2 + m^2 + n*m", "n^2*m + n", "n^3 + n*m^2 + m")
"""Sums and products mixed, which are not of that form."""


def ways(s: Sizes) -> dict[str, Settings]:
    """Gradient descent, and Adam without and with weight decay at small and at large rates."""
    rate = natural_rate(s.search_descent, s.sweep_modulus, s.sweep_width)
    found: dict[str, Settings] = {"GD": {"optimizer": "gd", "lr": rate}}
    for name, more in (("Adam", {}), ("AdamW", {"weight_decay": USUAL_DECAY})):
        for lr in (rate * s.search_adaptive for rate in RATES[name]):
            found[f"{name}, rate {number(lr)}"] = {"optimizer": name.lower(), "lr": lr, **more}
    return found


def long_runs(s: Sizes) -> Runs:
    long = runs(until_grokked(s, s.long_steps, 200), way=ways(s), fraction=[*s.long_fractions])
    longest = runs(until_grokked(s, s.longest_steps, 200) | ways(s)["GD"], fraction=[*s.longest_fractions])
    return (long.tag(part="long") + longest.tag(part="longest")).but(seed=range(s.long_seeds)).fresh_seeds()


def progress(run: Run) -> dict[str, float]:
    """Test accuracy at a tenth of the steps, at half of them and at the end."""
    step, accuracy = run.history["step"], run.history["test_accuracy"]
    found = np.interp(np.array([0.1, 0.5, 1]) * int(step[-1]), step, accuracy)
    return dict(zip(("tenth", "half", "end"), found, strict=True))


def within_budgets(s: Sizes, t: Table) -> dict[str, Any]:
    shown = np.unique(np.geomspace(s.long_steps / 100, s.long_steps, 25).round().astype(int)).tolist()
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
    for i, (way, found) in enumerate(curves.items()):
        middle, (below, above) = bars(found["alpha"])
        left.plot(T, middle, markevery=4, **series_look(i))
        low, high = np.array(middle) - below, np.array(middle) + above
        left.fill_between(T, low, high, where=np.isfinite(middle), color=SERIES[i], alpha=0.15, linewidth=0)
        time_curve(right, t.where(way=way), "fraction", i, way)
    left.set(xscale="log", xlim=(T[0], T[-1]), ylim=(min(fractions) - 0.03, max(fractions) + 0.03))
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
    cells = t.where(part="long").by("way")
    medians = {way: some.median("grokked_at", "fraction").known().y for way, some in cells.items()}
    slowing = {way: times[0] / times[-1] for way, times in medians.items() if times}
    inside = all(alpha[-1].critical is not None for alpha in found.values())
    ask.that("at the largest budget α_c of GD, Adam and AdamW lies inside the fractions tried", inside)
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


def near_their_fractions(s: Sizes) -> Runs:
    """Both kinds under gradient descent with equal settings, each at fractions where it may begin to be learned."""
    settings = s.complexity.gd(s.sweep_modulus, s.mixed_width, 0.5) | {"until": 0}
    easy = runs(settings, task=[*EASY], fraction=[*s.easy_fractions])
    hard = runs(settings, task=[*HARD], fraction=[*s.hard_function_fractions])
    return (easy + hard).but(seed=range(s.complexity_seeds)).fresh_seeds()


complexity = study(
    "complexity",
    "Critical fractions of functions",
    "The share of the table from which a function is learned within the same steps of gradient descent. Arrows: none "
    "of the fractions tried is enough, or all are.",
    runs=near_their_fractions,
    keep="grokked_at",
    also=lambda s, t: {"critical": within(t, [s.complexity.steps], "task")},
)


@complexity.figure(beyond=True, width=style.COLUMN, height=2.8)
def fractions_by_function(t: Table, panel: Any) -> str:
    rows = transitions(t)
    kinds = {"F(f1(n) + f2(m)) and nm": EASY, "sums and products mixed": HARD}
    for i, (label, names) in enumerate(kinds.items()):
        places = [place for place, row in enumerate(rows) if row.task in names]
        error_bars(panel, places, rows.where(task=names)["alpha"], i, label, lying=True)
    panel.set_yticks(range(len(rows)), [row.task.replace("*", "·") for row in rows])
    panel.invert_yaxis()
    panel.set(xlabel=r"critical fraction $\alpha_c$", ylabel="function", xlim=(0, 1.04))
    panel.legend(loc="center right", fontsize=6)
    sizes = f"mod {t.one('modulus')}, N = {t.one('width')}, plain GD, {count(t.one('steps'))} steps"
    return f"{sizes}; 95 % intervals from {seeds(t)} at each α"


@complexity.claim("5.2")
def complexity_by_data(t: Table, ask: Ask) -> None:
    """The data that a function needs, α_c, measures its complexity: less for easy functions than for hard ones."""
    alpha = {row.task: row.alpha for row in transitions(t)}
    ask.show({f"α_c, {text}": str(one) for text, one in alpha.items()})
    known = all(alpha[text].high is not None for text in EASY)
    ask.possible("some fraction tried is enough for each function F(f1(n) + f2(m)) and for nm", known)
    ask.that(
        "at equal settings and steps of gradient descent α_c of each function F(f1(n) + f2(m)) and of nm is below that "
        "of every mixed one, beyond the 95 % interval, where one that no fraction teaches counts as above all",
        all(clearly_below(alpha[a], alpha[b]) for a in EASY for b in HARD),
    )
    known = all(alpha[text].high is not None for text in HARD)
    ask.remark("some fraction tried is enough for each mixed function", known)
    first, *rest = EASY
    apart = [a for a in rest if clearly_below(alpha[first], alpha[a]) or clearly_below(alpha[a], alpha[first])]
    ask.show({f"easy functions whose α_c differs from that of {first}": ", ".join(apart) or "none"})
