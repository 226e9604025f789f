"""Appendix: which shares of the data and which weight decays grok."""

from typing import Any

from modgrok.reproduce.figures import modular, panels, seeds, times
from modgrok.reproduce.form import Ask, Table, study
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


@sweep.figure()
def sweep_times(t: Table) -> Any:
    fractions, decays = t.where(line="fraction"), t.where(line="weight_decay")
    note = f"{modular(t)}, {seeds(t)}; squares: training set, dots: test set, crosses: some seed not within "
    figure, (left, right) = panels(
        f"weight decay {fractions.one('weight_decay'):g}",
        f"{100 * decays.one('fraction'):g} % of the pairs",
        note=f"{note}{count(t.one('steps'))} steps",
    )
    times(left, fractions, "fraction")
    times(right, decays, "weight_decay")
    left.set(xlabel="share of the pairs that is trained on")
    right.set(xlabel="weight decay")
    return figure


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
