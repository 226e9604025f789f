"""Cleaning a trained network: keep what the closed form has, cut the rest away, and see what that costs.

Every function returns a network of the same shape and precision; a neuron that is cut has zero weights. Neurons without
a wave (constant ones, as in the exact closed form) belong to no frequency and are kept as they are.
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Integer

from modgrok.errors import ModgrokError
from modgrok.measures.angles import wrap
from modgrok.measures.triples import Triples, fit_triples
from modgrok.networks import Network, as_numpy, score_table
from modgrok.tasks.structure.verdict import Coordinate


class CleaningRow(NamedTuple):
    """What a network is worth after one operation."""

    name: str
    loss: float
    accuracy: float


def waves_only(network: Network, coordinate: Coordinate | None = None) -> Network:
    """Every neuron replaced by its best-fitting wave triple.

    Weights where the coordinate does not reach stay as they are: those of values without a place (n = 0 in a product)
    and of answers that the readout never gives.
    """
    triples = _fit(network, coordinate)
    replaced = triples.placed & (triples.frequency > 0)[:, None, None]
    return _with_blocks(network, np.where(replaced, triples.waves(triples.coefficients), triples.blocks))


def snap_phases(network: Network, coordinate: Coordinate | None = None) -> Network:
    r"""The wave in every readout turned to $\varphi_{S+1} = \varphi_1 + … + \varphi_S$ at the same amplitude.

    All else stays: other frequencies, and neurons of which some block cannot tell its phase (k = L/2, or an even F).
    """
    triples = _fit(network, coordinate)
    x, y = np.moveaxis(triples.coefficients, -1, 0)
    residual = wrap(np.arctan2(y, x)[:, :-1].sum(axis=1) - np.arctan2(y, x)[:, -1])
    turn = np.where(triples.resolved.all(axis=1), residual, 0)
    turned = (x[:, -1] + 1j * y[:, -1]) * np.exp(1j * turn)
    change = np.zeros_like(triples.coefficients)
    change[:, -1] = np.stack([turned.real - x[:, -1], turned.imag - y[:, -1]], axis=-1)
    return _with_blocks(network, triples.blocks + triples.waves(change))


def top_frequencies(network: Network, coordinate: Coordinate | None, count: int) -> tuple[int, ...]:
    """The `count` frequencies with most power in the waves of their neurons, strongest first; fewer if fewer occur."""
    if count < 1:
        raise ModgrokError(f"The number of top frequencies is at least 1, not {count}.")
    return _ranking(_fit(network, coordinate))[:count]


def keep_frequencies(network: Network, coordinate: Coordinate | None, frequencies: Sequence[int]) -> Network:
    """Only the neurons whose wave has one of these frequencies."""
    _check_frequencies(frequencies, network.modulus if coordinate is None else coordinate.length)
    triples = _fit(network, coordinate)
    return _cut(network, triples, ~np.isin(triples.frequency, (0, *frequencies)))


def ablate_frequency(network: Network, coordinate: Coordinate | None, frequency: int) -> Network:
    """Without the neurons whose wave has this frequency."""
    _check_frequencies([frequency], network.modulus if coordinate is None else coordinate.length)
    triples = _fit(network, coordinate)
    return _cut(network, triples, triples.frequency == frequency)


def ablate_neuron(network: Network, neuron: int) -> Network:
    """Without one neuron."""
    if not 0 <= neuron < network.width:
        raise ModgrokError(f"A network of width {network.width} has neurons 0 to {network.width - 1}, not {neuron}.")
    network = as_numpy(network)
    w_in, w_out = network.w_in.copy(), network.w_out.copy()
    w_in[neuron] = 0
    w_out[:, neuron] = 0
    return network.replace(w_in=w_in, w_out=w_out)


def cleaning_table(
    network: Network, table: Integer[np.ndarray, "*inputs"], coordinate: Coordinate | None = None
) -> list[CleaningRow]:
    """Loss and accuracy on the whole table after each operation.

    In turn: nothing, waves only, waves with snapped phases, only the neurons of the top 1, 2, 4, … frequencies, all but
    those of the strongest frequency, all but the strongest neuron.
    """
    network = as_numpy(network)
    triples = _fit(network, coordinate)
    waves = waves_only(network, coordinate)
    cleaned = [
        ("as it is", network),
        ("waves only", waves),
        ("waves only, phases snapped", snap_phases(waves, coordinate)),
    ]
    ranking = _ranking(triples)
    for count in (1 << i for i in range(len(ranking).bit_length())):
        if count < len(ranking):
            name = "top frequency only" if count == 1 else f"top {count} frequencies only"
            cleaned.append((name, keep_frequencies(network, coordinate, ranking[:count])))
    if ranking:
        strongest = int(np.square(triples.blocks).sum(axis=(1, 2)).argmax())
        cleaned += [
            (f"without frequency {ranking[0]}", ablate_frequency(network, coordinate, ranking[0])),
            (f"without neuron {strongest}", ablate_neuron(network, strongest)),
        ]
    return [CleaningRow(name, *dataclasses.astuple(score_table(net, table))) for name, net in cleaned]


def _fit(network: Network, coordinate: Coordinate | None) -> Triples:
    if network.dtype.kind == "c":
        raise ModgrokError("Cleaning works on real weights, and these are complex; train or solve a real network.")
    return fit_triples(network, coordinate)


def _ranking(triples: Triples) -> tuple[int, ...]:
    power = np.bincount(triples.frequency, weights=triples.power.sum(axis=1))
    return tuple(int(k) for k in np.argsort(-power, kind="stable") if k > 0 and power[k] > 0)


def _check_frequencies(frequencies: Sequence[int], length: int) -> None:
    if wrong := [k for k in frequencies if not 1 <= k <= length // 2]:
        raise ModgrokError(f"Frequencies run from 1 to {length // 2} in this coordinate, and {wrong[0]} does not.")


def _cut(network: Network, triples: Triples, neurons: Bool[np.ndarray, "N"]) -> Network:
    return _with_blocks(network, np.where(neurons[:, None, None], 0, triples.blocks))


def _with_blocks(network: Network, blocks: Float[np.ndarray, "N B p"]) -> Network:
    network = as_numpy(network)
    blocks = blocks.astype(network.dtype)
    return network.replace(w_in=blocks[:, :-1], w_out=np.ascontiguousarray(blocks[:, -1].T))
