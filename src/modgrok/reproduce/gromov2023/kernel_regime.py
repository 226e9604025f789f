"""The network of infinite width in the kernel regime, solved exactly: it learns by heart and does not grok (5.1)."""

from collections.abc import Iterator
from typing import Any

from modgrok.measures.infinite_width import interpolation_error, kernel_predictor
from modgrok.reproduce.form import Ask, Sizes, Table, study
from modgrok.tasks import Split, task
from modgrok.text import number, percent

FUNCTIONS = ("n + m", "n - m", "n*m", "n^2 + m^2", "(n + m)^2", "n^2 + m^2 + n*m")
CONTROL = "n^2 + 0*m"
"""A function of n alone, which the kernel can learn."""


def predicted(s: Sizes) -> Iterator[dict[str, Any]]:
    """Accuracies of the kernel predictor for every function, fraction and split."""
    for text in (*FUNCTIONS, CONTROL):
        learnt = task(text, s.modulus)
        for fraction in s.kernel_fractions:
            for seed in range(s.seeds):
                train, test = Split(fraction, seed=seed).divide(learnt)
                right = kernel_predictor(learnt, train, test).argmax(axis=1) == learnt.table.reshape(-1)[test]
                found = {"test_accuracy": right.mean(), "train_error": interpolation_error(learnt, train)}
                yield {"task": text, "modulus": s.modulus, "fraction": fraction, "seed": seed, **found}


infinite_width = study(
    "kernel",
    "Infinite width in the kernel regime",
    "The neural tangent kernel of the quadratic network in closed form, 4 + 6c² for inputs that agree in c "
    "variables, and its predictor on all test pairs of several functions.",
    rows=predicted,
)


@infinite_width.claim(
    "5.1",
    "the exact kernel predictor interpolates the training pairs (largest error < 1e-9) and is right on < 10 % of the "
    "test pairs, for every function, α and split; on a function of n alone it is right on > 90 %",
)
def kernel(t: Table, ask: Ask) -> None:
    """Infinitely wide networks in the kernel regime do not grok modular functions."""
    control, modular = t.where(task=CONTROL), t.where(lambda r: r.task != CONTROL)
    fails, error = max(modular["test_accuracy"]) < 0.1, max(modular["train_error"])
    ask.yes("The kernel predictor interpolates every training pair and fails on test pairs: no grokking.")
    ask.fault("The kernel predictor generalizes.", not fails)
    ask.fault("The kernel predictor does not interpolate the training pairs.", fails and error >= 1e-9)
    ask.fault(
        "The kernel predictor does not even learn a function of n alone.",
        fails and error < 1e-9 and min(control["test_accuracy"]) <= 0.9,
    )
    fractions = ", ".join(map(number, t["fraction"].distinct()))
    for text, cell in modular.by("task").items():
        ask.show({f"test accuracy of {text}, α = {fractions}": cell["test_accuracy"]}, percent, "split")
    ask.show({f"test accuracy of {CONTROL}": control["test_accuracy"]}, percent, "split")
    ask.show({"largest error on a training pair": error})
    ask.show({"chance": 1 / t.one("modulus")}, percent)
