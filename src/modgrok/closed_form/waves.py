r"""Random phases: the paper's closed form (Claims I and II, Corollary; `eq_sol1`, `eq_sol2`, `eq_solfF2`).

In the task's own coordinate, with S variables and the activation $x^S$,

$$W^{(1)}_{i,s}(n) = a_i\cos(2\pi k_i\,\mathrm{index}_s(n)/L + \varphi_{i,s}), \qquad
R_{r,i} = a_i\cos(2\pi k_i r/L + \textstyle\sum_s\varphi_{i,s}),$$

and each neuron adds $a_i^{S+1}\,S!\,2^{-S}\cos(2\pi k_i(\sum_s \mathrm{index}_s - r)/L)$ to the output, plus waves
whose random phases do not cancel and which interfere destructively as the width grows.
"""

import math

import numpy as np
from jaxtyping import Float, Int

from modgrok.closed_form.branches import Branches, onto_answers
from modgrok.closed_form.frequencies import coefficients, group_angles, input_angles, placed
from modgrok.closed_form.layers import Layers
from modgrok.tasks.structure.verdict import Coordinate


def wave_layers(
    coordinate: Coordinate,
    frequencies: Int[np.ndarray, "k"],
    width: int,
    branches: Branches,
    rng: np.random.Generator,
) -> Layers:
    """`width` neurons that cycle through the frequencies, with phases uniform on the circle.

    The right answer's output averages to 1. Values that have no place in the group get no wave.
    """
    arity, modulus = len(coordinate.index), len(coordinate.index[0])
    k = np.resize(frequencies, width)
    phases = rng.uniform(0, 2 * np.pi, (width, arity))
    a = amplitudes(coordinate.length, k, arity)
    w_in = a[:, None, None] * np.cos(input_angles(coordinate, k) + phases[:, :, None]) * placed(coordinate)
    group_readout = a * np.cos(group_angles(coordinate.length, k) + phases.sum(axis=1))
    return Layers(w_in, onto_answers(coordinate, group_readout, modulus, branches))


def amplitudes(length: int, frequencies: Int[np.ndarray, "N"], arity: int) -> Float[np.ndarray, "N"]:
    r"""$a_i$ with $a_i^{S+1} S!\,2^{-S} = c_{k_i} / \sum_j c_{k_j}$: equal for all neurons but those of frequency L/2.

    For odd L this is $(2^S/(N S!))^{1/(S+1)}$, in mean-field units $(2D)^{1/3}$ at S = 2.
    """
    share = coefficients(length, frequencies)
    return (2**arity / math.factorial(arity) * share / share.sum()) ** (1 / (arity + 1))
