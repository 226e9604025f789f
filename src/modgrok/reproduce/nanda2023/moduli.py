"""Appendix: other moduli than 113."""

from typing import Any

from modgrok.experiments import Run
from modgrok.measures.network_progress import key_frequencies_of
from modgrok.palette import BLUE, MARKERS, TEST, TRAIN
from modgrok.reproduce.form import BEYOND, Ask, Runs, Sizes, Table, study
from modgrok.reproduce.nanda2023.sizes import PAPER_STEPS, timed
from modgrok.text import count

NEEDED = {53, 109, 113, 401}
"""Moduli that the paper speaks of."""


def by_modulus(s: Sizes) -> Runs:
    found = Runs([])
    for modulus, fraction, decay, steps in s.moduli:
        found += timed(s).but(modulus=modulus, fraction=fraction, weight_decay=decay, steps=steps)
    return found


def frequencies_of(run: Run) -> dict[str, Any]:
    return {"frequencies": key_frequencies_of(run.network)}


moduli = study(
    "figM",
    "Other moduli",
    "(a) Steps until 99 % of the training set (squares) and of the test set (dots) are right, for each modulus; "
    "crosses where some seed does not get there. (b) How many key frequencies W_L has when the test set is known.",
    runs=by_modulus,
    keep=("memorized_at", "grokked_at", frequencies_of),
)


def settings(t: Table) -> dict[tuple[int, float, float], Table]:
    """The runs of every modulus, share of the pairs and weight decay."""
    return t.by("modulus", "fraction", "weight_decay")


@moduli.figure("steps to 99 %", "key frequencies", height=2.8)
def times_and_frequencies(t: Table, left: Any, right: Any) -> str:
    cells = settings(t)
    for x, cell in enumerate(cells.values()):
        for column, color, marker in (("memorized_at", TRAIN, MARKERS[1]), ("grokked_at", TEST, MARKERS[0])):
            known = cell[column].known()
            left.scatter([x] * len(known), known, color=color, marker=marker, s=14)
        if not cell["grokked_at"].whole():
            left.scatter(x, cell.one("steps"), color=TEST, marker="x", s=18)
        counts = [len(keys) for keys in cell.where("grokked_at >= 0")["frequencies"]]
        right.scatter([x] * len(counts), counts, color=BLUE, s=16, alpha=0.5)
    for panel in (left, right):
        panel.set_xticks(range(len(cells)), [f"{p}\n{100 * a:g} %\n{g:g}" for p, a, g in cells], fontsize=6)
        panel.set(xlabel="modulus p, share of the pairs, weight decay", xlim=(-0.5, len(cells) - 0.5))
    left.set(yscale="log", ylabel="steps to 99 %")
    right.set(ylabel="key frequencies", ylim=(0, None))
    right.yaxis.get_major_locator().set_params(integer=True)
    return f"{count(t.seeds, 'seed')}; (b) overlapping dots are darker"


@moduli.claim("appendix (moduli)")
def other_moduli(t: Table, ask: Ask) -> None:
    """With p = 53 it takes a weight decay of 5, 109 groks as 113 does, and 20 % of the pairs of 401 are learned at
    once."""
    ask.possible("p is 53, 109, 113 and 401", {*t["modulus"]} >= NEEDED)
    cells = settings(t)
    times = {f"p = {p}, {100 * a:g} %, decay {g:g}": cell["grokked_at"] for (p, a, g), cell in cells.items()}
    ask.show({f"steps to 99 % of the test set, {name}": some for name, some in times.items()})
    little, strong = (cells[53, 0.3, decay]["grokked_at"] for decay in (1.0, 5.0))
    ask.that("at p = 53 most seeds grok with weight decay 5", 2 * len(strong.known()) > len(strong))
    ask.that("fewer do with weight decay 1", len(little.known()) < len(strong.known()))
    near, usual = (cells[p, 0.3, 1.0] for p in (109, 113))
    there, here = (cell["grokked_at"].median() for cell in (near, usual))
    alike = there is not None and here is not None and here / 2 <= there <= 2 * here
    ask.that("the median time of p = 109 is half to twice that of p = 113", alike)
    large = cells[401, 0.2, 1.0]
    longest, shortest = (
        [g / m for g, m in zip(cell["grokked_at"], cell["memorized_at"], strict=True) if g and m]
        for cell in (large, usual)
    )
    ask.show({"steps to the test set in units of the training set's, p = 401": longest})
    ask.show({"likewise, p = 113": shortest})
    limit = min(shortest, default=0) / 10
    waited = large.one("steps") >= limit * max(large["memorized_at"].known(), default=large.one("steps"))
    ask.possible(
        "all seeds of p = 401 grok, or have had a tenth of the delay of p = 113",
        ask.faults or large["grokked_at"].whole() or waited,
    )
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
