"""When a run memorized and when it grokked: one definition for curves, sweeps and reports."""

from typing import NamedTuple

import numpy as np

from modgrok.shapes import Float, Integer

THRESHOLD = 0.99
"""Accuracy that counts as having learned."""


class Crossing(NamedTuple):
    """When a curve first reached a threshold, as exactly as its evaluations say."""

    after: int | None
    """The evaluation before, at which it had not; None where there is none."""
    at: int | None
    """The first evaluation at which it had; None where it never did."""
    interpolated: float | None
    """Where the straight line between the two crosses the threshold."""


Steps = Integer[np.ndarray, "evaluation"]
Accuracy = Float[np.ndarray, "evaluation"]


def first_reached(
    steps: Steps, accuracy: Accuracy, threshold: float = THRESHOLD, interpolate: bool = False
) -> int | float | None:
    """The step of the first evaluation with accuracy ≥ threshold, or None.

    Interpolated, it is where the straight line from the evaluation before crosses the threshold: a float.
    """
    accuracy = np.asarray(accuracy)
    reached = np.flatnonzero(accuracy >= threshold)
    if not len(reached):
        return None
    i = int(reached[0])
    if not interpolate:
        return int(steps[i])
    if i == 0 or not np.isfinite(accuracy[i - 1]):
        return float(steps[i])
    return float(np.interp(threshold, accuracy[i - 1 : i + 1], steps[i - 1 : i + 1]))


def crossing(steps: Steps, accuracy: Accuracy, threshold: float = THRESHOLD) -> Crossing:
    """The first crossing of a threshold, with the two evaluations between which it lies."""
    between = first_reached(steps, accuracy, threshold, interpolate=True)
    if between is None:
        return Crossing(None, None, None)
    i = int(np.argmax(np.asarray(accuracy) >= threshold))
    return Crossing(int(steps[i - 1]) if i else None, int(steps[i]), between)


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
