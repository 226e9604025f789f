"""Features that are not learned: the network of infinite width in the kernel regime, solved exactly, and a random first
layer of finite width. Both learn by heart and do not grok (5.1)."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from modgrok.measures.infinite_width import interpolation_error, kernel_predictor
from modgrok.measures.tangent_kernel import kernel_answers
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
    for text in (*FUNCTIONS, CONTROL):
        learned = task(text, s.modulus)
        for fraction in s.kernel_fractions:
            for seed in range(s.seeds):
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
    for text in ("n + m", "n*m", CONTROL):
        learned = task(text, p)
        answers = learned.table.reshape(-1)
        for N, seed in product(s.feature_widths, range(SPLITS)):
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


@finite_width.claim(
    "5.1",
    f"trained on α = {FEATURE_FRACTION}: test accuracy < 10 % for n + m and nm at every width and split, with ≥ 99 % "
    "of the training pairs known at the largest width; on a function of n alone > 90 % there",
)
def random_features(t: Table, ask: Ask) -> None:
    """Random-feature models of finite width do not grok modular functions either."""
    modular, widest = t.where(lambda r: r.task != CONTROL), t.where(width=max(t["width"]))
    ask.yes("With a random first layer the second learns its training pairs by heart and fails on test pairs.")
    ask.fault("Random features generalize.", max(modular["test_accuracy"]) >= 0.1)
    ask.fault("The training pairs are not learned either.", min(widest["train_accuracy"]) < 0.99)
    ask.fault("Not even a function of n alone is learned.", min(widest.where(task=CONTROL)["test_accuracy"]) <= 0.9)
    for (text, N), cell in t.by("task", "width").items():
        both = f"{spread(cell['train_accuracy'], percent)}; {spread(cell['test_accuracy'], percent)}"
        ask.show({f"{text}, N = {N}: train; test accuracy": both})
    ask.show({"p": str(t.one("modulus"))})


@infinite_width.claim(
    "5.1",
    "the exact kernel predictor interpolates the training pairs (largest error < 1e-9) and is right on < 10 % of the "
    "test pairs, for every function, α and split; on a function of n alone it is right on > 90 %",
)
def kernel(t: Table, ask: Ask) -> None:
    """Infinitely wide networks in the kernel regime do not grok modular functions."""
    control, modular = t.where(task=CONTROL), t.where(lambda r: r.task != CONTROL)
    error = max(modular["train_error"])
    fractions = ", ".join(map(number, t["fraction"].distinct()))
    for text, cell in modular.by("task").items():
        ask.show({f"test accuracy of {text}, α = {fractions}": cell["test_accuracy"]}, percent, "split")
    ask.show({f"test accuracy of {CONTROL}": control["test_accuracy"]}, percent, "split")
    ask.show({"largest error on a training pair": error})
    ask.show({"chance": 1 / t.one("modulus")}, percent)
    ask.yes("The kernel predictor interpolates every training pair and fails on test pairs: no grokking.")
    ask.end("The kernel predictor generalizes.", max(modular["test_accuracy"]) >= 0.1)
    ask.end("The kernel predictor does not interpolate the training pairs.", error >= 1e-9)
    ask.end("The kernel predictor does not even learn a function of n alone.", min(control["test_accuracy"]) <= 0.9)
