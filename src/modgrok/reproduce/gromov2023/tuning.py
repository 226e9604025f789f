"""Sections 1, 2 and 4 (Fig. 3a): optimizers and regularizers, each at its best of equally many trials."""

import math
from collections.abc import Iterable
from itertools import product
from statistics import median_high
from typing import Any

import numpy as np

from modgrok.experiments.sweeps.trends import clearly_below
from modgrok.measures.samples import first_times
from modgrok.plot import style
from modgrok.reproduce.figures import legend_above, modular, seeds, series_look, step_axis, time_curve
from modgrok.reproduce.form import Ask, Line, Table, rounded, study
from modgrok.reproduce.gromov2023 import search
from modgrok.reproduce.gromov2023.sizes import budgets
from modgrok.reproduce.transitions import error_bars, show_budgets, transitions, within
from modgrok.text import count, number, spread

MOMENTUM = 0.9
MAJOR = 1.5
"""How many times faster is a major role."""
ALIKE = 1.25
"""Times within this factor are alike at equal effective rates."""
CLEAR_SEEDS = 8
"""With fewer at each α, differences of critical fractions clear zero by less than the step from one α to the next."""
COLUMNS = {
    "following the gradient": ("GD", "GD + weight decay", "GD + dropout", "GD + batch norm"),
    "with momentum": ("GD", "momentum", "momentum + weight decay"),
    "Adam and AdamW": ("Adam", "AdamW"),
}


TRIED: Any = {
    "keep": "grokked_at",
    "also": lambda s, t: {"critical": within(search.tuned(t, first_times), budgets(s.search_steps), "way")},
    "beyond": True,
}
tuning = study(
    "tuning",
    "Time against rate",
    "Every optimizer of figure 3a searched with equally many trials: a grid of rates, or of fewer rates and the "
    "strengths of its regularizer, the same steps and seeds for all. Above with plenty of data, below with "
    "little. Plain gradient descent stands beside momentum 0.9, whose effective rate is ten times its rate.",
    runs=search.searched,
    **TRIED,
)
near = study(
    "near_critical",
    "Data that optimizers need",
    "The same search with the same trials at fractions near the critical one, with more seeds: the fraction from which "
    "half of the seeds grok, in any of the trials, within three budgets.",
    runs=lambda s: search.searched(s, s.near_fractions, s.near_seeds),
    **TRIED,
)


