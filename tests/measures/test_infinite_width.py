import numpy as np

from modgrok.measures.tangent_kernel import (
    features,
    interpolation_error,
    kernel_predictor,
)
from modgrok.networks import grid
from modgrok.tasks import Split, task


def infinite_tangent_kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """$4 + 6c^2$ between pairs, c the number of variables in which they agree."""
    return 4.0 + 6 * (a[:, None, :] == b[None, :, :]).sum(axis=2) ** 2


def test_the_kernel_is_that_of_a_wide_random_network() -> None:
    rng = np.random.default_rng(0)
    p, width = 5, 400_000
    w = rng.standard_normal((width, 2, p))
    inputs = np.array([[1, 2], [1, 3], [4, 0], [1, 2]])
    u = w[:, 0, inputs[:, 0]] + w[:, 1, inputs[:, 1]]
    overlap = (inputs[:, None] == inputs).sum(axis=2)
    measured = (u**2).T @ u**2 / width + overlap * (4 * u.T @ u / width)
    np.testing.assert_allclose(measured, infinite_tangent_kernel(inputs, inputs), rtol=0.02)


def test_the_predictor_solves_kernel_regression() -> None:
    addition = task("n + m", 7)
    train, test = Split(0.6).divide(addition)
    inputs, answers = grid((7, 7)), np.eye(7)[addition.table.reshape(-1)]
    kernel = infinite_tangent_kernel(inputs[train], inputs[train])
    direct = infinite_tangent_kernel(inputs[test], inputs[train]) @ np.linalg.solve(kernel, answers[train])
    np.testing.assert_allclose(kernel_predictor(addition, train, test), direct, atol=1e-12)


def test_the_kernel_interpolates_whatever_the_table_is() -> None:
    for text in ("n + m", "random:3"):
        learned = task(text, 7)
        train, _ = Split(0.6).divide(learned)
        assert interpolation_error(learned, train) < 1e-12


def test_features_are_the_kernel_without_its_memory() -> None:
    inputs = grid((4, 4))
    kernel = infinite_tangent_kernel(inputs, inputs) - 12 * np.eye(len(inputs))
    np.testing.assert_allclose(features(inputs, 4) @ features(inputs, 4).T, kernel, atol=1e-12)
