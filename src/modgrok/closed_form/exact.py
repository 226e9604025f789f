r"""Exact at finite width: phases chosen so that every unwanted wave cancels, instead of averaging out.

For each frequency k a few neurons $\sum_s\cos(2\pi k\,\mathrm{index}_s(n_s)/L + \varphi_s)$ with the readout
$\cos(2\pi k r/L + \sum_s\varphi_s)$, as in the paper, but with these phases:

| variables | phases | neurons for each k |
|---|---|---|
| 1 | 0; −π/2 | 2 |
| 2 | (0, 0); (−π/2, π/2); (0, −π/2); (−π/2, 0) | 4 |
| S ≥ 3 | $\varphi_s = 2\pi\, 3^{s-1} j/M$ for $j = 0, …, M-1$ | $M = 2\cdot 3^{S-1} + 1$ |

The frequency L/2 needs a single neuron with phases 0 where S ≤ 2. One constant neuron (for products with zeros S + 1
neurons that count them) cancels what depends on r alone and adds the frequency 0. With all frequencies the output is
the one-hot table; with some of them it is the best approximation that has only these, the truncated Fourier series.
"""

import math

import numpy as np
from jaxtyping import Float, Int

from modgrok.closed_form.branches import Branches, onto_answers
from modgrok.closed_form.frequencies import coefficients, group_angles, input_angles, placed
from modgrok.closed_form.layers import Layers, join
from modgrok.closed_form.zeros import answer_at_zero, by_zeros, neurons_for_zeros
from modgrok.tasks.structure.verdict import Coordinate

MOST_VARIABLES = 6
"""The phases of the table above are known to cancel everything up to this many variables."""


def exact_layers(coordinate: Coordinate, frequencies: Int[np.ndarray, "k"], branches: Branches) -> Layers:
    """The network of width `exact_width` whose output is the one-hot answer, or its truncated Fourier series."""
    length, arity, modulus = coordinate.length, len(coordinate.index), len(coordinate.index[0])
    waves = [_neurons(coordinate, k, branches) for k in frequencies.tolist() if k > 0]
    values = answer_at_zero(coordinate, modulus)
    values[0] += onto_answers(coordinate, np.full(length, 1 / length), modulus, branches)
    if arity == 2:
        remainder = onto_answers(coordinate, _remainder(length, frequencies), modulus, branches)
        values[0] -= remainder
        values[1] -= remainder / 2
    return join(*waves, by_zeros(coordinate, values))


def exact_width(coordinate: Coordinate, frequencies: Int[np.ndarray, "k"]) -> int:
    """2p − 1 for two variables, all frequencies and odd p, 2p − 2 for even p; 5 for a single frequency."""
    arity = len(coordinate.index)
    per_frequency = [len(cancelling_phases(arity, 2 * k == coordinate.length)) for k in frequencies.tolist() if k > 0]
    return sum(per_frequency) + neurons_for_zeros(coordinate)


def cancelling_phases(arity: int, alternating: bool = False) -> Float[np.ndarray, "M S"]:
    """Phases of the neurons of one frequency; `alternating` for the frequency L/2, whose waves are ±1."""
    if arity <= 2 and alternating:
        return np.zeros((1, arity))
    if arity <= 2:
        quarter_turns = {1: [[0], [-1]], 2: [[0, 0], [-1, 1], [0, -1], [-1, 0]]}
        return np.pi / 2 * np.array(quarter_turns[arity], dtype=np.float64)
    neurons = 2 * 3 ** (arity - 1) + 1
    return 2 * np.pi / neurons * (np.outer(np.arange(neurons), 3 ** np.arange(arity)) % neurons)


def _neurons(coordinate: Coordinate, frequency: int, branches: Branches) -> Layers:
    length, arity, modulus = coordinate.length, len(coordinate.index), len(coordinate.index[0])
    alternating = 2 * frequency == length
    phases = cancelling_phases(arity, alternating)
    k = np.full(len(phases), frequency)
    w_in = np.cos(input_angles(coordinate, k) + phases[:, :, None]) * placed(coordinate)
    # M neurons give M S! 2^(−S) cos(…); a lone neuron of ±1 gives S! (…), with no half-sum of two waves.
    gain = math.factorial(arity) * (1 if alternating and arity <= 2 else len(phases) * 2.0**-arity)
    weight = coefficients(length, k) / gain
    group_readout = weight * np.cos(group_angles(length, k) + phases.sum(axis=1))
    return Layers(w_in, onto_answers(coordinate, group_readout, modulus, branches))


def _remainder(length: int, frequencies: Int[np.ndarray, "k"]) -> Float[np.ndarray, "L"]:
    r"""What two-variable neurons add to the $\delta$-function: $\sum_k c_k(\cos z_k + \sin z_k)$ at $z_k = 2\pi kr/L$.

    It comes from the squares $\cos^2 + \sin^2 = 1$ of either argument, so it halves where one of them has no place.
    """
    waves = frequencies[frequencies > 0]
    z = group_angles(length, waves)
    return (np.cos(z) + np.sin(z)) @ coefficients(length, waves)
