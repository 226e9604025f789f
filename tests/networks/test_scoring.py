"""Scores and maps over many inputs, in blocks."""

import tracemalloc

import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.networks import (
    Normalization,
    grid,
    hidden_map,
    output_blocks,
    output_map,
    outputs,
    predictions,
    score,
    score_table,
    scoring,
    two_layer,
)

P, WIDTH = 7, 5


@pytest.fixture(params=[1, 2, 3], ids=lambda arity: f"S={arity}")
def network(request):
    rng = np.random.default_rng(request.param)
    norm = Normalization(rng.normal(size=WIDTH), rng.uniform(0.5, 2, WIDTH))
    return two_layer(rng.normal(size=(WIDTH, request.param, P)), rng.normal(size=(P, WIDTH)), normalization=norm)


def hidden(network, inputs):
    return network.architecture.hidden(network.parameters, inputs, network.signature)


def table_of(network):
    return np.random.default_rng(9).integers(0, P, (P,) * network.arity)


def test_scores_follow_their_definition(network):
    table = table_of(network)
    out = outputs(network, grid(network.signature.sizes))
    found = score_table(network, table)
    assert found.loss == pytest.approx(np.mean((out - np.eye(P)[table.ravel()]) ** 2))
    assert found.accuracy == np.mean(out.argmax(axis=1) == table.ravel())


@pytest.mark.parametrize("rows", [1, 4, 10**6])
def test_blocks_change_nothing(network, rows, monkeypatch):
    table, inputs = table_of(network), grid(network.signature.sizes)
    whole, answers = score_table(network, table), predictions(network)
    monkeypatch.setattr(scoring, "BLOCK_BYTES", rows * 8 * (2 * WIDTH + P))
    lengths = [len(block) for block in output_blocks(network)]
    assert max(lengths) == min(rows, len(inputs))
    assert sum(lengths) == len(inputs)
    for found in (score_table(network, table), score(network, inputs, table.ravel())):
        assert found.loss == pytest.approx(whole.loss, rel=1e-12)
        assert found.accuracy == whole.accuracy
    np.testing.assert_array_equal(predictions(network), answers)


def test_scores_of_a_part_are_over_that_part(network):
    inputs, answers = grid(network.signature.sizes)[:4], table_of(network).ravel()[:4]
    out = outputs(network, inputs)
    assert score(network, inputs, answers).loss == pytest.approx(np.mean((out - np.eye(P)[answers]) ** 2))


def test_a_score_of_nothing_is_refused(network):
    with pytest.raises(ModgrokError, match="at least one input"):
        score(network, grid(network.signature.sizes)[:0], np.zeros(0, int))


def test_a_table_of_other_inputs_is_refused(network):
    for table in (np.zeros((P + 1,) * network.arity, int), np.zeros(P - 1, int)):
        with pytest.raises(ModgrokError, match=r"an entry for each input"):
            score_table(network, table)


def test_maps_are_slices_of_the_preactivations(network):
    inputs, shape = grid(network.signature.sizes), (P,) * network.arity
    np.testing.assert_allclose(hidden_map(network, 3), hidden(network, inputs)[:, 3].reshape(shape))
    np.testing.assert_allclose(output_map(network, 2), outputs(network, inputs)[:, 2].reshape(shape))


def test_a_large_table_needs_little_memory():
    """p = 499, N = 2000 in float64: what two blocks need, all of them need."""
    network = two_layer(np.ones((2000, 2, 499)), np.ones((499, 2000)))
    blocks = output_blocks(network)
    tracemalloc.start()
    rows = len(next(blocks)) + len(next(blocks))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 1000 < rows < 499**2 / 10
    assert peak < 500e6
