"""n² + m² + nm, which is hard, n³ + nm² + m and random tables, which are never learned (3.2, appendix C; Fig. A5)."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.grokking_events import second_half
from modgrok.measures.samples import all_right, best_guess
from modgrok.plot import curves
from modgrok.reproduce.form import Ask, Runs, Sizes, Table, runs, study
from modgrok.reproduce.form import curves as whole_curves
from modgrok.reproduce.gromov2023.dynamics import CLOSED
from modgrok.reproduce.gromov2023.sizes import Recipe
from modgrok.text import count, number, percent, spread

QUADRATIC, QUADRATIC_FRACTION = "n^2 + m^2 + n*m", 0.73
CUBIC, CUBIC_FRACTION = "n^3 + n*m^2 + m", 0.9
TITLES = {QUADRATIC: "n² + m² + nm from α = 0.73: learned late", CUBIC: "n³ + nm² + m from α = 0.9: memorized"}
PAPER_MODULUS = 97
LEAST, MOST = 0.95, 0.995
"""Test accuracies between which it is about 97 %."""
FLAT_ACCURACY, FLAT_LOSS = 0.005, 0.1
"""A run is flat where test accuracy, and test loss relatively, move by less than this over the second half."""


def trained(s: Sizes, training: Recipe, text: str, *fractions: float, **more: Any) -> Runs:
    settings = training.gd(s.hard_modulus, s.hard_width, 0.5) | {"task": text, **more}
    return runs(settings, fraction=[*fractions], seed=range(s.hard_seeds))


def plateau(s: Sizes) -> Runs:
    """n² + m² + nm at the figure's fraction until nothing changes."""
    return trained(s, s.hard, QUADRATIC, QUADRATIC_FRACTION, steps=s.plateau_steps)


def outcome_of(run: Run) -> dict[str, Any]:
    """Curves of the figure's runs; of n² + m² + nm how it ends, of n³ + nm² + m the best test accuracy."""
    h, fraction = run.history, run.experiment.fraction
    found: dict[str, Any] = {"train_accuracy": h["train_accuracy"][-1]}
    if fraction in (QUADRATIC_FRACTION, CUBIC_FRACTION):
        found["curves"] = whole_curves("train_loss", "test_loss", "train_accuracy", "test_accuracy")(run)
    if fraction >= CUBIC_FRACTION:
        return found | {"best_test_accuracy": h["test_accuracy"][1:].max()}
    moved, change = second_half(h)
    return found | ending_of(run) | {"accuracy_change": moved, "loss_change": change}


def ending_of(run: Run) -> dict[str, float]:
    """Test accuracy and losses at the end; `gap` is test minus train loss in units of its largest value."""
    test, train = run.history["test_loss"], run.history["train_loss"]
    gap = (test - train)[-1] / (test - train).max()
    return {"test_accuracy": run.history["test_accuracy"][-1], "loss_ratio": test[-1] / train[-1], "gap": gap}


def best_within(s: Sizes, t: Table) -> dict[str, Any]:
    """The best test accuracy of every run within the same steps."""
    histories = [run.history for run in t.runs]
    best = [h["test_accuracy"][h["step"] <= s.hard.steps].max() for h in histories]
    return {"best_test_accuracy": best, "within": s.hard.steps}


