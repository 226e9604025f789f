"""Appendix: which shares of the data and which weight decays grok, and other moduli than 113."""

from typing import Any

from modgrok.measures.progress_measures import key_frequencies_of
from modgrok.palette import BLUE
from modgrok.plot import style
from modgrok.reproduce.figures import modular, seeds, times
from modgrok.reproduce.form import BEYOND, Ask, Table, joined, study
from modgrok.reproduce.nanda2023.sizes import PAPER_STEPS, timed
from modgrok.text import count, number, percent

sweep = study(
    "figA",
    "Which fractions and decays grok",
    "Steps until 99 % of the training set and of the test set are right, against the share of the pairs and against "
    "weight decay.",
    runs=lambda s: (
        timed(s).but(fraction=[*s.fractions]).tag(line="fraction")
        + timed(s).but(weight_decay=[*s.decays]).tag(line="weight_decay")
    ),
    keep=("memorized_at", "grokked_at"),
)
moduli = study(
    "figM",
    "Other moduli",
    "(a) Steps until 99 % of the training set (squares) and of the test set (dots) are right, for each modulus; "
    "crosses where some seed does not get there. (b) How many key frequencies W_L has when the test set is known.",
    runs=lambda s: joined(
        timed(s).but(modulus=p, fraction=a, weight_decay=g, steps=steps) for p, a, g, steps in s.moduli
    ),
    keep=("memorized_at", "grokked_at", lambda run: {"frequencies": key_frequencies_of(run.network)}),
)


@sweep.figure(columns=2)
def sweep_times(t: Table, left: Any, right: Any) -> str:
    fractions, decays = t.where(line="fraction"), t.where(line="weight_decay")
    times(left, fractions, "fraction")
    times(right, decays, "weight_decay")
    left.set(xlabel="share of the pairs that is trained on")
    right.set(xlabel="weight decay")
    held = f"weight decay {fractions.one('weight_decay'):g}", f"{100 * decays.one('fraction'):g} % of the pairs"
    style.letter((left, right), held)
    note = f"{modular(t)}, {seeds(t)}; squares: training set, dots: test set, crosses: some seed not within "
    return f"{note}{count(t.one('steps'))} steps"


@sweep.claim("appendix (fractions)")
def fractions(t: Table, ask: Ask) -> None:
    """Some data groks, much data generalizes at once."""
    cells = t.where(line="fraction").by("fraction")
    usual, most = t.where(line="weight_decay").one("fraction"), max(cells)
    delays = {value: (cell["grokked_at"] / cell["memorized_at"]).known() for value, cell in cells.items()}
    longest = max(delays[most], default=0)
    for value, which in ((usual, "usual"), (most, "largest")):
        ask.that(f"all seeds grok at the {which} fraction", cells[value]["grokked_at"].whole())
    ask.that(
        "in units of the steps to the training set the delay is at most a tenth as long at the largest, for every seed",
        10 * longest <= min(delays[usual], default=0),
    )
    ask.remark("at the largest the test set takes at most twice as long as the training set", longest <= 2)
    ask.show({f"steps to 99 % of the test set at {percent(v, 0)}": cell["grokked_at"] for v, cell in cells.items()})
    ask.show({f"in units of the training set's, {percent(v, 0)}": some for v, some in delays.items() if some})


@sweep.claim("appendix (fractions)")
def too_little_data(t: Table, ask: Ask) -> None:
    """Too little data never groks."""
    few = t.where(line="fraction").where("fraction <= 0.2")
    cells = few.by("fraction").items()
    ask.show({f"steps to 99 % of the test set at {percent(v, 0)}": cell["grokked_at"] for v, cell in cells})
    ask.possible("there is a fraction of 20 % or less", few)
    ask.that("no seed groks at 20 % or less", few["grokked_at"].none())
    ask.budget(t, "never", steps=PAPER_STEPS)


@sweep.claim("appendix (weight decay)")
def decays(t: Table, ask: Ask) -> None:
    """Without weight decay nothing groks, and more of it is faster (the printed sweep reads both ways)."""
    line = t.where(line="weight_decay")
    medians = line.where("weight_decay > 0").median("grokked_at", "weight_decay").known()
    cells = line.by("weight_decay").items()
    ask.show({f"steps to 99 % of the test set, decay {decay:g}": cell["grokked_at"] for decay, cell in cells})
    ask.possible("two decays or more grok", len(medians) >= 2)
    never = line.where(weight_decay=0)["grokked_at"].none()
    ask.that(f"without decay no seed groks within {count(t.one('steps'))} steps", never)
    ask.that("median times fall from decay to decay wherever both have one", medians.falls())
    products = medians.products()
    ask.show({"decay · median time": ", ".join(map(number, products))})
    ask.remark("decay · median time varies by at most a factor of 1.5", max(products) <= 1.5 * min(products))
    ask.remark("three decays or more grok", len(medians) >= 3)
    ask.remark(f"the runs have the paper's {count(PAPER_STEPS)} steps", t.one("steps") >= PAPER_STEPS)


