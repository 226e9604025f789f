"""The inverse participation ratio beside accuracy under AdamW, in four fitted regimes (section 4.3; Fig. 4)."""

import math
from itertools import pairwise
from typing import Any

from modgrok.closed_form import solve
from modgrok.measures import average_ipr
from modgrok.measures.grokking_events import EARLY, ipr_growth
from modgrok.measures.samples import mean_interval
from modgrok.palette import GRAY, GREEN
from modgrok.plot import curves, style
from modgrok.reproduce.figures import modular
from modgrok.reproduce.form import Ask, Row, Sizes, Table, study
from modgrok.reproduce.form import curves as whole_curves
from modgrok.reproduce.gromov2023.sizes import by_adamw
from modgrok.tasks import task
from modgrok.text import count, number, percent, spread

PIECES = ("(i)", "(ii)", "(iii)", "(iv)")
FRACTIONS = (0.5, 0.8)
"""Less and more data, at which final ratios are compared."""


def closed_form_and_intervals(s: Sizes, t: Table) -> dict[str, Any]:
    closed = solve(task("n + m", s.modulus), "waves", s.width)
    intervals = [mean_interval([bends[i] for bends in t["bends"]]) for i in range(1, len(PIECES))]
    return {"closed_form_ipr": float(average_ipr(closed.w_in).mean), "bend_intervals": intervals}


regimes = study(
    "fig4",
    "How periodic the weights are",
    "The average inverse participation ratio of the first layer's Fourier transform, about 1/p for random weights and "
    "1/4 for a pure real wave in both halves of a row. The dashed line is the closed form. The pieces of the closest "
    "continuous broken line, with breaks at any measured step, are: (i) almost nothing happens, while the training "
    "pairs are learned; (ii) fast growth, which begins before the test accuracy rises and during which the network "
    "groks; (iii) slower growth; (iv) near saturation. The paper's regimes differ: its fast growth starts after "
    "grokking.",
    runs=lambda s: by_adamw(s, s.adamw),
    keep=(whole_curves("ipr", "train_accuracy", "test_accuracy"), "grokked_at", ipr_growth),
    also=closed_form_and_intervals,
)
more_data = study(
    "more_data",
    "Periodicity and data",
    "The inverse participation ratio at the end of training from half and from four fifths of the table.",
    runs=lambda s: by_adamw(s, s.adamw, fraction=[*FRACTIONS]),
    keep="ipr",
)


@regimes.figure(
    "inverse participation ratio of $W^{(1)}$, and the closest line of four pieces",
    "accuracy",
    rows=2,
    height=4.5,
    sharex=True,
    height_ratios=(1.6, 1),
)
def ratio_and_accuracy(t: Table, above: Any, below: Any) -> str:
    first = t.first
    curves([vars(row) for row in t], "ipr", linear=math.inf, ax=above, label="network")
    curves([vars(row) for row in t], linear=math.inf, ax=below)
    above.plot(first.bends, first.bend_values, color="black", linewidth=0.9, marker=".", label="four pieces", zorder=1)
    above.axhline(first.closed_form_ipr, color=GREEN, linestyle="--", label="closed form")
    for name, (left, right) in zip(PIECES, pairwise(first.bends), strict=True):
        where: Any = {"xycoords": ("data", "axes fraction"), "ha": "center", "color": GRAY}
        above.annotate(name, ((left + right) / 2, 0.86), **where)
    for bend, interval in zip(first.bends[1:-1], first.bend_intervals, strict=True):
        for panel in (above, below):
            style.mark(panel, bend)
            if interval is not None:
                panel.axvspan(*interval, color=GRAY, alpha=0.15, linewidth=0)
    style.mark(below, first.grokked_at, "grokked")
    above.set_xlabel("")
    for panel in (above, below):
        panel.set_xlim(0, first.bends[-1])
        panel.legend(loc="center right")
    sizes = f"{modular(t)}, N = {first.width}, α = {first.fraction}, AdamW with rate {first.lr}"
    lines = f"bold: seed 0, faint: {len(t) - 1} more; shaded: 95 % intervals of the bends over seeds"
    return f"{sizes}, weight decay {first.weight_decay}; {lines}"


