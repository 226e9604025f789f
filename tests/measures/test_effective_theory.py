"""The exact numbers of the effective theory of embeddings, and the share of parallelograms that hold."""

import numpy as np
import pytest

from modgrok.measures.parallelograms import (
    best_accuracy,
    degrees_of_freedom,
    draw_pairs,
    grokking_rate,
    parallelograms,
    predicted_accuracy,
    representation_quality,
    unordered_pairs,
)

EVERYTHING = unordered_pairs(10)


def test_all_pairs_have_seventy_parallelograms_and_force_a_line() -> None:
    shapes = parallelograms(EVERYTHING)
    assert shapes.shape == (70, 4)
    assert (shapes[:, 0] + shapes[:, 1] == shapes[:, 2] + shapes[:, 3]).all()
    assert degrees_of_freedom(EVERYTHING) == 2
    assert grokking_rate(EVERYTHING) == pytest.approx(6 / 7)
    assert degrees_of_freedom([]) == 10


@pytest.mark.parametrize(("size", "share"), [(15, 0.0), (18, 0.06), (21, 0.27), (24, 0.72), (27, 0.90), (33, 1.0)])
def test_how_often_a_training_set_forces_a_line(size: int, share: float) -> None:
    rng = np.random.default_rng(size)
    found = np.mean([degrees_of_freedom(draw_pairs(size, rng)) == 2 for _ in range(200)])
    assert found == pytest.approx(share, abs=0.1)


@pytest.mark.parametrize(("size", "rate"), [(20, 0.0), (25, 0.10), (30, 0.23), (40, 0.47), (50, 0.71)])
def test_grokking_rates(size: int, rate: float) -> None:
    rng = np.random.default_rng(size)
    assert np.median([grokking_rate(draw_pairs(size, rng)) for _ in range(100)]) == pytest.approx(rate, abs=0.05)


def test_quality_is_one_for_lines_and_small_for_noise() -> None:
    line = np.arange(10.0)[:, None] * 3 + 5
    assert representation_quality(line) == 1
    assert representation_quality(np.hstack([line, -2 * line])) == 1
    noise = np.random.default_rng(0).standard_normal((10, 1))
    assert representation_quality(noise) < 0.2


def test_accuracy_that_embeddings_and_training_sets_imply() -> None:
    line, noise = np.arange(10.0)[:, None], np.random.default_rng(0).standard_normal((10, 3))
    some = draw_pairs(30, np.random.default_rng(1))
    assert predicted_accuracy(noise, some) == pytest.approx(30 / 55)
    sums = {i + j for i, j in some}
    assert predicted_accuracy(line, some) == pytest.approx(sum(i + j in sums for i, j in EVERYTHING) / 55)
    assert 30 / 55 <= best_accuracy(some) <= predicted_accuracy(line, some)
    assert best_accuracy(EVERYTHING) == 1
    assert best_accuracy([(0, 1), (3, 4)]) == pytest.approx(2 / 55)
