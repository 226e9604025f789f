"""How losses go on the way: the maximum of the test loss before grokking, and how fast the training loss falls."""

from typing import Any

import numpy as np

from modgrok.measures.times import THRESHOLD

ONSET = 0.1
"""Test accuracy at which generalization counts as begun."""


def loss_peak(history: dict[str, np.ndarray], result: Any) -> dict[str, float]:
    """The maximum of the test loss until grokking: when, how far above the least before, and the test accuracy there.

    It is local: where the loss stands highest above the least that it was before. Answers that are not equally
    frequent, as those of (n + m)², are learned first, and the loss begins by falling.
    """
    step, test, loss = (history[name] for name in ("step", "test_accuracy", "test_loss"))
    grokked = result["grokked_at"]
    before = len(step) if grokked is None else int(np.searchsorted(step, grokked)) + 1
    rise = loss[:before] / np.minimum.accumulate(loss[:before])
    peak = int(rise.argmax())
    return {"peak_at": step[peak], "rise": rise[peak] - 1, "test_accuracy_at_peak": test[peak]}


def acceleration(history: dict[str, np.ndarray], result: Any) -> dict[str, Any]:
    """The mean rate −d ln(train loss)/dt from memorization to the onset of generalization (10 % test accuracy), and on
    to grokking. Without grokking, from memorization to half of the steps and on to the end."""
    step, test, loss = history["step"], history["test_accuracy"], np.log(history["train_loss"])
    if result["memorized_at"] is None:
        return {"before": None, "during": None}
    known = int(np.searchsorted(step, result["memorized_at"]))
    if result["grokked_at"] is None:
        middle, last = int(np.searchsorted(step, step[-1] / 2)), len(step) - 1
    else:
        middle, last = (int(np.flatnonzero(test >= share)[0]) for share in (ONSET, THRESHOLD))

    def rate(first: int, last: int) -> float | None:
        return (loss[first] - loss[last]) / (step[last] - step[first]) if last > first else None

    return {"before": rate(known, middle), "during": rate(middle, last)}
