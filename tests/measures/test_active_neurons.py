"""The active subnetwork of a perceptron."""

import jax
import numpy as np

from modgrok.measures.effective_width import active_neurons, incoming_norms
from modgrok.networks import Network
from modgrok.networks.mlp import MLP
from modgrok.tasks import task


def test_neurons_without_weight_are_not_active() -> None:
    parity = task("parity:20,2")
    network = MLP(width=8)
    parameters = network.init(jax.random.key(0), parity.signature, 1.0, np.float32)
    host = {name: np.array(value) for name, value in parameters.items()}
    host["layers.0.weight"][3:] = 0
    host["layers.0.bias"][3:] = 0
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (200, 20))
    made = Network(network, parity.signature, host)
    assert 1 <= active_neurons(made, signs) <= 3
    assert (incoming_norms(made) == 0).sum() == 5
