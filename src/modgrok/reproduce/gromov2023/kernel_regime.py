"""Features that are not learned: the network of infinite width in the kernel regime, solved exactly, and a random first
layer of finite width. Both learn by heart and do not grok (5.1)."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from modgrok.measures.tangent_kernel import interpolation_error, kernel_answers, kernel_predictor
from modgrok.reproduce.form import Ask, Sizes, Table, study
from modgrok.tasks import Split, task
from modgrok.text import number, percent, spread

FUNCTIONS = ("n + m", "n - m", "n*m", "n^2 + m^2", "(n + m)^2", "n^2 + m^2 + n*m")
CONTROL = "n^2 + 0*m"
"""A function of n alone, which the kernel can learn."""
FEATURE_FRACTION, SPLITS = 0.5, 3
"""α of random features, and draws of them."""


def predicted(s: Sizes) -> Iterator[dict[str, Any]]:
    """Accuracies of the kernel predictor for every function, fraction and split."""
    for text, fraction, seed in product((*FUNCTIONS, CONTROL), s.kernel_fractions, range(s.seeds)):
        learned = task(text, s.modulus)
        train, test = Split(fraction, seed=seed).divide(learned)
        right = kernel_predictor(learned, train, test).argmax(axis=1) == learned.table.reshape(-1)[test]
        found = {"test_accuracy": right.mean(), "train_error": interpolation_error(learned, train)}
        yield {"task": text, "modulus": s.modulus, "fraction": fraction, "seed": seed, **found}


infinite_width = study(
    "kernel",
    "Infinite width in the kernel regime",
    "The neural tangent kernel of the quadratic network in closed form, 4 + 6c² for inputs that agree in c "
    "variables, and its predictor on all test pairs of several functions.",
    rows=predicted,
)


def regressed(s: Sizes) -> Iterator[dict[str, Any]]:
    """Networks of finite width whose first layer stays random and whose second is solved for."""
    p = s.sweep_modulus
    for text, N, seed in product(("n + m", "n*m", CONTROL), s.feature_widths, range(SPLITS)):
        learned = task(text, p)
        answers = learned.table.reshape(-1)
        layer = np.random.default_rng(seed).standard_normal((N, 2, p))
        features = np.square(layer[:, 0, :, None] + layer[:, 1, None, :]).reshape(N, -1).T
        train, test = Split(FEATURE_FRACTION, seed=seed).divide(learned)
        seen = features[train]
        right = kernel_answers(seen @ seen.T, features @ seen.T, answers[train], p) == answers
        found = {"train_accuracy": right[train].mean(), "test_accuracy": right[test].mean()}
        yield {"task": text, "modulus": p, "width": N, "seed": seed, **found}


finite_width = study(
    "random_features",
    "Random features of finite width",
    "Quadratic networks whose first layer stays as it is drawn and whose second layer is solved for by least squares, "
    "which is where gradient descent on it ends.",
    rows=regressed,
)


@finite_width.claim("5.1")
def random_features(t: Table, ask: Ask) -> None:
    """Random-feature models of finite width do not grok modular functions either."""
    modular, widest = t.where(lambda r: r.task != CONTROL), t.where(width=max(t["width"]))
    known = min(widest.where(task=CONTROL)["test_accuracy"])
    poor = max(modular["test_accuracy"]) < 0.1
    ask.that(f"with α = {FEATURE_FRACTION} test accuracy is below 10 % for n + m and nm at every width and split", poor)
    ask.that("train accuracy is at least 99 % at the largest width", min(widest["train_accuracy"]) >= 0.99)
    ask.that("test accuracy on a function of n alone is above 90 % at the largest width", known > 0.9)
    for (text, N), cell in t.by("task", "width").items():
        both = f"{spread(cell['train_accuracy'], percent)}; {spread(cell['test_accuracy'], percent)}"
        ask.show({f"{text}, N = {N}: train; test accuracy": both})
    ask.show({"p": str(t.one("modulus"))})


@infinite_width.claim("5.1")
def kernel(t: Table, ask: Ask) -> None:
    """Infinitely wide networks in the kernel regime do not grok modular functions."""
    control, modular = t.where(task=CONTROL), t.where(lambda r: r.task != CONTROL)
    error, known = max(modular["train_error"]), control["test_accuracy"]
    fractions = ", ".join(map(number, t["fraction"].distinct()))
    ask.that("the exact kernel predictor is off by less than 1e-9 on every training pair", error < 1e-9, error)
    poor, said = max(modular["test_accuracy"]) < 0.1, spread(known, percent, "split")
    ask.that("the predictor's test accuracy is below 10 % for every function, α and split", poor)
    ask.that("the predictor's test accuracy on a function of n alone is above 90 %", min(known) > 0.9, said)
    for text, cell in modular.by("task").items():
        ask.show({f"test accuracy of {text}, α = {fractions}": cell["test_accuracy"]}, percent, "split")
    ask.show({"chance": 1 / t.one("modulus")}, percent)