@moduli.figure("steps to 99 %", "key frequencies", height=2.8)
def times_and_frequencies(t: Table, left: Any, right: Any) -> str:
    cells = t.by("modulus", "fraction", "weight_decay")
    for x, cell in enumerate(cells.values()):
        times(left, Table(vars(row) | {"place": x} for row in cell), "place")
        counts = [len(keys) for keys in cell.where("grokked_at >= 0")["frequencies"]]
        right.scatter([x] * len(counts), counts, color=BLUE, s=16, alpha=0.5)
    for panel in (left, right):
        panel.set_xticks(range(len(cells)), [f"{p}\n{100 * a:g} %\n{g:g}" for p, a, g in cells], fontsize=6)
        panel.set(xlabel="modulus p, share of the pairs, weight decay", xlim=(-0.5, len(cells) - 0.5))
    right.set(ylabel="key frequencies", ylim=(0, None))
    right.yaxis.get_major_locator().set_params(integer=True)
    return f"{count(t.seeds, 'seed')}; (b) overlapping dots are darker"


@moduli.claim("appendix (moduli)")
def other_moduli(t: Table, ask: Ask) -> None:
    """With p = 53 it takes a weight decay of 5, 109 groks as 113 does, and 20 % of the pairs of 401 are learned at
    once."""
    ask.possible("p is 53, 109, 113 and 401", {*t["modulus"]} >= {53, 109, 113, 401})
    cells = t.by("modulus", "fraction", "weight_decay")
    for (p, a, g), cell in cells.items():
        ask.show({f"steps to 99 % of the test set, p = {p}, {100 * a:g} %, decay {g:g}": cell["grokked_at"]})
    little, strong = (cells[53, 0.3, decay]["grokked_at"] for decay in (1.0, 5.0))
    ask.that("at p = 53 most seeds grok with weight decay 5", 2 * len(strong.known()) > len(strong))
    ask.that("fewer do with weight decay 1", len(little.known()) < len(strong.known()))
    near, usual, large = cells[109, 0.3, 1.0], cells[113, 0.3, 1.0], cells[401, 0.2, 1.0]
    there, here = near["grokked_at"].median(), usual["grokked_at"].median()
    alike = there and here and here / 2 <= there <= 2 * here
    ask.that("the median time of p = 109 is half to twice that of p = 113", alike)
    longest, shortest = ((cell["grokked_at"] / cell["memorized_at"]).known() for cell in (large, usual))
    ask.show({"steps to the test set in units of the training set's, p = 401": longest})
    ask.show({"likewise, p = 113": shortest})
    limit = min(shortest, default=0) / 10
    waited = large.one("steps") >= limit * max(large["memorized_at"].known(), default=large.one("steps"))
    enough = ask.faults or large["grokked_at"].whole() or waited
    ask.possible("all seeds of p = 401 grok, or have had a tenth of the delay of p = 113", enough)
    ask.that("all seeds of p = 401 grok", large["grokked_at"].whole())
    ask.that(
        "in units of the steps to the training set the delay of p = 401 is at most a tenth of that of p = 113",
        max(longest, default=limit + 1) <= limit,
    )
    ask.budget(t.where("modulus < 401"), steps=PAPER_STEPS)


@moduli.claim(BEYOND)
def frequencies_of_moduli(t: Table, ask: Ask) -> None:
    """At every modulus a handful of frequencies is enough."""
    learned = t.where("grokked_at >= 0")
    ask.possible("networks of three moduli or more grok", len(learned["modulus"].distinct()) >= 3)
    counts = {p: [len(keys) for keys in cell["frequencies"]] for p, cell in learned.by("modulus").items()}
    ask.show({f"key frequencies of W_L, p = {p}": some for p, some in counts.items()}, over="run")
    few = all(2 * sum(3 <= n <= 6 for n in some) > len(some) for some in counts.values())
    ask.that("at every modulus most networks that grok have 3 to 6 key frequencies when they do", few)
