from types import SimpleNamespace

import numpy as np
import pytest

from modgrok.measures.grokking_events import grokking_events, second_half


def test_gradients_that_grow_long_after_grokking_are_told_apart() -> None:
    step = np.arange(0, 101, 10)
    flat = np.ones(len(step))
    gradient = np.array([1, 2, 4, 6, 3, 1, 1, 1, 1, 9, 8.0])
    names = ("train_loss", "test_loss", "train_accuracy", "test_accuracy", "norm_in", "norm_out", "ipr")
    curves = dict.fromkeys(names, flat) | {"step": step, "gradient_in": gradient, "gradient_out": gradient}
    events = grokking_events(SimpleNamespace(history=curves, result={"memorized_at": 20, "grokked_at": 40}))
    assert events["gradient_peak_at"] == 30
    assert events["gradient_peak"] == pytest.approx(6 * 2**0.5)
    assert events["gradient_settled"] == pytest.approx(2**0.5)
    assert events["gradient_later"] == pytest.approx(9 * 2**0.5)


def test_the_second_half_of_a_run_moves_or_is_flat() -> None:
    step = np.array([0, 10, 50, 100])
    moving = {"step": step, "test_accuracy": np.array([0, 0, 0.5, 0.75]), "test_loss": np.array([8.0, 8, 4, 1])}
    assert second_half(moving) == (0.25, -0.75)
    flat = {"step": step, "test_accuracy": np.array([0, 0, 1.0, 1]), "test_loss": np.array([8.0, 8, 1, 1])}
    assert second_half(flat) == (0, 0)
