"""A study for each task: every contestant's search, and what their authors say of them asked of all at their best."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from modgrok.measures.samples import best_trial, edge
from modgrok.palette import BLUE, EMPTY, GRAY, VERMILLION
from modgrok.plot import style
from modgrok.reproduce.accelerators.sizes import BASELINE, CONTESTANTS, FASTER, KNOWN, MOVING_AVERAGE, WINDOW, searched
from modgrok.reproduce.form import BEYOND, Ask, Claim, Sizes, Table, make_claim, study
from modgrok.text import NONE, count, number, percent

TITLES = {"figN": "n + m", "figP": "n · m", "figG": "The symmetric group"}
JORDAN = (
    "Muon here orthogonalizes every matrix, embedding and readout included, without the factor √max(1, rows/columns), "
    "and takes signs for vectors; Jordan's leaves embeddings, readouts and vectors to AdamW"
)


def choose(s: Sizes, t: Table) -> dict[str, Any]:
    """Rate and decay of each contestant, which the first seed chooses. The other seeds say how fast that is, so that
    nobody profits from many tries."""
    chosen = {}
    for name, tried in t.where(seed=0).by("contestant").items():
        best = tried.rows[best_trial([(row.grokked_at, row.test_accuracy) for row in tried])]
        chosen[name] = {"lr": best.lr, "weight_decay": best.weight_decay}
    return {"chosen": chosen}


STUDIES = tuple(
    study(
        name,
        title,
        "Every contestant trains the same network, a hidden layer with the activation x² and cross-entropy, from the "
        "same weights on the same training sets. Rate and decay of each are chosen among equally many trials by one "
        "seed; other seeds are compared.",
        runs=partial(searched, name),
        keep=("memorized_at", "grokked_at", "test_accuracy"),
        also=choose,
    )
    for name, title in TITLES.items()
)


def trials(t: Table, name: str) -> Table:
    """All trials of a contestant, with the seed that chooses."""
    return t.where(contestant=name, seed=0)


def best(t: Table, name: str) -> Table:
    """The chosen trial of a contestant, with the other seeds."""
    return t.where("seed > 0", contestant=name, **t.first.chosen[name])


def found_at(t: Table, name: str) -> str:
    chosen = t.first.chosen[name]
    return f"rate {number(chosen['lr'])}, decay {number(chosen['weight_decay'])}"


def edges(t: Table, name: str) -> str:
    """Where the chosen trial is an outermost one, beyond which the search did not look."""
    words, chosen = {"lr": "rate", "weight_decay": "decay"}, t.first.chosen[name]
    return "".join(edge(chosen[column], trials(t, name)[column], word) for column, word in words.items())


def draw(t: Table, panel: Any) -> str:
    from matplotlib.ticker import LogLocator, NullFormatter

    steps = t.one("steps")
    for row, name in enumerate(CONTESTANTS):
        tried, times = trials(t, name)["grokked_at"].known(), best(t, name)["grokked_at"]
        panel.plot(tried, [row] * len(tried), "|", color=GRAY, alpha=0.6, markersize=9)
        known, color = times.known(), VERMILLION if name == BASELINE else BLUE
        panel.plot(known, [row] * len(known), "o", color=color, markersize=4)
        text = found_at(t, name)
        text += "" if times.whole() else f"; {times.count(None)} of {len(times)} seeds never"
        panel.annotate(text, (1.01, row), xycoords=("axes fraction", "data"), fontsize=6.5, va="center", color=GRAY)
    style.mark(panel, best(t, BASELINE)["grokked_at"].median(), f"tuned {BASELINE}")
    panel.set_yticks(range(len(CONTESTANTS)), list(CONTESTANTS))
    panel.set_ylim(len(CONTESTANTS) - 0.5, -0.5)
    if t["grokked_at"].none():
        panel.set_xlim(1, steps)  # Without a point a logarithmic axis has no limits.
    panel.set(xscale="log", xlabel=f"steps until the test accuracy is {percent(KNOWN, 0)}")
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter(lambda value, _: number(value))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.grid(axis="y", color=EMPTY)
    lines = "lines: the trials of seed 0, of which the fastest is chosen; dots: other seeds"
    return f"{t.one('setting')}; at most {count(steps)} steps; {lines}"


for one in STUDIES:
    one.figure(height=2.9)(draw)


def _ratio(t: Table, name: str) -> float | None:
    """Median steps in units of the baseline's: none where the contestant never gets there, 0 where that alone does."""
    own, base = (best(t, one)["grokked_at"].median() for one in (name, BASELINE))
    if name == MOVING_AVERAGE and own is not None and own < WINDOW:
        return None  # Until then it has not begun to act.
    return None if own is None else 0.0 if base is None else own / base


