"""The page of NumPy says what the package computes."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import modgrok as mg

PAGE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "paper_in_one_page.py"))
P = PAGE["p"]
N_OF_PAIR, M_OF_PAIR = np.divmod(np.arange(P * P), P)


def network_of(w1: np.ndarray, w2: np.ndarray) -> mg.Network:
    return mg.two_layer(w1.reshape(-1, 2, P), w2)


@pytest.fixture
def weights() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.normal(size=(16, 2 * P)), rng.normal(size=(P, 16))


def test_forward_pass(weights: tuple[np.ndarray, np.ndarray]) -> None:
    found = PAGE["network"](*weights, N_OF_PAIR, M_OF_PAIR) * PAGE["N"] / 16
    expected = network_of(*weights)(np.stack([N_OF_PAIR, M_OF_PAIR], axis=1))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_ipr(weights: tuple[np.ndarray, np.ndarray]) -> None:
    assert PAGE["ipr"](weights[0]) == pytest.approx(float(mg.average_ipr(weights[0].reshape(-1, 2, P)).mean))


def test_claim_1_is_the_closed_form() -> None:
    width = 96
    w1, w2 = PAGE["claim_1"](width, np.random.default_rng(3))
    closed = mg.solve("n + m", modulus=P, width=width, seed=3)
    np.testing.assert_allclose(w1.reshape(width, 2, P), closed.w_in, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(w2, closed.w_out, rtol=1e-9, atol=1e-12)
    expected = mg.score_table(closed, mg.task("n + m", P).table).accuracy
    assert PAGE["accuracy"](w1, w2, N_OF_PAIR, M_OF_PAIR) == pytest.approx(expected)
    assert PAGE["ipr"](w1) == pytest.approx(1 / 4)


def test_gradient(weights: tuple[np.ndarray, np.ndarray]) -> None:
    rng = np.random.default_rng(2)
    n, m = rng.integers(0, P, (2, 40))
    toward = [rng.normal(size=w.shape) for w in weights]

    def loss(t: float) -> float:
        f = PAGE["network"](*(w + t * d for w, d in zip(weights, toward, strict=True)), n, m)
        return float(np.mean((f - np.eye(P)[(n + m) % P]) ** 2))

    slope = (loss(1e-4) - loss(-1e-4)) / 2e-4
    found = sum((g * d).sum() for g, d in zip(PAGE["gradient"](*weights, n, m), toward, strict=True))
    assert found == pytest.approx(slope, rel=1e-5)


def test_it_memorizes_first_and_draws(tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    PAGE["main"](steps=20, picture=picture)
    assert picture.stat().st_size > 10_000
    _, _, curves = PAGE["train"](700, np.random.default_rng(0))
    step, train, test, _ = curves.T
    assert step[-1] <= 700
    assert train[-1] > 0.9
    assert test[-1] < 0.5
