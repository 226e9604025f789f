"""How far a network consists of single waves, how their phases are distributed, and how far its weights are from
independent Gaussian ones: their excess kurtosis, and a third moment."""

from typing import Any

import numpy as np

from modgrok.measures.angles import circular_mean, circular_spread, kuiper
from modgrok.measures.waves import NeuronWaves
from modgrok.networks import Network, as_numpy
from modgrok.shapes import Bool

CLEAR = 0.5
"""Share of a neuron's power in one wave from which it counts as a copy of that wave."""
DIRECTIONS = {"φ1": (1, 0), "φ2": (0, 1), "φ1 − φ2": (1, -1), "2φ1": (2, 0), "2φ2": (0, 2), "φ1 + φ2": (1, 1)}
"""Combinations of phases that are left in the waves of `eq_omg` other than n + m, as multiples of φ1 and φ2."""


def share_in_waves(network: Network, waves: NeuronWaves) -> float:
    """Share of the power of all weights that is in the one wave of each neuron."""
    power = np.square(network.w_in).sum(axis=(1, 2)) + np.square(network.w_out).sum(axis=0)
    return float((np.nan_to_num(waves.explained) * power).sum() / power.sum())


def phase_statistics(waves: NeuronWaves) -> dict[str, Any]:
    """What the neurons of one network have in common with the closed form: mean and deviation of φ1 + φ2 − φ3; how many
    frequencies have several clear neurons, and how many on average; whether single phases prefer a direction."""
    clear = np.nan_to_num(waves.explained) >= CLEAR
    copies = np.bincount(waves.frequency[clear], minlength=2)[1:]
    combined = {name: waves.phases[:, :2] @ np.array(by) for name, by in DIRECTIONS.items()}
    return {
        "mean": circular_mean(waves.residual),
        "deviation": circular_spread(waves.residual).deviation,
        "explained_median": float(np.nanmedian(waves.explained)),
        "several": int((copies > 1).sum()),
        "copies": float(copies[copies > 0].mean()) if copies.any() else 0.0,
        "uniform": {name: kuiper(angles) for name, angles in combined.items()},
        "moments": {name: circular_spread(angles).resultant for name, angles in combined.items()},
        "agreement": {name: agreement(waves, clear, by) for name, by in DIRECTIONS.items()},
    }


def agreement(waves: NeuronWaves, chosen: Bool[np.ndarray, "N"], direction: tuple[int, int]) -> float | None:
    r"""$n_k|\langle e^{i\varphi}\rangle_k|^2$ over the $n_k > 1$ chosen neurons of a frequency, averaged over them.

    1 on average for independent phases, $n_k$ for equal ones, 0 where they cancel exactly.
    """
    values = np.exp(1j * waves.phases[:, :2] @ np.array(direction))
    used = chosen & ~np.isnan(values)
    count = np.bincount(waves.frequency[used])
    sums = np.bincount(waves.frequency[used], values[used].real) + 1j * np.bincount(
        waves.frequency[used], values[used].imag
    )
    several = count > 1
    return float((abs(sums[several]) ** 2 / count[several]).mean()) if several.any() else None


def excess_kurtosis(network: Network) -> float:
    """Of the first layer, each neuron's rows at root mean square 1: 0 for Gaussian weights, −3/2 for waves."""
    w = as_numpy(network, np.float64).w_in
    w = w / np.sqrt(np.square(w).mean(axis=2, keepdims=True))
    return float((w**4).mean() / np.square(np.square(w).mean()) - 3)


def triple_correlation(network: Network) -> float:
    r"""$\langle U(n)V(m)W(n + m)\rangle$ over neurons and pairs, in units of the blocks' root mean squares.

    The neurons' blocks U, V of the inputs and W of the readout are independent in Gaussian networks: 0. For waves whose
    phases add up it is $\langle\cos\alpha\cos\beta\cos(\alpha+\beta)\rangle/2^{-3/2} = 1/\sqrt2$, and the answer.
    """
    network = as_numpy(network, np.float64)
    blocks = np.stack([network.w_in[:, 0], network.w_in[:, 1], network.w_out.T])
    u, v, w = np.fft.fft(blocks, axis=2)
    moment = (u * v * w.conj()).real.sum(axis=1) / network.modulus**3
    return float(moment.mean() / np.sqrt(np.square(blocks).mean(axis=(1, 2))).prod())
