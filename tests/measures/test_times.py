import numpy as np
import pytest

from modgrok.measures import first_reached, grokked_at, memorized_at

STEPS = np.array([0, 10, 20, 40])


def test_first_evaluation_at_or_above_the_threshold() -> None:
    reached = first_reached(STEPS, np.array([0.0, 0.5, 0.99, 0.2]))
    assert reached == 20
    assert isinstance(reached, int)


def test_threshold_is_settable() -> None:
    assert first_reached(STEPS, np.array([0.0, 0.5, 0.9, 1.0]), threshold=0.5) == 10


def test_interpolates_only_if_said_so() -> None:
    accuracy = np.array([0.0, 0.2, 0.6, 1.0])
    assert first_reached(STEPS, accuracy, 0.8) == 40
    assert first_reached(STEPS, accuracy, 0.8, interpolate=True) == pytest.approx(30)


@pytest.mark.parametrize("interpolate", [False, True])
def test_edges(interpolate: bool) -> None:
    assert first_reached(STEPS, np.array([0.1, 0.2, 0.3, 0.98]), interpolate=interpolate) is None
    assert first_reached(STEPS[:0], np.array([]), interpolate=interpolate) is None
    assert first_reached(STEPS, np.full(4, np.nan), interpolate=interpolate) is None
    assert first_reached(STEPS, np.ones(4), interpolate=interpolate) == 0
    assert first_reached(STEPS, np.array([0.0, np.nan, 1.0, 1.0]), interpolate=interpolate) == 20


def test_memorization_and_grokking_use_the_same_definition() -> None:
    accuracy = np.array([0.0, 0.5, 0.985, 1.0], dtype=np.float32)
    assert memorized_at(STEPS, accuracy) == grokked_at(STEPS, accuracy) == 40
    assert memorized_at(STEPS, accuracy, 0.98) == grokked_at(STEPS, accuracy, 0.98) == 20
