r"""The wave triple of every neuron: one frequency, fitted by least squares to its S input blocks and its readout.

A block is fitted by $a\cos(2\pi k\,\mathrm{index}(n)/L + \varphi) = x\,C(n) + y\,S(n)$ with $x = a\cos\varphi$,
$y = a\sin\varphi$, $C = \cos(2\pi k\,\mathrm{index}/L)$, $S = -\sin(2\pi k\,\mathrm{index}/L)$; both are 0 where a
value has no place. The readout of answer q sums the wave over all r with readout(r) = q: all branches of $F^{-1}$.
"""

from typing import Any, NamedTuple

import numpy as np

from modgrok.measures.spectrum import DEAD, coordinate_of, power_spectrum, raw_coordinate, two_layer_network
from modgrok.networks import Network, as_numpy
from modgrok.shapes import Bool, Float, Integer
from modgrok.tasks.basis import Basis

NEGLIGIBLE = 1e-24
"""Share of a power below which it is rounding error of float64."""


class Triples(NamedTuple):
    """Fits of all neurons; axis `B` = S + 1 holds the input blocks, then the readout."""

    frequency: Integer[np.ndarray, "N"]
    """k of the strongest wave in the inputs less their means, 1 … L//2; 0 where there is none, and for dead neurons."""
    blocks: Float[np.ndarray, "N B p"]
    """The weights that were fitted."""
    basis: Float[np.ndarray, "N B 2 p"]
    """C and S of every neuron's frequency."""
    gram: Float[np.ndarray, "N B 2 2"]
    """Inner products of C and S."""
    coefficients: Float[np.ndarray, "N B 2"]
    """(x, y) of the best fit, the shortest one where the basis is degenerate; 0 for a neuron without a wave."""
    placed: Bool[np.ndarray, "B p"]
    """Where the coordinate reaches: values with a place, answers that the readout gives."""

    @property
    def power(self) -> Float[np.ndarray, "N B"]:
        """Power of the fitted wave in every block."""
        return np.einsum("nbi,nbij,nbj->nb", self.coefficients, self.gram, self.coefficients)

    @property
    def resolved(self) -> Bool[np.ndarray, "N B"]:
        """Whether C and S are independent in a block, so that it can tell a phase."""
        return np.linalg.matrix_rank(self.gram, rtol=1e-9, hermitian=True) == 2

    def waves(self, coefficients: Float[np.ndarray, "N B 2"]) -> Float[np.ndarray, "N B p"]:
        """The weights that coefficients stand for."""
        return np.einsum("nbi,nbip->nbp", coefficients, self.basis)


def fit_triples(subject: Any, coordinate: Any = None, frequency: Integer[np.ndarray, "N"] | None = None) -> Triples:
    """Fits every neuron in float64, at its strongest frequency or at a given one; of complex weights (the paper's
    appendix A) the real part, which is `eq_sol1`."""
    network, coordinate = as_numpy(two_layer_network(subject)), coordinate_of(coordinate)
    w_in, w_out = (w.real.astype(np.float64) for w in (network.w_in, network.w_out))
    coordinate = coordinate or raw_coordinate(network.arity, network.modulus)
    blocks = np.concatenate([w_in, w_out.T[:, None]], axis=1)
    if frequency is None:
        frequency = np.where(dead_neurons(blocks), 0, _dominant_frequency(w_in, coordinate))
    bases = _bases(coordinate, network.modulus)  # (B, frequency, 2, p)
    grams = bases @ bases.swapaxes(-1, -2)
    inverses = np.linalg.pinv(grams, rcond=1e-9, hermitian=True)
    basis, gram, inverse = (x[:, frequency].swapaxes(0, 1) for x in (bases, grams, inverses))
    coefficients = np.einsum("nbij,nbjp,nbp->nbi", inverse, basis, blocks, optimize=["einsum_path", (1, 2), (0, 1)])
    coefficients[frequency == 0] = 0
    return Triples(frequency, blocks, basis, gram, coefficients, _placed(coordinate, network.modulus))


