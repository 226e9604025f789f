r"""How many neurons do the work: how many aligned ones a network of waves is worth, whether it holds a rule without
coordinates, and which of a perceptron answer as the whole does (Merrill et al. 2023).

Replace neuron i by waves of amplitudes $\alpha_1, \alpha_2, \beta$ and the gap D. Its square times its readout holds
$\frac12\alpha_1\alpha_2\beta\cos(\theta_k(n + m - q) + D)$, of which $\cos D$ speaks for the right answer, and waves
whose phases are random: of n and q, of m and q, of n − m and q, of n + m + q and of q alone. Their variance is
$\frac18\beta^2(\alpha_1^2 + \alpha_2^2)^2 + \frac1{16}\beta^2(\alpha_1^4 + \alpha_2^4)
+ \frac38\alpha_1^2\alpha_2^2\beta^2 = v_i$, 1 where all amplitudes are 1. So the network is worth

$$N_{\rm eff} = \Big(\sum_i \alpha_1\alpha_2\beta\cos D\Big)^2\Big/\sum_i v_i$$

neurons of equal amplitudes without gaps, the paper's closed form: N times coherence² where amplitudes are equal.
"""

from typing import NamedTuple

import numpy as np

from modgrok.measures.triples import fit_triples, with_blocks
from modgrok.networks import Network, outputs, two_layer
from modgrok.shapes import Bool, Float, Int, Integer

SHUFFLES = 100


class WavesAlone(NamedTuple):
    """A network whose neurons are one wave in each block."""

    network: Network
    coherence: float
    r"""$|\langle e^{iD}\rangle|$."""
    effective_width: float


def waves_alone(network: Network, frequency: Integer[np.ndarray, "N"] | None = None) -> WavesAlone:
    """Every neuron replaced by its best wave triple, at its strongest frequency or at a given one."""
    triples = fit_triples(network, None, frequency)
    wave = triples.coefficients @ np.array([1, 1j])  # (N, B)
    product = wave[:, 0] * wave[:, 1] * wave[:, 2].conj()
    size = np.abs(product)
    a, b, c = np.square(np.abs(wave)).T
    variance = c * ((a + b) ** 2 / 8 + (a**2 + b**2) / 16 + 3 * a * b / 8)
    coherence = abs((product[size > 0] / size[size > 0]).mean()) if size.any() else 0.0
    effective = product.real.sum() ** 2 / variance.sum() if size.any() else 0.0
    return WavesAlone(with_blocks(network, triples.waves(triples.coefficients)), float(coherence), float(effective))


def random_waves(modulus: int, width: int, seed: int) -> Network:
    """Equal amplitudes, random frequencies and phases, no gaps."""
    rng, n = np.random.default_rng(seed), np.arange(modulus)
    turn = 2 * np.pi / modulus * rng.integers(1, (modulus + 1) // 2, width)[:, None] * n
    first, second = rng.uniform(0, 2 * np.pi, (2, width, 1))
    return two_layer(np.cos(np.stack([turn + first, turn + second], axis=1)), np.cos(turn + first + second).T)


def rule_score(network: Network, table: Int[np.ndarray, "p p"], unseen: Bool[np.ndarray, "p p"]) -> float:
    """How far the outputs at the right answers of unseen pairs stand out, in standard deviations of the same for
    answers renamed at random.

    It needs no coordinate, only the table. What a network says of single arguments is subtracted, since a memorizer
    suppresses the answers that it has not seen in a row: rows and columns of outputs are centered.
    """
    p = len(table)
    pairs = np.stack(np.divmod(np.arange(p * p), p), axis=1)
    found = np.asarray(outputs(network, pairs), np.float64).reshape(p, p, -1)
    for axis in range(3):
        found = found - found.mean(axis=axis, keepdims=True)
    found, right = found[unseen], table[unseen]
    rng, place = np.random.default_rng(0), np.arange(len(right))
    renamed = [found[place, rng.permutation(found.shape[1])[right]].mean() for _ in range(SHUFFLES)]
    return float((found[place, right].mean() - np.mean(renamed)) / np.std(renamed))


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
