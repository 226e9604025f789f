"""Figs. 2 right and 6: how much data every operation needs, and what wrong labels do."""

from typing import Any

from modgrok.experiments import Run
from modgrok.palette import TEST
from modgrok.plot import style
from modgrok.reproduce.figures import named_lines, seeds
from modgrok.reproduce.form import Ask, Column, Line, Runs, Sizes, Table, joined, rounded, study
from modgrok.reproduce.power2022.sizes import ADDITION, CUBIC, DIVISION, OPERATIONS, grokking, trained, what
from modgrok.text import count, percent, spread

KNOWN = 0.95
"""Best test accuracy, in the mean over seeds, from which on a fraction is enough."""
COUNTERPARTS = {ADDITION: "x − y", "x · y": DIVISION, "x² + xy + y²": "x² + xy + y² + x"}
"""Symmetric operations, and those that the paper finds harder than them."""
SOME_WRONG = 0.15
"""Share of wrong labels up to which the paper finds little harm: 1 000 of some 7 000."""


def best(run: Run) -> dict[str, float]:
    """The best test accuracy."""
    return {"best": float(run.history["test_accuracy"].max())}


def everything(s: Sizes) -> Runs:
    """Every operation at every fraction."""
    fractions = {name: s.group_fractions if "group" in OPERATIONS[name] else s.fractions for name in s.operations}
    return joined(trained(s, name, *some) for name, some in fractions.items())


operations = study(
    "fig2b",
    "All operations",
    "Best test accuracy within the steps for every operation, against the share of its table that is trained on.",
    runs=everything,
    keep=(best, "memorized_at", "grokked_at"),
    digits=7,
)
cubic = study(
    "cubic",
    "x³ + xy² + y for longer",
    runs=lambda s: trained(s, CUBIC, *s.cubic_fractions, steps=s.paper_steps),
    keep=(best, "memorized_at"),
)
mislabeled = study(
    "fig6",
    "Wrong labels",
    "Best accuracy on the correctly labeled test set when some training labels are replaced by wrong ones. A run "
    "stops at 99 %.",
    runs=lambda s: grokking(s, s.wrong_fraction, wrong_labels=[*s.wrong]),
    keep=best,
)


def levels(t: Table, column: str) -> dict[str, Line]:
    """The best accuracy at every fraction, in the mean over seeds."""
    return {name: some.of("best", lambda c: rounded(c.average()), "fraction") for name, some in t.by(column).items()}


def areas(found: dict[str, Line]) -> dict[str, float]:
    """In the mean over fractions too."""
    return {name: line.y.average() for name, line in found.items()}


def enough(line: Line) -> float | None:
    """The least fraction at which the table is known."""
    return min((fraction for fraction, level in line.items() if level >= KNOWN), default=None)


def show_areas(ask: Ask, found: dict[str, float]) -> None:
    ask.show({f"mean best test accuracy, {name}": area for name, area in found.items()}, percent)


def levels_against_data(t: Table, panel: Any, column: str, what: str) -> str:
    named_lines(panel, levels(t, column))
    panel.set(xlabel="share of the table that is trained on", ylabel="best test accuracy")
    panel.set(xlim=(0, 1), ylim=(-0.02, 1.02))  # the same for variants and for operations
    panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=6, handlelength=4)
    return f"{what} {count(t.one('steps'))} steps, mean of {seeds(t)}"


@operations.figure(height=3.4)
def levels_of_operations(t: Table, panel: Any) -> str:
    return levels_against_data(t, panel, "operation", f"{', and ∘ '.join(t['place'].distinct())};")


@mislabeled.figure(width=style.COLUMN, height=2.6)
def levels_and_wrong_labels(t: Table, panel: Any) -> str:
    labels = t.each(lambda r: round(r.wrong_labels * r.examples))
    panel.scatter(labels, t["best"], color=TEST, s=14)
    panel.set(xlabel="wrong training labels", ylabel="best test accuracy", ylim=(-0.02, 1.02))
    panel.set_xscale("symlog", linthresh=10)
    panel.set_xlim(-2, 2 * max(labels))
    return f"{what(t)}, {100 * t.one('fraction'):g} % of the table, {count(t.one('steps'))} steps"


