"""The race of representations: its flow is the gradient's, and the strongest of aligned ones wins."""

import numpy as np
import pytest

from modgrok.closed_form import solve
from modgrok.measures.race import kappa, largest_overlap, race, velocity
from modgrok.measures.vectors import group_blocks, neuron_vectors, rescale_representations
from modgrok.networks import two_layer
from modgrok.tasks import task


@pytest.mark.parametrize("name", ["S3", "Q8", "A4", "Z7"])
def test_the_flow_is_the_gradient_of_the_overlap_with_the_table(name: str) -> None:
    product = task(f"group:{name}")
    basis, order = product.structure.basis, product.modulus
    u, v, w = (x - x.mean(axis=1, keepdims=True) for x in np.random.default_rng(0).standard_normal((3, 4, order)))
    at = w[:, product.table]  # (N, n, m): the readout of the right answer
    by_answer = (product.table[..., None] == np.arange(order)).astype(float)
    gradient = [
        np.einsum("inm,im->in", at, v),
        np.einsum("inm,in->im", at, u),
        np.einsum("in,im,nmq->iq", u, v, by_answer),
    ]
    places = [*basis.index, np.argsort(basis.readout)]
    for one in basis.representations[1:]:
        parts = [
            np.einsum("nx,xij->nij", x[:, np.argsort(at)], one.matrices)
            for x, at in zip((u, v, w), places, strict=True)
        ]
        moved = [
            np.einsum("nx,xij->nij", x[:, np.argsort(at)], one.matrices) for x, at in zip(gradient, places, strict=True)
        ]
        np.testing.assert_allclose(velocity(np.stack(parts)), np.stack(moved), atol=1e-9)


def test_written_neurons_win_their_own_race() -> None:
    product = task("group:S4")
    basis = product.structure.basis
    written = solve(product, "waves", width=60)
    found = race(written, basis)
    assert kappa(found.representation, neuron_vectors(written, basis).representation) == 1
    np.testing.assert_allclose(found.share, 1)
    np.testing.assert_array_equal(largest_overlap(written, basis), found.representation)


def test_rescaled_weights_lose_the_race() -> None:
    basis = task("group:S3").structure.basis
    rng = np.random.default_rng(1)
    network = two_layer(rng.standard_normal((50, 2, 6)), rng.standard_normal((6, 50)))
    sizes = np.array([one.dimension for one in basis.representations])
    less = rescale_representations(network, basis, [0.2 if d == 2 else 1.0 for d in sizes])
    before, after = (np.mean(sizes[race(net, basis).representation] == 2) for net in (network, less))
    assert after < before
    np.testing.assert_allclose(rescale_representations(network, basis, [1.0] * 3).w_in, network.w_in)
    powers = [np.square(group_blocks(net, basis)).sum() for net in (network, less)]
    assert powers[1] < powers[0]


def test_agreement_beyond_chance() -> None:
    said = np.array([1, 1, 2, 2])
    assert kappa(said, said) == 1
    assert kappa(said, np.array([1, 2, 1, 2])) == 0
    assert kappa(said, 3 - said) == -1
    assert kappa(np.ones(3, int), np.ones(3, int)) == kappa(said[:0], said[:0]) == 0