hard = study(
    "figA5",
    "Functions that are hard, or never learned",
    "Sums and products mixed. n² + m² + nm is learned almost, late, and with a lasting gap between the losses; "
    "n³ + nm² + m is learned by heart from nine tenths of its table and does not generalize within these steps.",
    runs=lambda s: plateau(s) + trained(s, s.never, CUBIC, CUBIC_FRACTION, *s.cubic_fractions, steps=s.plateau_steps),
    keep=outcome_of,
)
quadratic_widths = study(
    "quadratic_form_widths",
    "n² + m² + nm and the width",
    "Test accuracy of n² + m² + nm at the figure's fraction, from narrow to wide networks, within the same steps.",
    runs=lambda s: runs(
        {},
        width={N: s.hard.gd(s.hard_modulus, N, QUADRATIC_FRACTION) for N in s.hard_widths},
        seed=range(s.hard_seeds),
    ).but(task=QUADRATIC),
    keep=ending_of,
)
random_tables = study(
    "random_table",
    "Random tables",
    "Tables filled with random answers, which hold nothing to generalize, trained on nine tenths of their entries.",
    runs=lambda s: runs(
        s.never.gd(s.hard_modulus, s.hard_width, 0.9),
        seed={seed: {"seed": seed, "task": f"random:{seed}"} for seed in range(s.hard_seeds)},
    ),
    keep=("train_accuracy", lambda run: {"best_test_accuracy": run.history["test_accuracy"].max()}),
)
quadratic_data = study(
    "quadratic_form_data",
    "n² + m² + nm with more data",
    "The best test accuracy of n² + m² + nm as the share of data grows, within the same steps, and the chance that "
    "equally many test pairs at each share are all answered.",
    runs=lambda s: plateau(s) + trained(s, s.hard, QUADRATIC, *s.hard_fractions),
    also=best_within,
)


@hard.figure(*TITLES.values(), "", "", rows=2, height=4.4, sharex="col")
def learning_curves(t: Table, *grid: Any) -> str:
    drawn = t.where(lambda r: r.curves)
    for above, below, text in zip(grid[:2], grid[2:], TITLES, strict=True):
        for panel, measure in ((above, "accuracy"), (below, "loss")):
            curves(drawn.where(task=text)["curves"], measure, ax=panel)
            if panel is not grid[0]:
                panel.get_legend().remove()
        above.set_xlabel("")
        below.set_ylabel("mean squared error")
    more = len(drawn.where(task=QUADRATIC)) - 1
    sizes = f"mod {t.one('modulus')}, N = {t.one('width')}, plain GD"
    return f"{sizes}; bold: seed 0, faint: {more} more; spikes: brief instabilities at this rate"


@hard.claim("appendix C (Fig. A5)", quadratic_widths)
def quadratic_form(t: Table, by_width: Table, ask: Ask) -> None:
    """n² + m² + nm reaches about 97 % at α = 0.73, with a large gap between train and test loss."""
    t = t.where(task=QUADRATIC)
    p, widths = t.one("modulus"), by_width.by("width")
    ask.show({"p, N": f"{p}, {t.one('width')}", "steps": number(t.one("steps"))})
    ask.show({"test accuracy": t["test_accuracy"]}, percent, paper="about 97 %")
    ask.show({"last / largest difference of the losses": t["gap"], "test loss / train loss": t["loss_ratio"]})
    for N, cell in widths.items():
        ask.show({f"test accuracy at N = {N}, {number(by_width.one('steps'))} steps": cell["test_accuracy"]}, percent)
    over = "change over the second half of the steps"
    ask.show({f"test accuracy, {over}": t["accuracy_change"]}, lambda value: percent(value, 2))
    ask.show({f"test loss, {over}": t["loss_change"]}, percent)
    ask.possible(f"p is {PAPER_MODULUS} or more: the same share of a smaller table teaches less", p >= PAPER_MODULUS)
    ask.that(f"mean test accuracy is from {LEAST} to below {MOST}", LEAST <= t["test_accuracy"].average() < MOST)
    ask.that(
        f"the gap between the losses lasts: test minus train loss ends above {CLOSED} of its maximum, below which that "
        "of n + m falls, in every seed",
        min(t["gap"]) > CLOSED,
    )
    others = all(LEAST <= cell["test_accuracy"].average() < MOST for cell in widths.values())
    ask.remark("test accuracy ends in this range at other widths too", others)
    ask.remark(
        f"training has ended: over the second half of the steps test accuracy changes by less than {FLAT_ACCURACY} "
        f"and test loss, relatively, by less than {FLAT_LOSS}, on average over seeds",
        abs(t["accuracy_change"].average()) < FLAT_ACCURACY and abs(t["loss_change"].average()) < FLAT_LOSS,
    )


