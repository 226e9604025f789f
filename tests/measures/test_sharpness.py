from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.experiments import Experiment
from modgrok.experiments.train import train_all
from modgrok.measures import sharpness
from modgrok.measures.sharpness import largest_eigenvalue, loss_sharpness, traced_eigenvalue


def test_the_largest_eigenvalue_of_a_matrix_is_found_from_products() -> None:
    rng = np.random.default_rng(0)
    half = rng.standard_normal((40, 40))
    matrix = half + half.T - 30 * np.eye(40)  # the largest eigenvalue is not the largest in size
    assert largest_eigenvalue(lambda v: matrix @ v, 40, 40) == pytest.approx(np.linalg.eigvalsh(matrix)[-1], rel=1e-5)
    assert largest_eigenvalue(lambda v: 0 * v, 5) == 0
    assert largest_eigenvalue(lambda v: 3 * v, 7) == pytest.approx(3, rel=1e-6)


def test_sharpness_is_the_curvature_at_each_point() -> None:
    def loss(point: dict[str, jnp.ndarray]) -> jnp.ndarray:
        return (point["a"] ** 4).sum() + 2 * (point["b"] ** 2).sum()

    points = [{"a": jnp.full(3, a, jnp.float32), "b": jnp.zeros(2, jnp.float32)} for a in (0.0, 1.0, np.nan)]
    np.testing.assert_allclose(sharpness(loss, points), [4, 12, np.nan], rtol=1e-5)


def test_the_recorded_eigenvalue_is_the_same() -> None:
    rng = np.random.default_rng(1)
    half = rng.standard_normal((60, 60)).astype(np.float32)
    matrix = jnp.asarray(half + half.T + 40 * np.outer(half[0], half[0]) / 60)
    found = traced_eigenvalue(lambda v: matrix @ v, 60)
    assert float(found) == pytest.approx(np.linalg.eigvalsh(matrix)[-1], rel=1e-4)


def test_sharpness_recorded_on_the_way_is_that_of_the_snapshots(tmp_path: Path) -> None:
    settings = {"task": "n + m", "modulus": 11, "width": 12, "optimizer": "gd", "lr": 1000.0, "fraction": 0.5}
    (run,) = train_all([Experiment(**settings, steps=3, evaluations=2, snapshots=2, record=("sharpness",))], tmp_path)
    examples = run.experiment.split.examples_of(run.task)
    found = loss_sharpness([run.network], examples.inputs[examples.trained], examples.labels[examples.trained])
    assert run.history["sharpness"][-1] == pytest.approx(found[0], rel=1e-2)