@regimes.claim("4.3 (Fig. 4)")
def ipr_start(t: Table, ask: Ask) -> None:
    """The inverse participation ratio grows from the very beginning of training."""
    rising = t.each(lambda r: r.early_slope is not None and r.early_slope > 0)
    ask.that(
        f"a straight line through the ratio rises over the first {percent(EARLY, 0)} of the steps to the onset (10 % "
        "test accuracy), in every seed",
        all(rising),
        f"{number(t['early_steps'].average())} steps, {sum(rising)} of {count(len(t), 'seed')}",
    )
    ask.that("the ratio is nowhere later below its start", min(t["lowest"]) >= 0)
    ask.show({"change over these steps": t["early_change"]}, lambda value: percent(value, 2))
    ask.show({"lowest value, from the start": t["lowest"]}, lambda value: percent(value, 2))
    ask.show({"step of the lowest value": t["lowest_at"], "step of 10 % test accuracy": t["onset_at"]})


@regimes.claim("4.3 (Fig. 4)")
def ipr_onset(t: Table, ask: Ask) -> None:
    """With the onset of grokking the inverse participation ratio grows sharply faster."""
    faster = t.each(_acceleration)
    place = t.each(lambda r: None if r.onset_at is None else r.bends[1] / r.onset_at)
    ask.that("of four fitted pieces the second is at least 3 times as steep as the first", min(faster) >= 3)
    near = all(ratio is not None and abs(ratio - 1) <= 0.25 for ratio in place)
    ask.that("the bend between them is within 25 % of the onset (10 % test accuracy), in every seed", near)
    ask.remark("on average the bend comes no earlier than the onset", place.average() >= 1)
    flat = any(map(math.isinf, faster))
    ask.show({"second / first slope": "the first piece does not rise everywhere" if flat else faster})
    ask.show({"first bend": _bend(t, 1), "step of 10 % test accuracy": t["onset_at"], "first bend / onset": place})


def _acceleration(r: Row) -> float:
    first, second = r.slopes[:2]
    return second / first if first > 0 else math.inf if second > 0 else 0.0


def _bend(t: Table, i: int) -> str:
    """A bend over seeds, and the interval of its mean."""
    within = t.first.bend_intervals[i - 1]
    interval = "" if within is None else f"; 95 % interval {number(within[0])} to {number(within[1])}"
    return spread(t.each(lambda r: r.bends[i])) + interval


@regimes.claim("4.3 (Fig. 4)")
def ipr_regimes(t: Table, ask: Ask) -> None:
    """The ratio has four regimes: slow linear growth; a transition, which coincides with grokking; fast linear growth,
    which starts after 100 % test accuracy; saturation."""
    ask.that("of four fitted pieces (i) and (ii) rise, in every seed", all(min(r.slopes[:2]) > 0 for r in t))
    inside = all(r.grokked_at is not None and r.bends[1] <= r.grokked_at < r.bends[2] for r in t)
    ask.that("the grokking step lies in (ii)", inside)
    ask.that("growth is fastest in (iii), which follows grokking", all(r.slopes[2] == max(r.slopes) for r in t))
    complete = all(r.complete_at is not None and r.complete_at <= r.bends[2] for r in t)
    ask.that("(iii) starts at ≥ 99.9 % test accuracy", complete)
    ask.that("(iv) has less than a quarter of the slope of (iii)", all(r.slopes[3] < 0.25 * r.slopes[2] for r in t))
    for i, name in enumerate(PIECES):
        ask.show({f"piece {name}, slope per 1000 steps": [1000 * slopes[i] for slopes in t["slopes"]]})
    ask.show({f"bend {i}": _bend(t, i) for i in (1, 2, 3)})
    ask.show({"grokking step": t["grokked_at"], "step of 99.9 % test accuracy": t["complete_at"]})


@regimes.claim("4.3 (Fig. 4)")
def ipr_gap(t: Table, ask: Ask) -> None:
    """The final ratio stays below the closed form's: some noise remains in the weights."""
    start, end, closed = t.each(lambda r: r.ipr[0]), t.each(lambda r: r.ipr[-1]), t.first.closed_form_ipr
    ask.that("the final IPR is above 5 times its start, in every seed", min(end / start) > 5)
    ask.that("it is below 99 % of the closed form's", max(end) < 0.99 * closed)
    ask.show({"IPR at the start": start, "IPR at the end": end, "closed form": closed})


@more_data.claim("4.3 (Fig. 4)")
def ipr_data(t: Table, ask: Ask) -> None:
    """More data narrows the gap to the closed form."""
    (low, less), (high, more) = ((fraction, cell["ipr"]) for fraction, cell in t.by("fraction").items())
    ask.possible("the networks have a ratio", not less.none())
    ask.lower(f"the final IPR is lower at α = {low} than at {high}", less, more)