def dead_neurons(blocks: Float[np.ndarray, "N B p"]) -> Bool[np.ndarray, "N"]:
    """Which neurons have a negligible share of the weights."""
    power = np.square(blocks).sum(axis=(1, 2))
    return power <= DEAD * power.max(initial=0)


def fit_own_waves(network: Network, coordinate: Basis | None = None) -> Float[np.ndarray, "N B p"]:
    """Every block replaced by the wave that fits it best less its mean, each with a frequency and a phase of its own.

    Unlike `fit_triples` it does not presuppose that the blocks of a neuron share a frequency, which leaves a network
    only signs and an offset to know. Blocks without a wave, dead neurons and weights without a place stay.
    """
    network = as_numpy(network)
    coordinate = coordinate or raw_coordinate(network.arity, network.modulus)
    blocks = np.concatenate([network.w_in, network.w_out.T[:, None]], axis=1).astype(np.float64)
    bases = _bases(coordinate, network.modulus)[:, 1:]  # (B, frequency, 2, p)
    placed = _placed(coordinate, network.modulus)
    mean = (blocks * placed).sum(axis=2, keepdims=True) / placed.sum(axis=1).clip(1)[:, None]
    centered = (blocks - mean) * placed
    if not bases.shape[1]:
        return blocks
    inverses = np.linalg.pinv(bases @ bases.swapaxes(-1, -2), rcond=1e-9, hermitian=True)
    along = np.einsum("bkjp,nbp->nbkj", bases, centered)
    coefficients = np.einsum("bkij,nbkj->nbki", inverses, along)
    power = (coefficients * along).sum(axis=3)  # of the fitted wave, for every frequency
    best = power.argmax(axis=2)
    chosen = np.take_along_axis(coefficients, best[..., None, None], axis=2)[:, :, 0]
    waves = np.einsum("nbi,nbip->nbp", chosen, bases[np.arange(len(placed))[None, :], best])
    holds = power.max(axis=2) > NEGLIGIBLE * np.square(blocks).sum(axis=2)
    return np.where((holds & ~dead_neurons(blocks)[:, None])[..., None] & placed, waves, blocks)


def with_blocks(network: Network, blocks: Float[np.ndarray, "N B p"]) -> Network:
    """The network with these weights: input blocks, then the readout."""
    network = as_numpy(network)
    blocks = blocks.astype(network.dtype)
    return network.replace(w_in=blocks[:, :-1], w_out=np.ascontiguousarray(blocks[:, -1].T))


def _dominant_frequency(w_in: Float[np.ndarray, "N S p"], coordinate: Basis) -> Integer[np.ndarray, "N"]:
    L = coordinate.length
    # Constants first: where places are shared they would leave power at every frequency.
    placed = np.stack([index >= 0 for index in coordinate.index])
    mean = (w_in * placed).sum(axis=2, keepdims=True) / placed.sum(axis=1).clip(1)[:, None]
    power = power_spectrum(w_in - mean, coordinate).sum(axis=1)
    folded = power[:, : L // 2 + 1].copy()
    folded[:, 1 : (L + 1) // 2] *= 2  # ν and L − ν; L/2 stands alone
    folded[:, 0] = 0
    folded[folded <= NEGLIGIBLE * L * np.square(w_in).sum(axis=(1, 2))[:, None]] = 0
    return folded.argmax(axis=1)


def _placed(coordinate: Basis, modulus: int) -> Bool[np.ndarray, "B p"]:
    return np.stack([*(index >= 0 for index in coordinate.index), np.isin(np.arange(modulus), coordinate.readout)])


def _bases(coordinate: Basis, modulus: int) -> Float[np.ndarray, "B frequency 2 p"]:
    L = coordinate.length
    angle = 2 * np.pi / L * (np.outer(np.arange(L // 2 + 1), np.arange(L)) % L)
    group = np.stack([np.cos(angle), -np.sin(angle)], axis=1)  # (frequency, 2, L)
    readout = group @ (coordinate.readout[:, None] == np.arange(modulus))
    return np.stack([*(group[..., index] * (index >= 0) for index in coordinate.index), readout])