@operations.claim("3.1 (acceptance)")
def addition(t: Table, ask: Ask) -> None:
    """Addition is grokked."""
    cells = t.where(operation=ADDITION).by("fraction")
    cell = cells[min(fraction for fraction in cells if fraction >= 0.5)]
    soon, late = len(cell.where("memorized_at <= 1000")), cell["grokked_at"] - cell["memorized_at"]
    ask.that("at half of the table or more every seed knows the training set within 1 000 steps", soon == len(cell))
    ask.that("later, within the steps of this profile, the test set", late.whole() and min(late) > 0)
    ask.yes(f"The test set is known after {spread(cell['grokked_at'])} steps.")
    ask.show({"training set": cell["memorized_at"], "test set": cell["grokked_at"]})


@operations.claim("3.1 (Fig. 2 right)")
def symmetric_operations(t: Table, ask: Ask) -> None:
    """Operations that are symmetric in x and y need less data than their counterparts that are not."""
    found = areas(levels(t, "operation"))
    pairs = [(one, other) for one, other in COUNTERPARTS.items() if one in found and other in found]
    told = [f"{percent(found[a])} for {a} against {percent(found[b])} for {b}" for a, b in pairs]
    for one, other in pairs:
        ask.that(f"the mean best accuracy is larger for {one} than for {other}", found[one] > found[other])
    ask.yes(f"The mean best accuracy is {'; '.join(told)}.")
    show_areas(ask, {name: found[name] for pair in pairs for name in pair})


@operations.claim("3.1 (Fig. 2 right)")
def subtraction_as_division(t: Table, ask: Ask) -> None:
    """Subtraction and division need about the same data."""
    lines = levels(t, "operation")
    found = areas({name: lines[name] for name in ("x − y", DIVISION)})
    show_areas(ask, found)
    ask.possible("either is known at some fraction", any(enough(lines[name]) is not None for name in found))
    one, other = found.values()
    near = abs(one - other) < 0.15
    ask.that("the mean best accuracies of x − y and x / y over the fractions differ by less than 0.15", near)


@operations.claim("3.1 (Fig. 2 right)", cubic)
def never_learned(t: Table, longer: Table, ask: Ask) -> None:
    """x³ + xy² + y is not generalized at any fraction up to 95 %."""
    lines = levels(t, "operation")
    for some in (t.where(operation=CUBIC), longer):
        steps, (line,) = count(some.one("steps")), levels(some, "operation").values()
        ask.show({f"best test accuracy at {percent(f, 0)} in {steps} steps": y for f, y in line.items()}, percent)
    ask.possible("addition is known at some fraction", enough(lines[ADDITION]) is not None)
    most = max(*lines[CUBIC].y, *line.y)
    ask.possible("it is trained for long at 95 %, or generalizes before that", max(line) >= 0.95 or most >= 0.5)
    ask.that("its best test accuracy is below one half at every fraction, in the mean over seeds", most < 0.5)
    ask.budget(longer, "never", steps=100_000)


@mislabeled.claim("A.3 (Fig. 6)")
def wrong_labels(t: Table, ask: Ask) -> None:
    """Some wrong labels do little harm, many do."""
    found = t.of("best", Column.average, "wrong_labels")
    clean, *_, most = found.y
    some = min(value for share, value in found.items() if share <= SOME_WRONG)
    ask.show({f"best test accuracy, {percent(share)} wrong": value for share, value in found.items()}, percent)
    ask.possible(f"without wrong labels the best test accuracy is {KNOWN} or more", not clean < KNOWN)
    few = f"with up to {percent(SOME_WRONG, 0)} wrong labels"
    ask.yes(f"The best test accuracy is at least {percent(some)} {few}, {percent(most)} with the most.")
    ask.that(f"{few} the best test accuracy stays within 0.1 of that without", some >= clean - 0.1)
    ask.that("with the most it does not", most < clean - 0.1)
