"""Progress measures on hand-made logits Σ cos(w(a+b−c)), and on the paper's own network written down."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.closed_form import solve
from modgrok.errors import ModgrokError
from modgrok.measures.progress_measures import (
    cosine_fit,
    cross_entropy,
    excluded_logits,
    excluded_loss,
    fourier_basis,
    frequency_norms,
    gini,
    key_frequencies,
    neuron_frequencies,
    restricted_logits,
    restricted_loss,
    sum_directions,
    sum_power,
)
from modgrok.networks import grid, hidden, outputs
from modgrok.tasks import task

P = 13
A, B, C = np.indices((P, P, P))
ANSWERS = (A + B)[..., 0] % P


def cosines(keys: dict[int, float]) -> np.ndarray:
    return sum(size * np.cos(2 * np.pi * k * (A + B - C) / P) for k, size in keys.items())


@given(st.integers(1, 30))
def test_basis_is_orthonormal(p: int) -> None:
    basis = fourier_basis(p)
    np.testing.assert_allclose(basis @ basis.T, np.eye(p), atol=1e-12)


def test_sum_directions_from_the_basis() -> None:
    basis = fourier_basis(P)
    for k in (1, 5):
        cos, sin = basis[2 * k - 1], basis[2 * k]
        directions = sum_directions(P, [k])[0]
        np.testing.assert_allclose(directions[0], (np.outer(cos, cos) - np.outer(sin, sin)) / np.sqrt(2), atol=1e-12)
        np.testing.assert_allclose(directions[1], (np.outer(sin, cos) + np.outer(cos, sin)) / np.sqrt(2), atol=1e-12)
    flat = sum_directions(P, range(1, 7)).reshape(12, -1)
    np.testing.assert_allclose(flat @ flat.T, np.eye(12), atol=1e-12)


def test_restricting_and_excluding() -> None:
    rng = np.random.default_rng(0)
    signal, other = cosines({2: 3.0, 5: 4.0}), rng.normal(size=P)
    memorized = np.cos(2 * np.pi * (A - B) / P)
    logits = signal + other + memorized
    np.testing.assert_allclose(restricted_logits(logits, [2, 5]), signal + other, atol=1e-9)
    np.testing.assert_allclose(excluded_logits(logits, [2, 5]), other + memorized, atol=1e-9)
    np.testing.assert_allclose(excluded_logits(logits, [2]), cosines({5: 4.0}) + other + memorized, atol=1e-9)


def test_losses() -> None:
    logits = cosines({2: 30.0, 5: 20.0}) + 5 * (A == B) * (C == 0)
    assert restricted_loss(logits, ANSWERS, [2, 5]) < cross_entropy(logits, ANSWERS)
    assert excluded_loss(logits, ANSWERS, [2, 5]) == pytest.approx(np.log(P), rel=0.2)
    among = A[..., 0] == B[..., 0]
    assert excluded_loss(logits, ANSWERS, [2], among) != excluded_loss(logits, ANSWERS, [2])


def test_cross_entropy() -> None:
    assert cross_entropy(np.zeros((P, P, P)), ANSWERS) == pytest.approx(np.log(P))
    assert cross_entropy(np.float32(1e6) * (ANSWERS[..., None] == C), ANSWERS) == 0
    assert cross_entropy(np.zeros((P, P, P + 1)), ANSWERS) == pytest.approx(np.log(P + 1))


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=20))
def test_gini_is_the_mean_difference(values: list[float]) -> None:
    c = np.array(values)
    assert gini(c) == pytest.approx(abs(c[:, None] - c).sum() / (2 * len(c) ** 2 * c.mean()), abs=1e-9)


def test_gini_extremes() -> None:
    assert gini(np.ones(5)) == pytest.approx(0)
    assert gini(np.eye(5)[2]) == pytest.approx(1 - 1 / 5)
    assert np.isnan(gini(np.zeros(3)))


def test_key_frequencies_of_a_matrix() -> None:
    n = np.arange(P)
    matrix = np.stack([3 * np.cos(2 * np.pi * 2 * n / P + 0.3), np.sin(2 * np.pi * 5 * n / P)], axis=1)
    norms = frequency_norms(matrix)
    np.testing.assert_allclose(norms, np.sqrt(P / 2) * np.array([0, 3, 0, 0, 1, 0]), atol=1e-12)
    assert key_frequencies(matrix) == (2, 5)
    assert key_frequencies(matrix, 0.5) == (2,)
    np.testing.assert_allclose(frequency_norms(np.ones((6, 2))), 0, atol=1e-12)


def test_keys_of_neurons() -> None:
    a, b = A[..., 0], B[..., 0]
    wave = [np.cos(2 * np.pi * k * a / P + 0.1) for k in (2, 3)]
    bent = np.cos(2 * np.pi * 2 * a / P) * np.sin(2 * np.pi * 2 * b / P) + 7
    noise = np.random.default_rng(0).normal(size=(P, P))
    found = neuron_frequencies(np.stack([*wave, bent, noise], axis=2))
    assert found.frequency[:3].tolist() == [2, 3, 2]
    np.testing.assert_allclose(found.explained[:3], 1)
    assert found.keys() == (2, 3)
    assert np.isnan(neuron_frequencies(np.full((P, P, 1), 0.3)).explained[0])


def test_cosine_fit() -> None:
    fit = cosine_fit(cosines({2: 3.0, 5: 4.0}) + 9)
    np.testing.assert_allclose(fit.coefficients, np.sqrt(P**3 / 2) * np.array([0, 3, 0, 0, 4, 0]), atol=1e-9)
    assert fit.explained == pytest.approx(1)
    assert cosine_fit(cosines({2: 3.0, 5: 4.0}), [5]).explained == pytest.approx(16 / 25)


def test_power_along_sums() -> None:
    logits = cosines({2: 3.0, 5: 4.0})
    share = sum_power(logits)
    np.testing.assert_allclose(share[[1, 4]], [9 / 25, 16 / 25])
    assert share.sum() == pytest.approx(1)
    assert sum_power(np.random.default_rng(0).normal(size=(P, P, P))).sum() < 0.5
    assert sum_power(np.ones((P, P, P))).max() == 0


def test_on_the_paper_s_network() -> None:
    addition = task("n + m", P)
    network = solve(addition, form="exact", frequencies=[2, 5])
    logits = outputs(network, grid((P,) * 2)).reshape(P, P, P)
    assert cosine_fit(logits).explained == pytest.approx(1)
    np.testing.assert_allclose(restricted_logits(logits, [2, 5]), logits, atol=1e-12)
    assert excluded_loss(logits, addition.table, [2, 5]) == pytest.approx(np.log(P))
    assert key_frequencies(network.w_in.transpose(2, 0, 1).reshape(P, -1)) == (2, 5)
    activations = np.square(hidden(network, grid((P,) * 2))).reshape(P, P, -1)[..., :-1]  # the last neuron is constant
    assert (neuron_frequencies(activations).explained < 0.9).all()  # a square has cos 2x, which is not in the block


def test_random_phases_are_restricted_to_their_sums() -> None:
    addition = task("n + m", P)
    logits = outputs(solve(addition, width=120), grid((P,) * 2)).reshape(P, P, P)
    keys = range(1, 7)
    assert 0.5 < cosine_fit(logits).explained < 1
    assert restricted_loss(100 * logits, addition.table, keys) < cross_entropy(100 * logits, addition.table)


def test_wrong_frequencies_are_refused() -> None:
    with pytest.raises(ModgrokError, match="1 to 6 at p = 13; 7"):
        sum_directions(P, [1, 7])