@quadratic_data.claim("2, appendix C")
def quadratic_form_data(t: Table, ask: Ask) -> None:
    """n² + m² + nm reaches 100 % only with most of the data, α above about 0.95."""
    p = t.one("modulus")
    best: dict[float, list[float]] = {}
    for alpha, value in zip(t["fraction"], t.first.best_test_accuracy, strict=True):
        best.setdefault(alpha, []).append(value)
    total = {alpha: _test_pairs(p, alpha) for alpha in best}
    drawn = min(total.values())
    chances = {alpha: [all_right(value, total[alpha], drawn) for value in some] for alpha, some in best.items()}
    below = [np.median(some) for a, some in chances.items() if a < 0.95]
    passed = ", ".join(number(a) for a, some in chances.items() if a >= 0.95 and np.median(some) >= 0.5)
    certain = [chance == 1 for alpha, some in chances.items() if alpha >= 0.95 for chance in some]
    for alpha, some in chances.items():
        said = f"{spread(best[alpha], percent)}; chance that {drawn} of them are all right {spread(some, percent)}"
        ask.show({f"α = {alpha}: best accuracy on {count(total[alpha])} test pairs": said})
    ask.show({"least α with every answer": passed or "none"}, paper="about 0.95")
    ask.show({"p, N, steps": f"{p}, {t.one('width')}, {number(t.one('within'))}"})
    ask.that(
        f"the median network's chance to answer all of {drawn} random test pairs, as many as there are at the largest "
        "α, is below 50 % at every α below 0.95",
        below and max(below) < 0.5,
    )
    ask.that("it is 50 % or more at some α from there on", passed)
    ask.remark(
        "from α = 0.95 on every network answers all test pairs",
        all(certain),
        f"{sum(certain)} of {count(len(certain), 'network')}",
    )


def _test_pairs(modulus: int, fraction: float) -> int:
    return modulus**2 - round(fraction * modulus**2)


@hard.claim("3.2, appendix C (Fig. A5)")
def cubic(t: Table, ask: Ask) -> None:
    """n³ + nm² + m never generalizes, not even at α = 0.9 and above; its test accuracy never exceeds 1 %."""
    enough, t, p = max(t.where(task=QUADRATIC)["steps"]), t.where(task=CUBIC), t.one("modulus")
    ask.budget(t, "never", steps=enough)
    at_chance = True
    for alpha, cell in t.by("fraction").items():
        limit = best_guess(_test_pairs(p, alpha), 1 / p, 100 * len(cell))
        at_chance &= max(cell["best_test_accuracy"]) <= limit
        best, train = (spread(cell[name], percent) for name in ("best_test_accuracy", "train_accuracy"))
        said = f"best test accuracy {best}, limit {percent(limit)}; train accuracy {train}"
        ask.show({f"α = {alpha}": said}, paper="test accuracy at most 1 %")
    ask.show({"p": str(p)})
    ask.that("at α = 0.9 and above train accuracy is at least 95 %", min(t["train_accuracy"]) >= 0.95)
    ask.that(
        "the best test accuracy is within the limit that guessing at a hundred evaluations of every seed exceeds with "
        "P ≤ 1/1000",
        at_chance,
    )
    most = max(t["best_test_accuracy"])
    ask.remark(
        f"at p ≥ {PAPER_MODULUS} it is at most the paper's 1 %",
        p < PAPER_MODULUS or most <= 0.01,
        f"{percent(most)}; chance {percent(1 / p, 2)}",
    )


@random_tables.claim("3.2")
def random_table(t: Table, ask: Ask) -> None:
    """Most tables hold nothing to learn: random answers are never generalized."""
    chance = 1 / t.one("modulus")
    # The best of many evaluations of few test pairs: five standard deviations above chance.
    limit = chance + 5 * (chance / round((1 - t.one("fraction")) * t.one("modulus") ** 2)) ** 0.5
    ask.that("train accuracy is at least 95 %, in every seed", min(t["train_accuracy"]) >= 0.95)
    at_chance = max(t["best_test_accuracy"]) < limit
    ask.that("the best test accuracy is less than five standard deviations above chance", at_chance)
    ask.show({"train accuracy": t["train_accuracy"], "best test accuracy": t["best_test_accuracy"]}, percent)
    ask.show({"chance": chance, "limit": limit}, percent)
