"""The circuit of a transformer against the network itself."""

from typing import Any

import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.measures.circuit import Circuit, ablations, replace_neurons
from modgrok.measures.progress_measures import cross_entropy, squared_error
from modgrok.networks import Network, grid, outputs
from modgrok.networks.transformer import Transformer
from modgrok.tasks import Signature

P = 11
SUMS = np.add.outer(np.arange(P), np.arange(P)) % P


def random_network(**settings: Any) -> Network:
    architecture, signature = Transformer(8, heads=2, **settings), Signature((P, P), P)
    random = np.random.default_rng(0)
    shapes = architecture.shapes(signature)
    return Network(architecture, signature, {name: random.normal(size=shape) for name, shape in shapes.items()})


def test_the_circuit_computes_what_the_network_does() -> None:
    network = random_network()
    circuit = Circuit(network)
    np.testing.assert_allclose(circuit.logits.reshape(P * P, P), outputs(network, grid((P, P))), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(circuit.attention.sum(axis=3), 1)
    found = ablations(circuit, [1, 4], SUMS)
    assert found["nothing"] == pytest.approx(cross_entropy(circuit.logits, SUMS))
    assert len({round(loss, 6) for loss in found.values()}) >= len(found) - 2  # few neurons here are clear
    with pytest.raises(ModgrokError, match="default transformer"):
        Circuit(random_network(layer_norm="post"))


def test_waves_of_one_frequency_are_replaced_by_themselves() -> None:
    """Neurons that are cos w(n + m) + 1 are all that both replacements keep."""
    circuit = Circuit(random_network())
    angle = 2 * np.pi * 3 / P * np.add.outer(np.arange(P), np.arange(P))
    circuit.__dict__["neurons"] = np.repeat((np.cos(angle) + 1)[:, :, None], 32, axis=2)
    assert (circuit.frequencies.frequency == 3).all()
    for by in ("block", "sum"):
        np.testing.assert_allclose(replace_neurons(circuit, by), circuit.neurons, atol=1e-9)
    product = np.cos(2 * np.pi * 3 / P * np.arange(P))
    circuit.__dict__["neurons"] = np.repeat(np.outer(product, product)[:, :, None], 32, axis=2)
    np.testing.assert_allclose(replace_neurons(circuit, "block"), circuit.neurons, atol=1e-9)
    half = replace_neurons(circuit, "sum")  # cos a cos b = ½ cos(a + b) + ½ cos(a − b)
    np.testing.assert_allclose(half[:, :, 0], np.cos(angle) / 2, atol=1e-9)


def test_right_answers_have_no_squared_error() -> None:
    assert squared_error(np.eye(P)[SUMS], SUMS) == 0
