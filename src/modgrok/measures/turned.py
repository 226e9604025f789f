r"""Networks whose phases are turned and whose amplitudes stay: what do the gaps $\varphi_1 + \varphi_2 - \varphi_3$ do?

In Fourier space a neuron of two variables is $u_k, v_k, w_k$ (`early_flow.modes`), with the gap
$D_k = \arg u_kv_k\bar w_k$. Every way turns the readout by some angle; `kept` turns the first input block by the same,
so that the weights change as much and no gap does.
"""

from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.measures.spectrum import coordinate_of
from modgrok.measures.triples import fit_triples, with_blocks
from modgrok.networks import Network

GAPS = ("zero", "random", "kept")
STRONGEST = "-strongest"


def turn_phases(network: Network, way: str, coordinate: Any = None, seed: int = 0) -> Network:
    """The gaps of all frequencies become `zero` or `random`, or are `kept` while their phases are turned at random;
    `zero-strongest` and so on turn only the strongest frequency of every neuron."""
    gaps, all_but, _ = way.partition(STRONGEST)
    coordinate = coordinate_of(coordinate)
    if gaps not in GAPS or way not in (gaps, gaps + STRONGEST):
        raise ModgrokError(f"Gaps become {', '.join(GAPS)}, all or with {STRONGEST}, not {way!r}.")
    triples = fit_triples(network, coordinate)
    p = network.modulus
    if triples.blocks.shape[1] != 3 or (coordinate is not None and coordinate.length != p):
        raise ModgrokError("Phases are turned in networks of two variables whose values take every place once.")
    order = [np.arange(p)] * 3 if coordinate is None else [*map(np.argsort, coordinate.index), coordinate.readout]
    along = np.stack([triples.blocks[:, b, place] for b, place in enumerate(order)], axis=1)
    waves = np.fft.rfft(along, axis=2)  # (N, 3, k)
    turn = np.random.default_rng(seed).uniform(-np.pi, np.pi, waves[:, 0].shape)
    if gaps == "zero":
        turn = np.angle(waves[:, 0] * waves[:, 1] * waves[:, 2].conj())
    turn[:, 0] = 0
    if all_but:
        turn = np.where(np.arange(waves.shape[2]) == triples.frequency[:, None], turn, 0)
    waves[:, 2] *= np.exp(1j * turn)
    if gaps == "kept":
        waves[:, 0] *= np.exp(1j * turn)
    turned = np.empty_like(triples.blocks)
    for b, place in enumerate(order):
        turned[:, b, place] = np.fft.irfft(waves[:, b], n=p, axis=1)
    return with_blocks(network, turned)
