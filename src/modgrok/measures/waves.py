"""Frequency, amplitudes and phases of every neuron, how much of it they explain and how the phases are distributed; how
far weights are from independent Gaussian ones: their excess kurtosis, and a third moment."""

from typing import Any, NamedTuple

import numpy as np

from modgrok.measures.angles import circular_mean, circular_spread, kuiper, wrap
from modgrok.measures.triples import NEGLIGIBLE, dead_neurons, fit_triples
from modgrok.networks import Network, as_numpy
from modgrok.shapes import Bool, Float, Integer
from modgrok.tasks.basis import Basis


class NeuronWaves(NamedTuple):
    r"""Every neuron as $a_s\cos(2\pi k n_s/L + \varphi_s)$ and $a\cos(-2\pi k q/L - \varphi)$ (`eq_sol1`, `eq_sol2`).

    Axis `B` = S + 1 holds the S input blocks, then the readout, so the paper's φ1, φ2, φ3 are `phases[:, 0]` to
    `phases[:, 2]`. A neuron without a wave (dead or constant) has frequency 0 and NaN elsewhere.
    """

    frequency: Integer[np.ndarray, "N"]
    """k from 1 to L//2, the strongest in the power of all input blocks together, less their means; 0 where none."""
    amplitudes: Float[np.ndarray, "N B"]
    phases: Float[np.ndarray, "N B"]
    """In (−π, π]. NaN where a block holds no wave, or cannot tell its phase: at k = L/2, where sines vanish, and in the
    readout of an even F, whose branches cancel them."""
    residual: Float[np.ndarray, "N"]
    r"""$\varphi_1 + … + \varphi_S - \varphi_{S+1}$ in (−π, π], 0 in the closed form (`eq_phases`)."""
    explained: Float[np.ndarray, "N"]
    """Share, in [0, 1], of the power of all the neuron's weights, constants included, that is in the fitted waves;
    NaN for dead neurons, whose power is at most `DEAD` of the strongest neuron's."""

    @property
    def coherence(self) -> float:
        r"""$|\langle e^{i(\varphi_1 + … + \varphi_S - \varphi_{S+1})}\rangle|$ over the neurons that tell it.

        1 in the closed form, about $0.89/\sqrt N$ for random weights.
        """
        return circular_spread(self.residual).resultant


def neuron_waves(subject: Any, coordinate: Any = None) -> NeuronWaves:
    """Fits waves to all neurons of a network or a run, in a coordinate or that of a task (default: the raw index)."""
    triples = fit_triples(subject, coordinate)
    has_wave = (triples.frequency > 0)[:, None]
    total = np.square(triples.blocks).sum(axis=2)
    tells = triples.resolved & (triples.power > NEGLIGIBLE * total)
    x, y = np.moveaxis(triples.coefficients, -1, 0)
    phases = np.where(has_wave & tells, wrap(np.arctan2(y, x)), np.nan)
    alive = ~dead_neurons(triples.blocks)
    explained = np.divide(triples.power.sum(axis=1), total.sum(axis=1), out=np.full(len(total), np.nan), where=alive)
    return NeuronWaves(
        triples.frequency,
        np.where(has_wave, np.hypot(x, y), np.nan),
        phases,
        wrap(phases[:, :-1].sum(axis=1) - phases[:, -1]),
        explained.clip(0, 1),
    )


def nearest_frequency(network: Network, wanted: int, coordinate: Basis | None = None) -> int:
    """The frequency nearest to the wanted one that some neuron has."""
    found = neuron_waves(network, coordinate).frequency
    return int(found[np.argmin(np.where(found > 0, abs(found - wanted), len(found)))])


def neuron_of(network: Network, frequency: int, coordinate: Basis | None = None) -> int:
    """Of the neurons with this frequency the one that its wave explains best."""
    waves = neuron_waves(network, coordinate)
    return int(np.where(waves.frequency == frequency, np.nan_to_num(waves.explained), -1).argmax())


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
