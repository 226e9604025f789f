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
from collections.abc import Sequence

import numpy as np

from modgrok.closed_form.frequencies import (
    Branches,
    coefficients,
    group_angles,
    independent_frequencies,
    input_angles,
    onto_answers,
    placed,
)
from modgrok.closed_form.matrices import Layers, answer_at_zero, by_zeros, join, neurons_for_zeros
from modgrok.closed_form.matrix_coefficients import coefficient_width
from modgrok.shapes import Float, Int
from modgrok.tasks.basis import Basis

MOST_VARIABLES = 8
"""The phases of the table above are known to cancel everything up to this many variables."""


def exact_layers(coordinate: Basis, frequencies: Int[np.ndarray, "k"], branches: Branches) -> Layers:
    """The network of width `exact_width` whose output is the one-hot answer, or its truncated Fourier series."""
    length, arity = coordinate.length, len(coordinate.index)
    values = answer_at_zero(coordinate)
    values[0] += onto_answers(coordinate, np.full(length, 1 / length), branches)
    if arity == 2:
        remainder = onto_answers(coordinate, _remainder(length, frequencies), branches)
        values[0] -= remainder
        values[1] -= remainder / 2
    return join(_wave_layers(coordinate, frequencies, branches), by_zeros(coordinate, values))


def exact_width(basis: Basis, frequencies: Sequence[int] | Int[np.ndarray, "k"] | None = None) -> int:
    """2p − 1 for two variables, all frequencies and odd p, 2p − 2 for even p; 5 for a single frequency. Of groups that
    are not cyclic one more than Σ d³/t over their representations but the trivial one."""
    if not basis.is_cyclic:
        return coefficient_width(basis, None if frequencies is None else [int(k) for k in frequencies])
    chosen = independent_frequencies(basis.length) if frequencies is None else np.asarray(frequencies)
    waves = sum(len(phases) for phases in _phases(basis, chosen))
    return waves + neurons_for_zeros(basis)


def cancelling_phases(arity: int, alternating: bool = False) -> Float[np.ndarray, "M S"]:
    """Phases of the neurons of one frequency; `alternating` for the frequency L/2, whose waves are ±1."""
    if arity <= 2 and alternating:
        return np.zeros((1, arity))
    if arity <= 2:
        quarter_turns = {1: [[0], [-1]], 2: [[0, 0], [-1, 1], [0, -1], [-1, 0]]}
        return np.pi / 2 * np.array(quarter_turns[arity], dtype=np.float64)
    neurons = 2 * 3 ** (arity - 1) + 1
    return 2 * np.pi / neurons * (np.outer(np.arange(neurons), 3 ** np.arange(arity)) % neurons)


def _phases(coordinate: Basis, frequencies: Int[np.ndarray, "k"]) -> list[Float[np.ndarray, "M S"]]:
    """For each frequency but 0 the phases of its neurons."""
    arity = len(coordinate.index)
    return [cancelling_phases(arity, alternating=2 * k == coordinate.length) for k in frequencies.tolist() if k > 0]


def _wave_layers(coordinate: Basis, frequencies: Int[np.ndarray, "k"], branches: Branches) -> Layers:
    length, arity = coordinate.length, len(coordinate.index)
    by_frequency = _phases(coordinate, frequencies)
    neurons = np.array([len(phases) for phases in by_frequency], dtype=np.int64)
    k = np.repeat(frequencies[frequencies > 0], neurons)
    phases = np.concatenate([np.zeros((0, arity)), *by_frequency])
    w_in = np.cos(input_angles(coordinate, k) + phases[:, :, None]) * placed(coordinate)
    # M neurons add up to M S! 2^(−S) cos(…); a lone one, whose waves are ±1, to S! cos(…).
    gain = math.factorial(arity) * np.where(neurons == 1, 1, neurons * 2.0**-arity)
    weight = coefficients(length, k) / np.repeat(gain, neurons)
    group_readout = weight * np.cos(group_angles(length, k) + phases.sum(axis=1))
    return Layers(w_in, onto_answers(coordinate, group_readout, branches))


def _remainder(length: int, frequencies: Int[np.ndarray, "k"]) -> Float[np.ndarray, "L"]:
    r"""What two-variable neurons add to the $\delta$-function: $\sum_k c_k(\cos z_k + \sin z_k)$ at $z_k = 2\pi kr/L$.

    It comes from the squares $\cos^2 + \sin^2 = 1$ of either argument, so it halves where one of them has no place.
    """
    waves = frequencies[frequencies > 0]
    z = group_angles(length, waves)
    return (np.cos(z) + np.sin(z)) @ coefficients(length, waves)
