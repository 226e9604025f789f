"""Which hidden neurons of a perceptron of one hidden layer do the work (Merrill et al. 2023)."""

import numpy as np

from modgrok.networks import Network
from modgrok.shapes import Float


def incoming_norms(network: Network) -> Float[np.ndarray, "N"]:
    """Norm of each hidden neuron's weights and bias."""
    p = network.parameters
    return np.hypot(np.linalg.norm(p["layers.0.weight"], axis=1), p["layers.0.bias"])


def active_neurons(network: Network, signs: Float[np.ndarray, "example n"]) -> int:
    """The fewest neurons, taken in the order of their norm, that answer every example as the whole network does."""
    p = {name: np.asarray(value, np.float64) for name, value in network.parameters.items()}
    order = np.argsort(-incoming_norms(network))
    hidden = np.maximum(signs @ p["layers.0.weight"][order].T + p["layers.0.bias"][order], 0)
    outputs = np.cumsum(hidden * p["layers.1.weight"][0, order], axis=1) + p["layers.1.bias"][0]
    agree = (np.sign(outputs) == np.sign(outputs[:, -1:])).all(axis=0)
    return int(np.flatnonzero(agree)[0]) + 1
