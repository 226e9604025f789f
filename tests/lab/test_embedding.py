"""What is drawn of a network that has a vector for every number."""

import numpy as np
import pytest

from modgrok.lab.embedding import picture
from modgrok.networks import Network, architecture_named
from modgrok.tasks import task


def with_embedding(vectors: np.ndarray) -> Network:
    """An embedding-mlp of which only the embedding is looked at."""
    size, length = vectors.shape
    architecture = architecture_named("embedding-mlp")(width=4, embedding=length)
    return Network(architecture, task("n + m", size).signature, {"embedding": vectors})


def circle(places: np.ndarray, k: int, length: int) -> np.ndarray:
    angle = 2 * np.pi * k * places / length
    return np.stack([np.cos(angle), np.sin(angle), 0 * angle + 3], axis=1)


def test_numbers_on_a_circle_have_one_frequency_and_fill_a_plane() -> None:
    addition = task("n + m", 13)
    facts, arrays = picture(with_embedding(circle(np.arange(13), 4, 13)), addition, addition.structure.coordinate)
    np.testing.assert_allclose(arrays["embedding_spectrum"], np.eye(7)[4], atol=1e-6)
    np.testing.assert_allclose(facts["embedding_shares"], [0.5, 0.5])
    np.testing.assert_allclose(np.hypot(*arrays["embedding_plane"].T), 1, rtol=1e-6)
    assert facts["embedding_size"] == 3


def test_products_are_read_along_the_logarithm() -> None:
    product = task("n * m", 11)
    coordinate = product.structure.coordinate
    assert coordinate is not None
    vectors = circle(coordinate.index[0], 3, 10) * (coordinate.index[0] >= 0)[:, None]
    _, along = picture(with_embedding(vectors), product, coordinate)
    _, raw = picture(with_embedding(vectors), product, None)
    assert along["embedding_spectrum"][3] == pytest.approx(1)
    assert raw["embedding_spectrum"].max() < 0.9


def test_groups_have_no_frequencies_and_broken_weights_no_picture() -> None:
    group = task("group:S3")
    network = with_embedding(np.random.default_rng(0).normal(size=(6, 5)))
    facts, arrays = picture(network, group, None)
    assert set(arrays) == {"embedding_plane"}
    assert sum(facts["embedding_shares"]) < 1
    broken = with_embedding(np.full((6, 5), np.nan))
    assert picture(broken, group, None) == ({}, {})
