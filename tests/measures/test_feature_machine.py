"""A machine that learns features: its gradients, its deviation from circulant, and that it groks."""

import numpy as np
import pytest

from modgrok.measures.feature_machine import deviation, learn, mean_product, root


def test_the_machines_gradients_are_derivatives() -> None:
    """∇ of f(x) = Σ_j a_j (xᵀMx_j)² is 2 M Σ_j a_j (xᵀMx_j) x_j."""
    random = np.random.default_rng(1)
    x, weights, half = random.normal(size=(6, 4)), random.normal(size=(6, 3)), random.normal(size=(4, 4))
    features = half @ half.T
    step = 1e-6

    def predicted(at: np.ndarray) -> np.ndarray:
        return (at @ features @ x.T) ** 2 @ weights

    slopes = np.stack([(predicted(x + step * e) - predicted(x - step * e)) / (2 * step) for e in np.eye(4)])
    expected = np.einsum("dnq,enq->de", slopes, slopes) / len(x)
    found = features @ mean_product(x @ features @ x.T, weights, x) @ features
    assert found == pytest.approx(expected, rel=1e-5)
    top = root(found)
    assert top @ top / np.abs(top @ top).max() == pytest.approx(found / np.abs(found).max())


def test_deviation_is_zero_for_equal_diagonals_and_one_for_noise() -> None:
    n = np.arange(7)
    waves = np.cos(2 * np.pi * 3 * (n + n[:, None]) / 7)
    assert deviation(waves) == pytest.approx(0, abs=1e-12)
    assert deviation(waves[::-1]) == pytest.approx(0, abs=1e-12)
    noise = deviation(np.random.default_rng(0).normal(size=(101, 101)))
    assert noise is not None
    assert noise > 0.97
    assert deviation(np.zeros((7, 7))) is None


def test_the_machine_interpolates_and_understands_later() -> None:
    found = learn(13, 0.75, 30)
    assert max(one.train_loss for one in found) < 1e-12
    assert found[0].test_accuracy < 0.1
    assert found[-1].test_accuracy > 0.9
