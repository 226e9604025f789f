"""Representation, rank and vectors of neurons on a group: 1 in the closed form, far from it for random weights."""

import numpy as np
import pytest

from modgrok.closed_form import solve
from modgrok.errors import ModgrokError
from modgrok.measures import (
    ablate_representation,
    neuron_vectors,
    neuron_waves,
    representation_accuracies,
    representation_counts,
    shared_vectors,
    vector_table,
)
from modgrok.measures.vectors import (
    OWN_RANK_ONE,
    RANK_ONE,
    SHARED,
    UNSHARED,
    group_blocks,
    group_data,
    vector_measures,
)
from modgrok.networks import score_table, two_layer
from modgrok.tasks import Task, task

GROUPS = ["S3", "Q8", "Q16", "A4", "S4", "Z2xZ4"]


def random_network(order: int, width: int = 60):
    rng = np.random.default_rng(0)
    return two_layer(rng.standard_normal((width, 2, order)), rng.standard_normal((order, width)))


@pytest.mark.parametrize("name", GROUPS)
def test_random_vectors_are_told(name: str) -> None:
    product = task(f"group:{name}")
    basis = product.structure.basis
    network = solve(product, "waves", width=80)
    found = neuron_vectors(network, basis)
    assert (found.representation > 0).all()
    np.testing.assert_allclose(found.share, 1)
    np.testing.assert_allclose(found.rank_one, 1)
    np.testing.assert_allclose(found.agreement, 1)
    np.testing.assert_allclose(found.gap, 0, atol=1e-6)
    counts, expected = representation_counts(found, basis)
    assert abs(counts - expected).max() < 1
    assert vector_measures(network.w_in, network.w_out, group_data(basis)) == pytest.approx((1, 1, 1))


@pytest.mark.parametrize("name", ["S3", "Q16", "A4", "S4"])
def test_random_weights_are_far_from_it(name: str) -> None:
    product = task(f"group:{name}")
    basis, network = product.structure.basis, random_network(product.modulus)
    found = neuron_vectors(network, basis)
    assert np.nanmean(found.share) < 0.9
    assert np.nanmean(found.agreement) < 0.95
    assert 1 < np.nanmean(found.gap) < 2.2
    share, _, shared = vector_measures(network.w_in, network.w_out, group_data(basis))
    assert share < 0.9
    assert abs(shared) < 0.2
    assert share == pytest.approx(np.nanmean(found.share))


def test_the_traced_measures_are_those_of_the_singular_values() -> None:
    product = task("group:A4")
    basis, network = product.structure.basis, random_network(12)
    found = neuron_vectors(network, basis)
    blocks = group_blocks(network, basis)
    ranks, shared = [], []
    for n, k in enumerate(found.representation):
        one = basis.representations[k]
        first, second, third = np.einsum("bx,xij->bij", blocks[n], one.matrices)
        values = np.linalg.svd(np.stack([first, second, third]))[1] ** 2
        ranks.append(one.type * (values**2).sum(axis=1) / values.sum(axis=1) ** 2)
        sizes = np.prod([np.linalg.norm(x) for x in (first, second, third)])
        shared.append(one.type**0.5 * np.trace(first @ second @ third.T) / sizes)
    _, rank, alignment = vector_measures(network.w_in, network.w_out, group_data(basis))
    assert rank == pytest.approx(np.mean(ranks))
    assert alignment == pytest.approx(np.mean(shared))


def test_dead_neurons_do_not_count() -> None:
    product = task("group:S3")
    network, basis = solve(product, "waves", width=40), product.structure.basis
    w_in, w_out = network.w_in.astype(np.float32), network.w_out.astype(np.float32)
    w_in[::2] *= 1e-21
    w_out[:, ::2] *= 1e-21
    assert vector_measures(w_in, w_out, group_data(basis)) == pytest.approx((1, 1, 1), rel=1e-4)


def test_rank_one_is_taken_over_the_field() -> None:
    """A quaternionic coefficient of rank one has four equal singular values."""
    product = task("group:Q16")
    basis = product.structure.basis
    (k, *_) = [k for k, one in enumerate(basis.representations) if one.type == 4]
    found = neuron_vectors(solve(product, "waves", width=12, frequencies=[k]), basis)
    np.testing.assert_allclose(found.rank_one, 1)


def test_gaps_are_phases_in_a_cyclic_group() -> None:
    addition = task("n + m", 11)
    network = random_network(11)
    waves = neuron_waves(network, addition.structure.coordinate)
    found = neuron_vectors(network, addition.structure.basis)
    np.testing.assert_array_equal(found.representation, waves.frequency)
    np.testing.assert_allclose(found.gap, abs(waves.residual), atol=1e-6)
    np.testing.assert_allclose(found.share, waves.explained)


def test_what_is_left_of_a_network() -> None:
    product = task("group:S4")
    basis = product.structure.basis
    network = solve(product, "waves", width=300)
    rows = {row.name: row.accuracy for row in vector_table(network, product.table, basis)}
    assert rows["as it is"] == rows[RANK_ONE] == rows[OWN_RANK_ONE] == rows[SHARED] == 1
    assert rows[UNSHARED] < 0.5
    spoilt = {row.name: row.accuracy for row in vector_table(random_network(24, 300), product.table, basis)}
    assert max(spoilt["as it is"], spoilt[RANK_ONE], spoilt[OWN_RANK_ONE], spoilt[UNSHARED]) < 0.5
    assert spoilt[SHARED] > 0.8
    assert score_table(shared_vectors(network, basis), product.table).loss == pytest.approx(
        score_table(network, product.table).loss
    )


def test_a_network_without_a_representation_and_with_it_alone() -> None:
    product = task("group:S4")
    basis, network = product.structure.basis, solve(product, "waves", width=90)
    # Elements that a representation does not tell apart would tie.
    w_in, w_out = (w + 0.1 * np.random.default_rng(0).standard_normal(w.shape) for w in (network.w_in, network.w_out))
    network = network.replace(w_in=w_in, w_out=w_out)
    without, alone = representation_accuracies(network, product.table, neuron_vectors(network, basis))
    assert set(without) == set(alone) == {1, 2, 3, 4}
    for k in without:
        for accuracy, is_alone in ((without[k], False), (alone[k], True)):
            changed = ablate_representation(network, basis, k, alone=is_alone)
            assert accuracy == pytest.approx(score_table(changed, product.table).accuracy, abs=1e-3)
    assert alone[1] < 0.2 < alone[3], "a sign tells even from odd; matrices of dimension 3 are faithful"
    for number in (0, 5):
        with pytest.raises(ModgrokError, match="1 to 4"):
            ablate_representation(network, basis, number)


def test_other_names_change_nothing() -> None:
    table, rng = task("group:S3").table, np.random.default_rng(2)
    rows, columns, answers = (rng.permutation(6) for _ in range(3))
    moved = Task.from_table(answers[table][rows][:, columns])
    network = solve(moved, "waves", width=30)
    np.testing.assert_allclose(neuron_vectors(network, moved.structure.basis).agreement, 1)
    assert vector_measures(network.w_in, network.w_out, group_data(moved.structure.basis)) == pytest.approx((1, 1, 1))


def test_monoids_have_no_vectors() -> None:
    product = task("n*m", 6)
    with pytest.raises(ModgrokError, match="monoid"):
        neuron_vectors(solve(product, "exact"), product.structure.basis)
    with pytest.raises(ModgrokError, match="product of a group"):
        group_data(task("n^3 + n*m^2 + m", 7).structure.basis)
