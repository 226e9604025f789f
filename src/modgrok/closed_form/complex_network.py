r"""The complex network of Appendix A (`eq_sol1a`, `eq_sol2a`), with the real part of the output as the answer.

In the task's own coordinate, with S variables and the activation $x^S$,

$$W^{(1)}_{i,s}(n) = a_i e^{2\pi i k_i\,\mathrm{index}_s(n)/L + i\varphi_{i,s}}, \qquad
R_{r,i} = a_i e^{-2\pi i k_i r/L - i\sum_s\varphi_{i,s}},$$

and each neuron adds $a_i^{S+1}\,S!\cos(2\pi k_i(\sum_s \mathrm{index}_s - r)/L)$ to the real part of the output. There
are no waves of the opposite sign, so fewer terms are left to interfere than in the real network.
"""

import math

import numpy as np
from jaxtyping import Int

from modgrok.closed_form.branches import Branches, onto_answers
from modgrok.closed_form.frequencies import coefficients, group_angles, input_angles, placed
from modgrok.closed_form.layers import Layers
from modgrok.tasks.structure.verdict import Coordinate


def complex_layers(
    coordinate: Coordinate,
    frequencies: Int[np.ndarray, "k"],
    width: int,
    branches: Branches,
    rng: np.random.Generator,
) -> Layers:
    """`width` complex neurons that cycle through the frequencies, with phases uniform on the circle."""
    arity, modulus = len(coordinate.index), len(coordinate.index[0])
    k = np.resize(frequencies, width)
    phases = rng.uniform(0, 2 * np.pi, (width, arity))
    share = coefficients(coordinate.length, k)
    a = (share / share.sum() / math.factorial(arity)) ** (1 / (arity + 1))
    w_in = a[:, None, None] * np.exp(1j * (input_angles(coordinate, k) + phases[:, :, None])) * placed(coordinate)
    group_readout = a * np.exp(-1j * (group_angles(coordinate.length, k) + phases.sum(axis=1)))
    return Layers(w_in, onto_answers(coordinate, group_readout, modulus, branches))
