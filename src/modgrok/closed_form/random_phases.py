r"""Random phases, real or complex: the paper's closed form (Claims I and II, Corollary; `eq_sol1` to `eq_solfF2`).

In the task's own coordinate, with S variables and the activation $x^S$,

$$W^{(1)}_{i,s}(n) = a_i\,w(2\pi k_i\,\mathrm{index}_s(n)/L + \varphi_{i,s}), \qquad
R_{r,i} = a_i\,\overline{w(2\pi k_i r/L + \textstyle\sum_s\varphi_{i,s})},$$

with $w = \cos$, or $w(x) = e^{ix}$ in the complex network of Appendix A (`eq_sol1a`, `eq_sol2a`), whose answer is the
real part of the output. Each neuron adds $a_i^{S+1} g\cos(2\pi k_i(\sum_s \mathrm{index}_s - r)/L)$ with
$g = S!\,2^{-S}$, or $S!$ if complex, plus waves whose random phases do not cancel and which interfere destructively as
the width grows.
"""

import math

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
from modgrok.closed_form.matrices import Layers, answer_at_zero, by_zeros, has_zeros, join, neurons_for_zeros
from modgrok.shapes import Int
from modgrok.tasks.basis import Basis


def wave_layers(
    coordinate: Basis,
    frequencies: Int[np.ndarray, "k"],
    width: int,
    branches: Branches,
    rng: np.random.Generator,
    is_complex: bool = False,
    constant: bool = False,
) -> Layers:
    """Neurons that cycle through the frequencies, with phases uniform on the circle, and those that count zeros.

    The right answer's output averages to 1. Values that have no place in the group get no wave. With `constant` the
    frequency 0 is there as well, and all other outputs average to 0.
    """
    length, arity = coordinate.length, len(coordinate.index)
    k = np.resize(frequencies, width - other_neurons(coordinate, constant))
    phases = rng.uniform(0, 2 * np.pi, (len(k), arity))
    share = coefficients(length, k) / coefficients(length, k).sum() * (1 - constant / length)
    gain = math.factorial(arity) * (1 if is_complex else 2.0**-arity)
    a = (share / gain) ** (1 / (arity + 1))
    turn = input_angles(coordinate, k) + phases[:, :, None]
    back = group_angles(length, k) + phases.sum(axis=1)
    w_in, group_readout = (np.exp(1j * turn), np.exp(-1j * back)) if is_complex else (np.cos(turn), np.cos(back))
    waves = Layers(a[:, None, None] * w_in * placed(coordinate), onto_answers(coordinate, a * group_readout, branches))
    if not other_neurons(coordinate, constant):
        return waves
    values = answer_at_zero(coordinate)
    if constant:
        values[0] += onto_answers(coordinate, np.full(length, 1 / length), branches)
    return join(waves, by_zeros(coordinate, values))


def other_neurons(coordinate: Basis, constant: bool) -> int:
    """How many neurons of `wave_layers` are no waves."""
    return neurons_for_zeros(coordinate) if constant or has_zeros(coordinate) else 0


def whole_copies(coordinate: Basis, width: int) -> int:
    """The largest width up to this one at which random phases have every frequency equally often."""
    frequencies, others = len(independent_frequencies(coordinate.length)), other_neurons(coordinate, False)
    return max(1, (width - others) // frequencies) * frequencies + others
