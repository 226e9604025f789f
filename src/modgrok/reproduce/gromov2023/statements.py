"""Statements that the paper makes in passing, without a figure: functions, moduli, widths and minibatches that grok;
powers, roots and logarithms, which it names as an outlook."""

import math
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.palette import MARKERS, SERIES
from modgrok.reproduce.form import BEYOND, Ask, Column, Runs, Sizes, Table, runs, study
from modgrok.reproduce.gromov2023.dynamics import all_grok
from modgrok.reproduce.gromov2023.sizes import natural_rate, usual, usual_by_gd
from modgrok.text import count, percent, spread

PRODUCTS = ("n*m", "n^2*m", "(n + 1)*(m^2 + 2)", "(n^2 + 1)*(m + 3)", "n^3*m^3")
SUMS = ("n + m", "n^2 + m^2", "n^3 + 2*m")
MIXED = ("n^2 + m^2 + n*m", "n^2*m + n", "n*m + n^2 + m")
"""f(n, m) + g(n, m), f a sum of functions and g a product of functions, not of that kind together."""
DISGUISED = "n + m + n*m"
"""A sum of that kind which is a product: (n + 1)(m + 1) − 1."""
BATCH_NORM_RATE = 4.0
"""Rate of minibatches with batch norm, in units of gradient descent's divided by p."""
LEARNED = 0.99
"""Test accuracy that counts as learned."""
SHARE = 0.8
NAMES = {
    "n^m": "n^m",
    "root(n+m)": "√(n + m)",
    "log(n*m)": "log(n·m)",
    "n^(1/m)": "m-th root of n",
    "log_n(m)": "log of m to base n",
}
EASY = ("√(n + m)", "log(n·m)")
WELL = f"to at least {percent(LEARNED, 0)} in every seed"


def with_minibatches(s: Sizes) -> Runs:
    """Minibatches of a quarter of the training pairs with batch normalization."""
    p = s.sweep_modulus
    rate = natural_rate(BATCH_NORM_RATE * s.usual_gd.rate / p, p, s.sweep_width)
    pairs = round(s.usual_fraction * p * p / 4)
    return usual_by_gd(s, optimizer="sgd", lr=rate, batch_norm=True, batch_size=pairs)


OUTCOME = ("test_accuracy", "memorized_at", "grokked_at")
variables = study(
    "three_variables",
    "Three variables, trained",
    "n1 + n2 + n3 under AdamW with the activation x³ from half of the table.",
    runs=lambda s: usual(
        s,
        task="n1 + n2 + n3",
        fraction=0.5,
        activation="x^3",
        lr=0.1,
        until=20,
        size={f"{p}, {N}": {"modulus": p, "width": N} for p, N in s.three_variables},
    ),
    keep=OUTCOME,
)
composite = study(
    "composite",
    "Moduli that are not prime",
    "n + m under AdamW modulo composite numbers, and modulo a prime beside them.",
    runs=lambda s: usual(s, modulus=[s.sweep_modulus, *s.composite_moduli], until=0),
    keep=OUTCOME,
)
products = study(
    "products",
    "Products of functions",
    "g1(n)·g2(m) under AdamW for several g1, g2, bijective or not, with zeros or without.",
    runs=lambda s: usual(s, task=[*PRODUCTS], until=0),
    keep=OUTCOME,
)
mixed = study(
    "mixed_functions",
    "Sums of unlike functions",
    "Sums f1(n) + f2(m), and sums of such a sum and a product, under plain gradient descent with equal settings, "
    "against the share of data.",
    runs=lambda s: runs(
        s.mixed.gd(s.sweep_modulus, s.mixed_width, 0.5),
        task=[*SUMS, *MIXED, DISGUISED],
        fraction=[*s.mixed_fractions],
        until=0,
        seed=range(s.mixed_seeds),
    ),
    keep=OUTCOME,
)
capacity = study(
    "capacity",
    "Under- and overparametrized networks",
    "n + m and random labels from the same share of the table under Adam, against width: where random labels "
    "cannot be learned by heart there are too few parameters to memorize.",
    runs=lambda s: usual(s, optimizer="adam", weight_decay=0.0, task=["n + m", "random:0"], width=[*s.capacity_widths]),
    keep=("test_accuracy", "train_accuracy"),
)
minibatches = study(
    "minibatches",
    "Minibatches with batch normalization",
    "n + m under SGD with minibatches of a quarter of the training pairs and batch normalization.",
    runs=with_minibatches,
    keep=OUTCOME,
)


def least(t: Table) -> float:
    """The smallest of all accuracies; 0 for runs that diverged."""
    return min(0.0 if value is None else value for value in t["test_accuracy"])


