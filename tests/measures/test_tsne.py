"""Clusters and circles are found in the plane."""

import numpy as np

from modgrok.measures.cosets import within_over_all
from modgrok.measures.principal import commonest_step, tsne


def test_clusters_stay_together() -> None:
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(6), 5)
    points = 10 * np.eye(6)[labels] + 0.1 * random.standard_normal((30, 6))
    assert within_over_all(points, labels) < 0.1
    assert within_over_all(points, random.permutation(labels)) > 0.7
    plane = tsne(points)
    nearest = np.square(plane[:, None] - plane).sum(axis=2) + 1e9 * np.eye(30)
    assert (labels[nearest.argmin(axis=1)] == labels).all()
    np.testing.assert_array_equal(plane, tsne(points))


def test_neighbors_on_a_circle() -> None:
    angle = 2 * np.pi * 8 * np.arange(31) / 31  # neighbors differ by 4, since 4 · 8 = 1 modulo 31
    assert commonest_step(np.stack([np.cos(angle), np.sin(angle)], axis=1)) == (4, 1.0)