def shown_fractions(fractions: list[float]) -> tuple[float, float]:
    """The two fractions at which time is drawn against rate: one with plenty of data, one with little."""
    many = len(fractions) > 4
    return fractions[len(fractions) - 1 - many], fractions[(len(fractions) - 1) // 2 - many]


@tuning.figure(rows=2, columns=3, height=5.0, sharex="col")
def times_and_rates(t: Table, *grid: Any) -> str:
    ways, steps = t["way"].distinct(), t.one("steps")
    for row, a in zip((grid[:3], grid[3:]), shown_fractions(t["fraction"].distinct()), strict=True):
        for panel, (title, members) in zip(row, COLUMNS.items(), strict=True):
            for i, way in enumerate(members):
                rates = t.where(way=way, fraction=a).by("lr").values()
                best = Table(one for cell in rates for one in search.fastest(cell))
                time_curve(panel, best, "lr", ways.index(way), way, i)
            panel.set_xscale("log")
            step_axis(panel, steps, len(members), named=False)
            panel.set_title(f"{title}, α = {number(a)}")
            panel.set_ylabel("steps until test accuracy ≥ 99 %", fontsize=7)
    legend_above(grid[0].figure, grid[:3], 4)
    for panel in grid[3:]:
        panel.set_xlabel("learning rate")
    drawn = f"median and range of {seeds(t)}, of the strengths of a regularizer the fastest"
    never = f"× most seeds do not grok within {count(steps)} steps"
    return f"{modular(t)}, N = {t.one('width')}; {drawn}; {never}"


def _sizes(t: Table) -> str:
    return f"{modular(t)}, N = {t.one('width')}, {seeds(t)}, {len(t['trial'].distinct())} trials for each"


@near.figure(width=style.COLUMN, height=3.7)
def data_needed(t: Table, panel: Any) -> str:
    rows = transitions(t)
    places: Any = np.arange(len(rows["way"].distinct()))
    for i, (budget, cell) in enumerate(rows.by("budget").items()):
        error_bars(panel, places + 0.22 * (i - 1), cell["alpha"], i, f"T = {count(budget)}", lying=True)
    panel.set_yticks(places, rows["way"].distinct())
    panel.set(ylim=(len(places) - 0.5, -0.5), ylabel="optimizer", xlabel=r"critical fraction $\alpha_c(T)$")
    legend_above(panel.figure, [panel], 3)
    return f"{_sizes(t)}; 95 % intervals, arrows where all or none of the runs grok"


@tuning.figure(
    title="What regularizers do",
    caption="Weight decay, dropout and batch norm beside the same optimizer without them, each at every share of the "
    "table with the settings that are fastest there of equally many that were tried: the ratio of the steps; below one "
    "the regularizer is faster.",
    name="regularizers",
    width=style.COLUMN,
    height=3.7,
)
def with_and_without(t: Table, left: Any) -> str:
    medians, fractions = search.medians(t), t["fraction"].distinct()
    for i, (way, base) in enumerate(search.REGULARIZED.items()):
        found = search.ratios(medians, way, base)
        ratios = np.array(rounded([found.get(a) for a in fractions]), float)
        left.plot(fractions, ratios, label=f"{way} / {base}", **series_look(i))
    left.axhline(1, color="black", lw=0.7, ls=":")
    left.set_yscale("log")
    for set_formatter in (left.yaxis.set_major_formatter, left.yaxis.set_minor_formatter):
        set_formatter(lambda value, _: number(value) if f"{value:.0e}"[0] in "125" else "")
    left.margins(x=0.06)
    left.set(xlabel="fraction of the pairs trained on, α", ylabel="steps with / without")
    legend_above(left.figure, [left], 2)
    return _sizes(t)


def _faster(found: dict[str, Line], name: str, base: str) -> tuple[list[float], list[float]]:
    """Fractions at which the first contestant groks in fewer steps or alone, and those at which any of both groks."""
    steps, other = found[name].known(), found[base].known()
    return [a for a in steps if a not in other or steps[a] < other[a]], sorted({*steps, *other})


def _range(values: Iterable[float]) -> str:
    return spread(found, over="fraction") if (found := [*values]) else "–"


def _at_edge(t: Table, way: str) -> int:
    """At how many α the best rate is the largest or smallest that was tried."""
    tried = t.where(way=way)["lr"]
    edges = {min(tried), max(tried)} if len(tried.distinct()) > 1 else set()
    return sum(rate in edges for rate in search.best_rates(t, way).values())


def _show_search(ask: Ask, t: Table, ways: Iterable[str]) -> None:
    """What the search was, and where its best rates lie."""
    outermost, total = {way: _at_edge(t, way) for way in ways}, len(t["fraction"].distinct())
    edges = ", ".join(f"{way} at {times} of {total} α" for way, times in outermost.items() if times)
    trials = count(len(t["trial"].distinct()), "trial")
    sizes = f"{count(t.one('steps'))} steps, {seeds(t)}, p = {t.one('modulus')}"
    ask.show({"search": f"{trials} for each at every α, {sizes}"})
    ask.show({"best rate is the largest or smallest tried": edges or "nowhere"})


@tuning.claim("4.1 (Fig. 3a)")
def momentum(t: Table, ask: Ask) -> None:
    """Momentum plays a major role in shortening the time to grokking."""
    ratios = search.ratios(search.medians(t), "momentum", "GD")
    major = [ratio <= 1 / MAJOR for ratio in ratios.values()]
    ask.that(
        f"each at its best, momentum takes at most 1/{MAJOR} of GD's median steps at more than half of the α where "
        "both grok",
        2 * sum(major) > len(ratios),
    )
    ask.remark("at all of them", all(major))
    plain, heavy = (t.where(way=way).by("lr") for way in ("GD", "momentum"))
    alike = [
        {"GD": plain[rate].median("grokked_at", "fraction"), "momentum": heavy[lr].median("grokked_at", "fraction")}
        for rate, lr in product(plain, heavy)
        if math.isclose(lr, (1 - MOMENTUM) * rate, rel_tol=1e-2)
    ]
    equal = [ratio for pair in alike for ratio in search.ratios(pair, "momentum", "GD").values()]
    ask.remark(
        "momentum gives more than a larger stable rate (at equal effective rate lr/(1 − β) the median ratio of the "
        f"steps is outside 1/{ALIKE} to {ALIKE})",
        not equal or not 1 / ALIKE <= median_high(equal) <= ALIKE,
    )
    ask.show({f"steps of momentum / GD at α = {a}": ratio for a, ratio in ratios.items()})
    ask.show({"the same at equal effective rate": _range(equal)})
    _show_search(ask, t, ("GD", "momentum"))


@tuning.claim("4.1 (Fig. 3a)")
def momentum_fraction(t: Table, ask: Ask) -> None:
    """Momentum plays a major role in lowering the fraction of data that is needed."""
    _less_data(t, ask, "momentum", "momentum")


def _less_data(t: Table, ask: Ask, name: str, way: str, *beside: str) -> None:
    rows, shown = transitions(t), ("GD", way, *beside)
    cells = rows.by("way")
    lower = [*map(clearly_below, cells[way]["alpha"], cells["GD"]["alpha"])]
    ask.that(
        f"at the largest budget α_c of {name}, of the seeds that grok in any of equally many trials, is below that of "
        "GD, beyond the 95 % interval of the difference",
        lower[-1],
        f"{cells[way]['alpha'][-1]} against {cells['GD']['alpha'][-1]}",
    )
    ask.remark("at every budget", all(lower))
    show_budgets(ask, rows, shown)
    _show_search(ask, t, shown)


@tuning.claim("2, 4.2 (Fig. 3a)")
def adaptive_time(t: Table, ask: Ask) -> None:
    """Adaptive optimizers grok in fewer steps."""
    medians = search.medians(t)
    found = {way: _faster(medians, way, "GD") for way in ("Adam", "AdamW")}
    ask.that(
        "each at its best, Adam and AdamW both take fewer median steps than GD, or grok alone, at more than half of "
        "the α where either groks",
        all(2 * len(won) > len(known) for won, known in found.values()),
    )
    slower = [f"{way} at α = {number(a)}" for way, (won, known) in found.items() for a in known if a not in won]
    ask.remark("both at all of them", not slower, f"not {', '.join(slower)}" if slower else None)
    for way in found:
        ask.show({f"steps of {way} / GD": _range(search.ratios(medians, way, "GD").values())})
    _show_search(ask, t, ("GD", "Adam", "AdamW"))


@near.claim("2 (Fig. 3a)")
def adaptive_fraction(t: Table, ask: Ask) -> None:
    """Adaptive optimizers let grokking happen with less data."""
    ask.budget(t, "effect", seeds=CLEAR_SEEDS)
    _less_data(t, ask, "Adam without weight decay", "Adam", "AdamW")
    rates = ", ".join(f"{number(rate)} at α = {a}" for a, rate in search.best_rates(t, "Adam").items())
    ask.show({"best rates of Adam, from little data to much": rates})


@tuning.claim("1, 2 (Fig. 3a)")
def regularization_time(t: Table, ask: Ask) -> None:
    """Regularization makes grokking happen after fewer steps."""
    medians = search.medians(t)
    found = {way: _faster(medians, way, base) for way, base in search.REGULARIZED.items()}
    helps = [way for way, (won, known) in found.items() if 2 * len(won) > len(known)]
    ask.that(
        "at least half of the regularizers, each at its best against the same optimizer without it at its best, take "
        "fewer median steps, or grok alone, at more than half of the α where either groks",
        2 * len(helps) >= len(found),
    )
    for (way, base), (won, known) in zip(search.REGULARIZED.items(), found.values(), strict=True):
        ratio = _range(search.ratios(medians, way, base).values())
        said = f"faster at {len(won)} of {len(known)} α; ratio of steps {ratio}"
        ask.remark(f"{way} is faster than {base} at more than half", way in helps, said)
    inside = not any(_at_edge(t, way) for way in helps)
    ask.remark("the best rates of the faster ones lie inside the range tried", inside)
    _show_search(ask, t, search.REGULARIZED)


@near.claim("2, 4.2 (Fig. 3a)")
def lower_fraction(t: Table, ask: Ask) -> None:
    """Regularization lets grokking happen with less data."""
    ask.budget(t, "effect", seeds=CLEAR_SEEDS)
    rows = transitions(t)
    last = {way: cell["alpha"][-1] for way, cell in rows.by("way").items()}
    lower = {way: clearly_below(last[way], last[base]) for way, base in search.REGULARIZED.items()}
    ask.that(
        "at the largest budget at least half of the regularizers have a smaller α_c than the same optimizer without "
        "it, each with equally many trials, beyond the 95 % interval of the difference",
        2 * sum(lower.values()) >= len(lower),
    )
    for way, base in search.REGULARIZED.items():
        ask.remark(f"{way} has a smaller one than {base}", lower[way])
    show_budgets(ask, rows)
    _show_search(ask, t, search.REGULARIZED)


@tuning.claim("1 (Fig. 3)")
def decay_in_adamw(t: Table, ask: Ask) -> None:
    """Weight decay in AdamW is particularly effective in making grokking quick."""
    medians = search.medians(t)
    ratios = search.ratios(medians, "AdamW", "Adam")
    won, known = _faster(medians, "AdamW", "Adam")
    alone = [a for a in won if a not in ratios]
    much = len(alone) + sum(ratio <= 1 / MAJOR for ratio in ratios.values())
    ask.that(
        f"each at its best, AdamW takes at most 1/{MAJOR} of the median steps of Adam without decay, or groks alone, "
        "at some α",
        much,
    )
    ask.remark("at every α where either groks", much == len(known))
    ask.show({f"steps of AdamW / Adam at α = {a}": ratio for a, ratio in ratios.items()})
    ask.show({"AdamW alone groks at α": ", ".join(map(number, alone))} if alone else {})
    _show_search(ask, t, ("Adam", "AdamW"))
