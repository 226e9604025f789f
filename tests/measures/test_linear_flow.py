"""Gradient flow of least squares, against its equations."""

import numpy as np
import pytest

from modgrok.measures.linear_flow import Flow, Inputs, ends

RNG = np.random.default_rng(0)
FEATURES = RNG.standard_normal((2, 40, 3))
ANSWERS = np.sign(FEATURES[0] @ [1.0, 2.0, 0.1]).astype(int)


def test_a_flow_goes_from_its_start_to_the_ridge_solution() -> None:
    train = Inputs(FEATURES[0], ANSWERS)
    flow = Flow(train, 0.1, np.ones(3))
    start, end = flow.weights(np.array([0.0, 1e9]))
    x = FEATURES[0]
    assert start == pytest.approx(np.ones(3))
    assert end == pytest.approx(np.linalg.solve(x.T @ x / 40 + 0.1 * np.eye(3), x.T @ ANSWERS / 40))
    assert ends(FEATURES, ANSWERS, 0.1)[0] == pytest.approx(end)


def test_the_last_error_is_found_between_the_times_given() -> None:
    x = np.array([[1.0, 0.0], [0.0, 1.0]])
    flow = Flow(Inputs(x, np.array([1, 1])), 0.0, np.array([-1.0, 1.0]))
    # The first weight is 1 - 2 exp(-t/2).
    assert flow.last_error(Inputs(x, np.array([1, 1])), np.linspace(0, 5, 6)) == pytest.approx(2 * np.log(2))
    assert flow.last_error(Inputs(x, np.array([-1, 1])), np.linspace(0, 5, 6)) is None


def test_the_end_with_l1_is_where_no_direction_lowers_the_loss() -> None:
    w = ends(FEATURES, ANSWERS, 0.0, 0.3)
    for x, one in zip(FEATURES, w, strict=True):
        gradient = x.T @ (x @ one - ANSWERS) / 40
        assert np.abs(gradient).max() <= 0.3 + 1e-6
        assert gradient[one != 0] == pytest.approx(-0.3 * np.sign(one[one != 0]), abs=1e-6)
