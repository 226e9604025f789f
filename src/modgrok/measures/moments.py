"""How far weights are from independent Gaussian ones: their excess kurtosis, and a third moment."""

import numpy as np

from modgrok.networks import Network, as_numpy


def excess_kurtosis(network: Network) -> float:
    """Of the first layer, each neuron's rows at root mean square 1: 0 for Gaussian weights, −3/2 for waves."""
    w = as_numpy(network, np.float64).w_in
    w = w / np.sqrt(np.square(w).mean(axis=2, keepdims=True))
    return float((w**4).mean() / np.square(np.square(w).mean()) - 3)


def triple_correlation(network: Network) -> float:
    r"""$\langle U(n)V(m)W(n + m)\rangle$ over neurons and pairs, in units of the blocks' root mean squares.

    The neurons' blocks U, V of the inputs and W of the readout are independent in Gaussian networks: 0. For waves whose
    phases add up it is $\langle\cos\alpha\cos\beta\cos(\alpha+\beta)\rangle/2^{-3/2} = 1/\sqrt2$; the network
    answers with it.
    """
    network = as_numpy(network, np.float64)
    blocks = np.stack([network.w_in[:, 0], network.w_in[:, 1], network.w_out.T])
    u, v, w = np.fft.fft(blocks, axis=2)
    moment = (u * v * w.conj()).real.sum(axis=1) / network.modulus**3
    return float(moment.mean() / np.sqrt(np.square(blocks).mean(axis=(1, 2))).prod())