def _steps(t: Table) -> float:
    """The median time, infinite where that is a run that did not get there."""
    return math.inf if (found := t["grokked_at"].median()) is None else found


@variables.claim("5 (outlook)")
def three_variables_trained(t: Table, ask: Ask) -> None:
    """Modular functions of many variables can be grokked as well."""
    ask.that(f"AdamW learns n1 + n2 + n3 with the activation x³ at every size {WELL}", least(t) >= LEARNED)
    delayed = all_grok(t, lambda r: r.grokked_at >= 1.2 * r.memorized_at)
    ask.remark("every run takes at least a fifth longer to grok than to memorize", delayed)
    cells = t.by("modulus", "width").items()
    ask.show({f"grokking step at p = {p}, N = {N}": cell["grokked_at"] for (p, N), cell in cells})
    ask.show({"test accuracy": t["test_accuracy"]}, percent, "run")
    ask.show({"memorization step": t["memorized_at"]}, over="run")


@composite.claim("2")
def composite_modulus(t: Table, ask: Ask) -> None:
    """The modulus does not have to be prime."""
    cells = t.by("modulus")
    prime, *others = cells
    ask.that(f"AdamW learns n + m modulo composite numbers {WELL}", min(least(cells[p]) for p in others) >= LEARNED)
    alike = all(_steps(cells[p]) <= 2 * _steps(cells[prime]) for p in others)
    ask.remark(f"modulo each composite number it takes at most twice the median steps of p = {prime}", alike)
    ask.show({f"grokking step at p = {p}": cell["grokked_at"] for p, cell in cells.items()})


@products.claim("2")
def products_of_functions(t: Table, ask: Ask) -> None:
    """Functions g1(n)·g2(m) can be grokked too, not only nm."""
    ask.that(f"AdamW learns every product {WELL}", least(t) >= LEARNED)
    ask.show({f"grokking step, {text}": cell["grokked_at"] for text, cell in t.by("task").items()})


@mixed.claim("2, 3.2")
def mixed_functions_harder(t: Table, ask: Ask) -> None:
    """Functions f(n, m) + g(n, m), a sum and a product mixed, need more epochs and more data than either."""
    cells = t.by("task", "fraction")
    steps = {key: _steps(cell) for key, cell in cells.items()}
    learned = [a for a in t["fraction"].distinct() if steps["n + m", a] < math.inf]
    kinds = (MIXED, SUMS[1:], [DISGUISED])
    ratios = ([steps[text, a] / steps["n + m", a] for text in some for a in learned] for some in kinds)
    harder, plain, disguised = ratios
    ask.show({f"grokking step at α = {a}, {text}": cell["grokked_at"] for (text, a), cell in cells.items()})
    ask.show({"f1(n) + f2(m): steps / those of n + m": plain}, over="cell")
    ask.show({"steps at most": str(t.one("steps"))})
    ask.possible(
        "some mixed function is learned at some α where addition is, so that the data it needs is measured",
        min(harder, default=0) < math.inf,
    )
    ask.that("addition is learned at some α", learned)
    ask.that(
        "wherever n + m is learned, every mixed function takes at least 1.5 times its median steps or is not learned",
        min(harder, default=0) >= 1.5,
    )
    none = learned and all(math.isinf(steps[text, learned[0]]) for text in MIXED)
    ask.that("at the smallest α where addition is learned no mixed function is", none)
    easy = max(disguised, default=math.inf) < 1.5
    ask.note(f"{DISGUISED} is none of them: it is the product (n + 1)(m + 1) − 1, and as easy as n + m.", easy)
    alike = not 1.2 < max(plain, default=0) < math.inf
    ask.remark("other sums f1(n) + f2(m) take at most 1.2 times the steps of n + m, where all are learned", alike)


@capacity.claim("2")
def parameter_regimes(t: Table, ask: Ask) -> None:
    """The width tunes between under- and overparametrized networks, and both grok."""
    kept = t.where(task="random:0").of("train_accuracy", Column.average, "width")
    cells = t.where(task="n + m").by("width")
    learned = [N for N, cell in cells.items() if least(cell) >= LEARNED]
    within = f"within {count(t.one('steps'))} steps"
    under = any(kept[N] < 0.9 for N in learned)
    ask.that(f"{within} some width learns n + m {WELL}, and less than 90 % of random labels on average", under)
    ask.that(
        f"{within} some width learns n + m {WELL}, and at least {percent(LEARNED, 0)} of random labels on average",
        any(kept[N] >= LEARNED for N in learned),
    )
    ask.remark("n + m is learned at every width", len(learned) == len(cells))
    for N, cell in cells.items():
        both = f"{percent(kept[N])}, {spread(cell['test_accuracy'], percent)}"
        ask.show({f"N = {N}: train accuracy on random labels, test accuracy on n + m": both})


