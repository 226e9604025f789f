r"""Cleaning a trained network: keep what the closed form has, cut the rest away, and see what that costs.

Every function returns a network of the same shape and precision; a neuron that is cut has zero weights. Neurons without
a wave (constant ones, as in the exact closed form) belong to no frequency and are kept as they are.

Phases are turned while amplitudes stay to see what the gaps $\varphi_1 + \varphi_2 - \varphi_3$ do. In Fourier space a
neuron of two variables is $u_k, v_k, w_k$ (`early_flow.modes`), with the gap $D_k = \arg u_kv_k\bar w_k$. Every way
turns the readout by some angle; `kept` turns the first input block by the same, so that the weights change as much and
no gap does.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.measures.angles import wrap
from modgrok.measures.spectrum import coordinate_of
from modgrok.measures.triples import Triples, fit_own_waves, fit_triples, with_blocks
from modgrok.networks import Network, Score, as_numpy, score_table
from modgrok.shapes import Integer
from modgrok.tasks.basis import Basis

WAVES, OWN_WAVES, SNAPPED = "waves only", "waves, each block its own", "waves only, phases snapped"
CAUTIONS = {
    WAVES: "supposes that the blocks of a neuron share a frequency; what is left to know is a sign and an offset, so a "
    "network that has only memorized may answer every input",
    OWN_WAVES: "supposes only that every block is a wave; what it answers the network's own waves answer",
    SNAPPED: "supplies the answer itself: 100 % on anything with enough neurons",
}
"""Names of rows of the cleaning table, and what each can and cannot show."""
GAPS = ("zero", "random", "kept")
STRONGEST = "-strongest"


class CleaningRow(NamedTuple):
    """What a network is worth after one operation."""

    name: str
    loss: float
    """Mean squared error."""
    accuracy: float

    @classmethod
    def of(cls, name: str, score: Score) -> "CleaningRow":
        return cls(name, score.loss, score.accuracy)


def waves_only(network: Network, coordinate: Basis | None = None) -> Network:
    """Every neuron replaced by its best-fitting wave triple.

    Weights where the coordinate does not reach stay as they are: those of values without a place (n = 0 in a product)
    and of answers that the readout never gives.
    """
    triples = _fit(network, coordinate)
    replaced = triples.placed & (triples.frequency > 0)[:, None, None]
    return with_blocks(network, np.where(replaced, triples.waves(triples.coefficients), triples.blocks))


def own_waves(network: Network, coordinate: Basis | None = None) -> Network:
    """Every block of every neuron replaced by the wave that fits it best, whatever the frequencies of its neighbors."""
    _check_real(network)
    return with_blocks(network, fit_own_waves(network, coordinate))


def shuffle_phases(network: Network, coordinate: Basis | None = None, seed: int = 0, readout: bool = True) -> Network:
    r"""The phases of each input block dealt anew among the neurons of a frequency; amplitudes and residuals stay.

    The readout follows, $\varphi_{S+1} = \sum_s\varphi_s - D$ with the neuron's own D, so that only the correlations
    between phases are lost: what a network answers less well afterwards they did (paper, caption of Fig. 2). Without
    `readout` the readouts stay, and D becomes random too.
    """
    triples, rng = _fit(network, coordinate), np.random.default_rng(seed)
    x, y = np.moveaxis(triples.coefficients, -1, 0)
    phases = np.arctan2(y, x)
    residual = phases[:, :-1].sum(axis=1) - phases[:, -1]
    moved = phases.copy()
    for k in np.unique(triples.frequency):
        neurons = np.flatnonzero((triples.frequency == k) & (k > 0) & triples.resolved.all(axis=1))
        for s in range(phases.shape[1] - 1):
            moved[neurons, s] = phases[rng.permutation(neurons), s]
        if readout:
            moved[neurons, -1] = moved[neurons, :-1].sum(axis=1) - residual[neurons]
    new = np.hypot(x, y)[..., None] * np.stack([np.cos(moved), np.sin(moved)], axis=-1)
    return with_blocks(network, triples.blocks + triples.waves(new - triples.coefficients))


def snap_phases(network: Network, coordinate: Basis | None = None) -> Network:
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
    return with_blocks(network, triples.blocks + triples.waves(change))


def top_frequencies(network: Network, coordinate: Basis | None, count: int) -> tuple[int, ...]:
    """The `count` frequencies with most power in the waves of their neurons, strongest first; fewer if fewer occur."""
    if count < 1:
        raise ModgrokError(f"The number of top frequencies is at least 1, not {count}.")
    return _ranking(_fit(network, coordinate))[:count]


def keep_frequencies(network: Network, coordinate: Basis | None, frequencies: Sequence[int]) -> Network:
    """Only the neurons whose wave has one of these frequencies."""
    return _by_frequency(network, coordinate, frequencies, kept=True)


def ablate_frequency(network: Network, coordinate: Basis | None, frequency: int) -> Network:
    """Without the neurons whose wave has this frequency."""
    return _by_frequency(network, coordinate, [frequency], kept=False)


def ablate_neuron(network: Network, neuron: int) -> Network:
    """Without one neuron."""
    if not 0 <= neuron < network.width:
        raise ModgrokError(f"A network of width {network.width} has neurons 0 to {network.width - 1}, not {neuron}.")
    network = as_numpy(network)
    blocks = np.concatenate([network.w_in, network.w_out.T[:, None]], axis=1)
    blocks[neuron] = 0
    return with_blocks(network, blocks)


def cleaning_table(
    network: Network, table: Integer[np.ndarray, "*inputs"], coordinate: Basis | None = None
) -> list[CleaningRow]:
    """Loss and accuracy on the whole table after each operation.

    In turn: nothing, waves only, every block its own wave, waves with snapped phases, only the neurons of the top 1, 2,
    4, … frequencies, all but those of the strongest, all but the strongest neuron. `CAUTIONS` says what they show.
    """
    network = as_numpy(network)
    triples = _fit(network, coordinate)
    waves = waves_only(network, coordinate)
    cleaned = [
        ("as it is", network),
        (WAVES, waves),
        (OWN_WAVES, own_waves(network, coordinate)),
        (SNAPPED, snap_phases(waves, coordinate)),
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
    return [CleaningRow.of(name, score_table(net, table)) for name, net in cleaned]


def _check_real(network: Network) -> None:
    if network.dtype.kind == "c":
        raise ModgrokError("Cleaning works on real weights, and these are complex; train or solve a real network.")


def _fit(network: Network, coordinate: Basis | None) -> Triples:
    _check_real(network)
    return fit_triples(network, coordinate)


def _ranking(triples: Triples) -> tuple[int, ...]:
    power = np.bincount(triples.frequency, weights=triples.power.sum(axis=1))
    return tuple(int(k) for k in np.argsort(-power, kind="stable") if k > 0 and power[k] > 0)


def _by_frequency(network: Network, coordinate: Basis | None, frequencies: Sequence[int], kept: bool) -> Network:
    """The neurons whose wave has one of these frequencies kept alone, or cut."""
    highest = (network.modulus if coordinate is None else coordinate.length) // 2
    if wrong := [k for k in frequencies if not 1 <= k <= highest]:
        raise ModgrokError(f"Frequencies run from 1 to {highest} in this coordinate, and {wrong[0]} does not.")
    triples = _fit(network, coordinate)
    cut = (triples.frequency > 0) & (np.isin(triples.frequency, frequencies) != kept)
    return with_blocks(network, np.where(cut[:, None, None], 0, triples.blocks))


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
