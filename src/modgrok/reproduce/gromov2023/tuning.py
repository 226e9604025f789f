"""Sections 1, 2 and 4 (Fig. 3a): optimizers and regularizers, each at its best of equally many trials."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from modgrok.experiments.sweeps.trends import clearly_below
from modgrok.palette import MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.figures import LINES, legend_above, modular, seeds, step_axis, time_curve
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
    "also": lambda s, t: {"critical": within(search.at_first(t), budgets(s.search_steps), "way")},
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


@tuning.figure()
def times_and_rates(t: Table) -> Any:
    ways, steps = t["way"].distinct(), t.one("steps")
    figure, grid = style.grid(2, 3, height=5.0, sharex="col")
    for row, a in zip(grid, shown_fractions(t["fraction"].distinct()), strict=True):
        for panel, (title, members) in zip(row, COLUMNS.items(), strict=True):
            for i, way in enumerate(members):
                rates = t.where(way=way, fraction=a).by("lr").values()
                best = Table(one for cell in rates for one in search.fastest(cell))
                time_curve(panel, best, "lr", ways.index(way), way, i)
            panel.set_xscale("log")
            step_axis(panel, steps, len(members), named=False)
            panel.set_title(f"{title}, α = {number(a)}")
            panel.set_ylabel("steps until test accuracy ≥ 99 %", fontsize=7)
    legend_above(figure, grid[0], 4)
    for panel in grid[1]:
        panel.set_xlabel("learning rate")
    style.note(
        figure,
        f"{modular(t)}, N = {t.one('width')}; median and range of {seeds(t)}, of the strengths of a "
        f"regularizer the fastest; × most seeds do not grok within {count(steps)} steps",
    )
    return figure


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
        look: Any = {"color": SERIES[i], "marker": MARKERS[i], "ls": LINES[i % len(LINES)]}
        left.plot(fractions, ratios, label=f"{way} / {base}", **look)
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
    steps = {a: [math.inf if y is None else y for y in (found[name][a], found[base][a])] for a in found[base]}
    known = [a for a, both in steps.items() if min(both) < math.inf]
    return [a for a in known if steps[a][0] < steps[a][1]], known


def _range(values: Iterable[float]) -> str:
    return spread(found, over="fraction") if (found := [*values]) else "–"


def _at_edge(t: Table, way: str) -> int:
    """At how many α the best rate is the largest or smallest that was tried."""
    tried = t.where(way=way)["lr"]
    edges = {min(tried), max(tried)} if len(tried.distinct()) > 1 else set()
    return sum(rate in edges for rate in search.best_rates(t, way).values())


def _show_search(ask: Ask, t: Table, ways: Iterable[str]) -> None:
    """What the search was, and where its best rates lie."""
    edges, total = [], len(t["fraction"].distinct())
    for way in ways:
        outermost = _at_edge(t, way)
        edges += [f"{way} at {outermost} of {total} α"] if outermost else []
    trials = count(len(t["trial"].distinct()), "trial")
    sizes = f"{count(t.one('steps'))} steps, {seeds(t)}, p = {t.one('modulus')}"
    ask.show({"search": f"{trials} for each at every α, {sizes}"})
    ask.show({"best rate is the largest or smallest tried": ", ".join(edges) or "nowhere"})


@tuning.claim(
    "4.1 (Fig. 3a)",
    f"each at its best, momentum takes at most 1/{MAJOR} of GD's median steps at every α where both grok; a remark "
    "where that is so at more than half of them, and where at equal effective rate lr/(1 − β) the median ratio of the "
    f"steps is within {ALIKE}",
)
def momentum(t: Table, ask: Ask) -> None:
    """Momentum plays a major role in shortening the time to grokking."""
    ratios = search.ratios(search.medians(t), "momentum", "GD")
    slow = [number(a) for a, ratio in ratios.items() if ratio > 1 / MAJOR]
    by_rate = [
        {rate: cell.median("grokked_at", "fraction").known() for rate, cell in t.where(way=way).by("lr").items()}
        for way in ("GD", "momentum")
    ]
    equal = [
        (heavy[a] / steps, a)
        for rate, plain in by_rate[0].items()
        for other, heavy in by_rate[1].items()
        if math.isclose(other, (1 - MOMENTUM) * rate, rel_tol=1e-2)
        for a, steps in plain.items()
        if a in heavy
    ]
    ask.yes(
        f"Each at its best rate, momentum groks {MAJOR} times faster or more at {len(ratios) - len(slow)} of "
        f"{count(len(ratios), 'value')} of α."
    )
    ask.fault(
        f"Each at its best rate, momentum is not {MAJOR} times as fast as plain GD at most α.",
        2 * len(slow) >= len(ratios),
    )
    ask.note(f"Not at α = {', '.join(slow)}.", slow)
    middle, (most, near) = sorted(equal)[len(equal) // 2][0] if equal else math.inf, max(equal, default=(0.0, 0.0))
    ask.note(
        f"At equal effective rate it is no faster: the ratio of steps is {number(middle)} in the median and up to "
        f"{number(most)} (at α = {number(near)}). What it gives is a larger stable rate.",
        1 / ALIKE <= middle <= ALIKE,
    )
    ask.show({f"steps of momentum / GD at α = {a}": ratio for a, ratio in ratios.items()})
    ask.show({"the same at equal effective rate": _range(ratio for ratio, _ in equal)})
    _show_search(ask, t, ("GD", "momentum"))


@tuning.claim(
    "4.1 (Fig. 3a)",
    "α_c of momentum, of the seeds that grok in any of equally many trials, is below that of GD at the largest budget, "
    "beyond the 95 % interval of the difference; a remark where it is not at every budget",
)
def momentum_fraction(t: Table, ask: Ask) -> None:
    """Momentum plays a major role in lowering the fraction of data that is needed."""
    ask.yes("Each at its best, momentum needs less data than plain GD.")
    rows = transitions(t).by("way")
    signs = {
        f"{count(T)} steps": "less"
        if clearly_below(heavy, plain)
        else "more"
        if clearly_below(plain, heavy)
        else "as much"
        for T, heavy, plain in zip(rows["GD"]["budget"], rows["momentum"]["alpha"], rows["GD"]["alpha"], strict=True)
    }
    said = ", ".join(f"{sign} within {budget}" for budget, sign in signs.items())
    no = f"Data that momentum needs beside plain GD, each at its best: {said}."
    _less_data(t, ask, no, "momentum", ("GD", "momentum"))
    _show_search(ask, t, ("GD", "momentum"))


def _less_data(t: Table, ask: Ask, no: str, way: str, shown: Iterable[str]) -> None:
    rows = transitions(t)
    cells = rows.by("way")
    lower = [*map(clearly_below, cells[way]["alpha"], cells["GD"]["alpha"])]
    ask.fault(no, not lower[-1])
    ask.note("Not within the smaller budgets.", not all(lower))
    show_budgets(ask, rows, shown)


@tuning.claim(
    "2, 4.2 (Fig. 3a)",
    "each at its best, Adam and AdamW both take fewer median steps than GD, or grok alone, at every α where one groks; "
    "a remark where that is so at more than half of them",
)
def adaptive_time(t: Table, ask: Ask) -> None:
    """Adaptive optimizers grok in fewer steps."""
    medians = search.medians(t)
    ask.yes("Each at its best rate, Adam and AdamW grok in fewer steps than plain GD.")
    no = "Each at its best rate, Adam and AdamW do not both grok in fewer steps than plain GD at most α."
    found = {way: _faster(medians, way, "GD") for way in ("Adam", "AdamW")}
    ask.fault(no, any(2 * len(won) <= len(known) for won, known in found.values()))
    for way, (won, known) in found.items():
        slower = ", ".join(number(a) for a in known if a not in won)
        ask.note(f"Not {way} at α = {slower}.", slower)
        ask.show({f"steps of {way} / GD": _range(search.ratios(medians, way, "GD").values())})
    _show_search(ask, t, ("GD", "Adam", "AdamW"))


@near.claim(
    "2 (Fig. 3a)",
    "α_c of Adam without weight decay, of the seeds that grok in any of equally many trials, is below that of GD at "
    "the largest budget, beyond the 95 % interval of the difference; a remark where it is not at every budget. "
    f"Undecided with fewer than {CLEAR_SEEDS} seeds",
)
def adaptive_fraction(t: Table, ask: Ask) -> None:
    """Adaptive optimizers let grokking happen with less data."""
    ask.budget(t, "effect", seeds=CLEAR_SEEDS)
    ask.yes("Each at its best, Adam needs less data than plain GD, without any weight decay.")
    no = "Each at its best, Adam without weight decay does not clearly need less data than plain GD."
    _less_data(t, ask, no, "Adam", ("GD", "Adam", "AdamW"))
    rates = ", ".join(f"{number(rate)} at α = {a}" for a, rate in search.best_rates(t, "Adam").items())
    ask.show({"best rates of Adam, from little data to much": rates})
    _show_search(ask, t, ("GD", "Adam", "AdamW"))


REGULARIZERS = ", ".join(search.REGULARIZED)


@tuning.claim(
    "1, 2 (Fig. 3a)",
    f"of {REGULARIZERS}, each at its best against the same optimizer without it at its best: every one takes fewer "
    "median steps, or groks alone, at more than half of all α where one groks; a remark where at least half of them do",
)
def regularization_time(t: Table, ask: Ask) -> None:
    """Regularization makes grokking happen after fewer steps."""
    medians = search.medians(t)
    found = {way: _faster(medians, way, base) for way, base in search.REGULARIZED.items()}
    helps = [way for way, (won, known) in found.items() if 2 * len(won) > len(known)]
    rest = [way for way in found if way not in helps]
    for (way, base), (won, known) in zip(search.REGULARIZED.items(), found.values(), strict=True):
        ratio = _range(search.ratios(medians, way, base).values())
        ask.show({f"{way} against {base}": f"faster at {len(won)} of {len(known)} α; ratio of steps {ratio}"})
    ask.yes(f"Fewer steps over most of the range of α: {', '.join(helps)}.")
    ask.fault(
        f"Most regularizers do not shorten the time over most of the range of α: {', '.join(rest)}.",
        2 * len(helps) < len(search.REGULARIZED),
    )
    ask.note(f"Not {', '.join(rest)}.", rest)
    edges = ", ".join(way for way in helps if _at_edge(t, way))
    ask.note(f"The best rate of {edges} lies at the edge of what was tried.", edges)
    _show_search(ask, t, search.REGULARIZED)


@near.claim(
    "2, 4.2 (Fig. 3a)",
    f"of {REGULARIZERS}, against the same optimizer without it, each with equally many trials: every one has a smaller "
    "α_c at the largest budget, beyond the 95 % interval of the difference; a remark where at least half of them do. "
    f"Undecided with fewer than {CLEAR_SEEDS} seeds",
)
def lower_fraction(t: Table, ask: Ask) -> None:
    """Regularization lets grokking happen with less data."""
    ask.budget(t, "effect", seeds=CLEAR_SEEDS)
    rows = transitions(t)
    last = {way: cell["alpha"][-1] for way, cell in rows.by("way").items()}
    lower = [way for way, base in search.REGULARIZED.items() if clearly_below(last[way], last[base])]
    rest = ", ".join(way for way in search.REGULARIZED if way not in lower)
    ask.yes(f"Less data is enough with {', '.join(lower)}.")
    ask.fault(
        f"Most regularizers do not clearly lower the critical fraction: {rest}.",
        2 * len(lower) < len(search.REGULARIZED),
    )
    ask.note(f"Not clearly with {rest}.", rest)
    show_budgets(ask, rows)
    _show_search(ask, t, search.REGULARIZED)


@tuning.claim(
    "1 (Fig. 3)",
    f"each at its best, AdamW takes at most 1/{MAJOR} of the median steps of Adam without decay, or groks alone, at "
    "every α where one groks; a remark where that is so at some of them only",
)
def decay_in_adamw(t: Table, ask: Ask) -> None:
    """Weight decay in AdamW is particularly effective in making grokking quick."""
    medians = search.medians(t)
    ratios = search.ratios(medians, "AdamW", "Adam")
    alone = [a for a, steps in medians["AdamW"].known().items() if a not in medians["Adam"].known()]
    much = [a for a in medians["AdamW"] if a in alone or ratios.get(a, math.inf) <= 1 / MAJOR]
    rest = {a: ratio for a, ratio in ratios.items() if a not in much}
    known = sorted({*ratios, *alone, *medians["Adam"].known()})
    ask.yes("AdamW groks much faster than Adam without decay, each at its best rate.")
    ask.fault("Weight decay does not make Adam much faster at any α.", not much)
    ask.note(
        f"Only near the critical fraction, at α = {', '.join(map(number, much))}; elsewhere the ratio of steps is "
        f"{_range(rest.values())}.",
        much and len(much) < len(known),
    )
    ask.show({f"steps of AdamW / Adam at α = {a}": ratio for a, ratio in ratios.items()})
    ask.show({"AdamW alone groks at α": ", ".join(map(number, alone))} if alone else {})
    _show_search(ask, t, ("Adam", "AdamW"))
