"""When a run memorized and when it grokked: one definition for curves, sweeps and reports."""

import numpy as np
from jaxtyping import Float, Integer

THRESHOLD = 0.99
"""Accuracy that counts as having learnt."""

Steps = Integer[np.ndarray, "evaluation"]
Accuracy = Float[np.ndarray, "evaluation"]


def first_reached(
    steps: Steps, accuracy: Accuracy, threshold: float = THRESHOLD, interpolate: bool = False
) -> int | float | None:
    """The step of the first evaluation with accuracy ≥ threshold, or None.

    Interpolated, it is where the straight line from the evaluation before crosses the threshold: a float.
    """
    reached = np.flatnonzero(accuracy >= threshold)
    if not len(reached):
        return None
    i = int(reached[0])
    if not interpolate:
        return int(steps[i])
    if i == 0 or not np.isfinite(accuracy[i - 1]):
        return float(steps[i])
    return float(np.interp(threshold, accuracy[i - 1 : i + 1], steps[i - 1 : i + 1]))


def memorized_at(
    steps: Steps, train_accuracy: Accuracy, threshold: float = THRESHOLD, interpolate: bool = False
) -> int | float | None:
    """When the training accuracy first reached the threshold."""
    return first_reached(steps, train_accuracy, threshold, interpolate)


def grokked_at(
    steps: Steps, test_accuracy: Accuracy, threshold: float = THRESHOLD, interpolate: bool = False
) -> int | float | None:
    """When the test accuracy first reached the threshold."""
    return first_reached(steps, test_accuracy, threshold, interpolate)
