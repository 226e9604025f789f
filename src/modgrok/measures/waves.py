"""Frequency, amplitudes and phases of every neuron, and how much of it they explain."""

from typing import Any, NamedTuple

import numpy as np

from modgrok.measures.angles import circular_spread, wrap
from modgrok.measures.triples import NEGLIGIBLE, dead_neurons, fit_triples
from modgrok.networks import Network
from modgrok.shapes import Float, Integer
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