def faster(tables: Sequence[Table], ask: Ask, names: Sequence[str], aside: str, departs: bool) -> None:
    """Holds where the best of the names is faster on most tasks, with a remark where not on all, or where what was
    trained is not quite what its authors train: every verdict says so."""
    for title, t in zip(TITLES.values(), tables, strict=True):
        for name in (BASELINE, *names):
            ask.show({f"{title}: {name} ({found_at(t, name)}{edges(t, name)})": best(t, name)["grokked_at"]})
    known = [[ratio for name in names if (ratio := _ratio(t, name)) is not None] for t in tables]
    ratios = [min(some, default=None) for some in known]
    shown = ", ".join(NONE if ratio is None else number(ratio) for ratio in ratios)
    ask.show({f"median steps over those of tuned {BASELINE}": shown})
    reached = any(ratio is not None for ratio in ratios)
    ask.possible(f"most seeds get there on some task, at the rate and decay that the search chose{aside}", reached)
    won = [ratio is not None and ratio < FASTER for ratio in ratios]
    ask.that(
        f"median steps to 95 % test accuracy are below {FASTER} of those of {BASELINE}, both tuned by the same search, "
        f"on most tasks (one on which most seeds never get there is lost){aside}",
        2 * sum(won) > len(won),
    )
    ask.remark("on all tasks", all(won))
    inside = not any(edges(t, name) for t in tables for name in names)
    ask.remark("each best rate and decay lies off the edge of the search", inside)
    if departs:
        ask.remark("this is how its authors have it", False)


def tuned(name: str, section: str, says: str, *contestants: str, aside: str = "", departs: bool = False) -> Claim:
    """What the authors of contestants say, where every optimizer is tuned."""

    def judge(*asked: Any) -> None:
        faster(asked[:-1], asked[-1], contestants, aside, departs)

    statement = f"{says}, also where every optimizer is tuned by the same search."
    return make_claim(judge, name, statement, f"{BEYOND} ({section})", STUDIES)


CLAIMS = (
    tuned(
        "grokfast_tuned",
        "2405.20233",
        "Grokfast generalizes in fewer steps (its authors find 50 times fewer than Adam without weight decay)",
        "Grokfast, EMA",
        MOVING_AVERAGE,
        aside=f"; the better of EMA and MA counts, MA where its window of {WINDOW} steps was full before the end",
    ),
    tuned(
        "muon_tuned",
        "2504.16041",
        "Muon generalizes in fewer steps than AdamW (its authors find 0.67 times as many)",
        "Muon",
        aside=f". {JORDAN}",
        departs=True,
    ),
    tuned("orthogonal_gradient_tuned", "2501.04697", "⊥Grad generalizes in fewer steps", "⊥Grad"),
    tuned(
        "stablemax_tuned",
        "2501.04697",
        "StableMax in the place of the softmax generalizes in fewer steps",
        "StableMax",
    ),
    tuned("lion", "2302.06675", "Lion generalizes in fewer steps", "Lion"),
)
"""Of Lion its authors say nothing of the kind, and it is only searched."""