@minibatches.claim("2")
def minibatch_batch_norm(t: Table, ask: Ask) -> None:
    """SGD with minibatches and batch normalization groks."""
    pairs = t.one("batch_size")
    ask.that(f"SGD with minibatches of {pairs} pairs and batch normalization learns n + m {WELL}", least(t) >= LEARNED)
    ask.show({"memorization step": t["memorized_at"], "grokking step": t["grokked_at"]})
    ask.show({"test accuracy": t["test_accuracy"]}, percent)


def learned(run: Run) -> dict[str, Any]:
    table = run.task.table
    _answers, counts = np.unique(table[table >= 0], return_counts=True)
    best = np.nanmax(run.history["test_accuracy"])
    return {"structure": run.task.structure.kind, "commonest": counts.max() / counts.sum(), "best_test_accuracy": best}


powers = study(
    "powers",
    "Powers, roots and logarithms",
    "Functions that the paper names as an outlook, each with the verdict of the search for structure. The square root "
    "of a sum and the logarithm of a product are functions of a sum; n^m is a product of log n and m modulo p − 1, the "
    "m-th root of n and the logarithm of m to base n are quotients modulo p − 1. All have closed forms.",
    runs=lambda s: usual(
        s,
        name={name: {"task": f"discrete:{text}"} for text, name in NAMES.items()},
        modulus=[*s.power_moduli],
        fraction=SHARE,
        steps=s.power_steps,
        evaluations=60,
        until=0,
    ),
    keep=learned,
    beyond=True,
)


@powers.figure(height=3.0)
def learned_and_not(t: Table, panel: Any) -> str:
    moduli = t.by("modulus")
    places = np.arange(len(NAMES))
    for i, ((p, some), color, marker) in enumerate(zip(moduli.items(), SERIES, MARKERS, strict=False)):
        cells = some.by("name").values()
        at = places + (i - (len(moduli) - 1) / 2) * 0.12
        values = [cell["best_test_accuracy"].average() for cell in cells]
        panel.plot(at, values, color=color, marker=marker, markersize=6, linestyle="", label=f"p = {p}")
        for place, cell in zip(at, cells, strict=True):
            panel.hlines(cell.first.commonest, place - 0.05, place + 0.05, color=color, linewidth=1)
    kinds = {name: ", ".join(some["structure"].distinct()).replace("_", " ") for name, some in t.by("name").items()}
    panel.set_xticks(places, [f"{name}\n{kind}" for name, kind in kinds.items()])
    panel.set(ylim=(-0.03, 1.05), ylabel="best test accuracy")
    panel.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    panel.set_title("learned, and the structure found in the table")
    return f"N = {t.one('width')}, α = {SHARE}, AdamW; dashes: the commonest answer's share of the inputs"


@powers.claim(BEYOND)
def roots_and_logarithms(t: Table, ask: Ask) -> None:
    """The square root of a sum and the logarithm of a product are learned, as other functions of them are."""
    best = {name: t.where(name=name)["best_test_accuracy"] for name in EASY}
    ask.that(
        f"from {SHARE} of the inputs both are learned to a test accuracy of at least 99 %, at every p and seed",
        min(map(min, best.values())) >= 0.99,
    )
    ask.show({f"best test accuracy, {name}": values for name, values in best.items()}, percent, "run")
    ask.show({"p": ", ".join(map(str, t["modulus"].distinct()))})


@powers.claim(BEYOND)
def structure_predicts(t: Table, ask: Ask) -> None:
    """What has a structure F(f1(n) ∘ f2(m)) is learned: also powers, roots and logarithms, which are products and
    quotients modulo p − 1."""
    cells = t.by("name", "modulus")
    means = {key: cell["best_test_accuracy"].average() for key, cell in cells.items()}
    poor = [f"{name} modulo {p}" for (name, p), mean in means.items() if mean < 0.99]
    known = all(cell.first.structure not in ("none", "unknown") for cell in cells.values())
    ask.that("every table has a known structure", known)
    ask.that(
        "the best test accuracy of each at every p is at least 99 %, on average over seeds",
        not poor,
        f"not {', '.join(poor)}" if poor else None,
    )
    for (name, p), cell in cells.items():
        kind = cell.first.structure.replace("_", " ")
        both = f"{percent(means[name, p])}, {percent(cell.first.commonest)}"
        ask.show({f"{name} modulo {p} ({kind}): best test accuracy, commonest answer": both})
