"""Majority's coefficients exactly, and the expected gradient that they give."""

from itertools import product

import numpy as np
import pytest

from modgrok.measures.fourier_gap import closed_form, coefficient, gap, gradient, sampled_gradient


@pytest.mark.parametrize("n", range(9, 32, 2))
@pytest.mark.parametrize("k", [2, 4, 6])
def test_the_fourier_identity_is_exact(n: int, k: int) -> None:
    assert abs(coefficient(n, k - 1)) * (k - 1) == abs(coefficient(n, k + 1)) * (n - k)
    assert abs(coefficient(n, k - 1)) == closed_form(n, k - 1)
    if n > 2 * k:
        assert gap(n, k) >= 0.03 * (n - 1) ** (-(k - 1) / 2)


def test_coefficients_by_enumeration() -> None:
    x = np.array(list(product((-1, 1), repeat=9)))
    majority = np.sign(x.sum(axis=1))
    for degree in (1, 2, 3, 5):
        assert (majority * x[:, :degree].prod(axis=1)).mean() == float(coefficient(9, degree))


def test_the_expected_gradient_by_enumeration() -> None:
    x = np.array(list(product((-1, 1), repeat=9)))
    weights = np.random.default_rng(0).choice([-1, 1], 9)
    fires = x @ weights > 0
    by_hand = ((x[:, :4].prod(axis=1) * fires)[:, None] * x).mean(axis=0)
    assert gradient(weights, 4) == pytest.approx(by_hand)
    assert set(np.argsort(-np.abs(by_hand))[:4].tolist()) == {0, 1, 2, 3}
    sampled = sampled_gradient(weights, 4, 200_000, np.random.default_rng(1))
    assert sampled == pytest.approx(by_hand, abs=0.012)
