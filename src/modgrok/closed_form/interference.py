r"""What random phases leave, in closed form: the expected loss of a width, and accuracies under other activations.

With phases uniform on the circle the angles $A_s$ of a neuron are independent and uniform at every input, and its
output at $d = \sum_s\mathrm{index}_s - r$ is $\phi(\sum_s\cos A_s)\cos(\sum_s A_s - \theta d)$. Mean and covariance
over the phases are moments of $\phi$ on a torus (docs/theory.md):

$$\langle X_d\rangle = m\cos\theta d, \qquad
\langle X_d X_{d'}\rangle = \tfrac12 M\cos\theta(d - d') + \tfrac12 C\cos\theta(d + d').$$
"""

import math
from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from modgrok.closed_form.frequencies import (
    Branches,
    coefficients,
    group_angles,
    independent_frequencies,
    inputs_at,
    onto_answers,
    placed,
)
from modgrok.closed_form.matrix_coefficients import expected_vector_loss
from modgrok.closed_form.random_phases import other_neurons
from modgrok.networks.activation import activation as function_of
from modgrok.shapes import Float, Int
from modgrok.tasks.basis import Basis

WIDEST = 1 << 40
"""No width beyond this is predicted."""


class Moments(NamedTuple):
    r"""Of $\phi(\epsilon(\cos A + \cos B))$ with A and B uniform on the circle."""

    signal: float
    r"""$m = \langle\phi\cos(A+B)\rangle$: 1/2 for $x^2$, $8/(3\pi^2)$ for $|x|$, half of it for ReLU, at ε = 1."""
    power: float
    r"""$M = \langle\phi^2\rangle$."""
    echo: float
    r"""$C = \langle\phi^2\cos 2(A+B)\rangle$."""


def noise(arity: int) -> float:
    r"""N times the variance that random phases leave in an output of the form `waves`, averaged over the outputs.

    $\tfrac12(4^SM_S/S!^2 - 1)$ with $M_S = \langle(\cos A_1 + … + \cos A_S)^{2S}\rangle$: 4 for S = 2, 25.3 for S = 3.
    """
    return (4**arity / math.factorial(arity) ** 2 * _power_of_cosines(arity, 2 * arity) - 1) / 2


def expected_loss(
    coordinate: Basis,
    width: int,
    frequencies: Int[np.ndarray, "k"] | None = None,
    branches: Branches = "all",
    constant: bool = False,
) -> float:
    r"""Mean squared error over all inputs and answers of the form `waves`, averaged over its phases: exact.

    $4/N + 1/(p(p-1))$ for n + m, odd p, and the frequencies 1 … (p−1)/2 equally often. The second term is the missing
    frequency 0; with `constant` it is there, and $4(p-1)^2/(p^2(N-1))$ is all. The paper's own weights have it too
    (`printed_loss`). For groups that are not cyclic the loss of random vectors, with all branches.
    """
    if not coordinate.is_cyclic:
        return expected_vector_loss(coordinate, width, None if frequencies is None else frequencies.tolist(), constant)
    length, arity, modulus = coordinate.length, len(coordinate.index), len(coordinate.index[0])
    k = np.resize(
        independent_frequencies(length) if frequencies is None else frequencies,
        width - other_neurons(coordinate, constant),
    )
    share = coefficients(length, k) / coefficients(length, k).sum() * (1 - constant / length)
    used, which = np.unique(k, return_inverse=True)
    total, squared = np.bincount(which, share), np.bincount(which, share**2)
    waves = np.exp(1j * group_angles(length, used))  # (L, k)
    back = onto_answers(coordinate, waves.conj(), branches)  # (p, k)
    gain = 4**arity / math.factorial(arity) ** 2
    echo = math.factorial(2 * arity) / 8**arity

    met = waves[:, None, :] * back  # (L, p, k): the sum of exp(iθd) over the preimages of an answer
    mean = met.real @ total
    if constant:
        mean = mean + onto_answers(coordinate, np.full(length, 1 / length), branches)
    second = gain / 2 * (_power_of_cosines(arity, 2 * arity) * abs(met) ** 2 + echo * (met**2).real)
    answer = coordinate.readout[:, None] == np.arange(modulus)
    errors = np.square(mean - answer).sum(axis=1) + ((second - met.real**2) @ squared).sum(axis=1)
    loss = float(inputs_at(coordinate) @ errors)
    # With an argument missing the waves have no mean; the answer at zero is exact.
    power = gain / 2 * (abs(back) ** 2 @ squared).sum()
    for zeros, inputs in enumerate(_inputs_by_zeros(coordinate)):
        if zeros:
            loss += inputs * _power_of_cosines(arity - zeros, 2 * arity) * power
    return float(loss / modulus ** (arity + 1))


def printed_loss(modulus: int, width: int) -> float:
    r"""$\frac4N(1 + \frac1{16p})$: mean squared error of Claim I's weights as printed, averaged over their phases.

    In `eq_sol1` the frequencies are k = 1 … N modulo p, 0 among them; exact for n + m, odd p that divides N.
    """
    return 4 / width * (1 + 1 / (16 * modulus))


def moments(activation: str, scale: float = 1.0) -> Moments:
    r"""Moments of an activation at arguments of size ε, by quadrature in $(A \pm B)/2$, exact to rounding.

    There $\cos A + \cos B = 2\cos\sigma\cos\delta$, so kinks at 0 lie on the border of the region of integration.
    """
    nodes, weights = np.polynomial.legendre.leggauss(96)
    angle, weights = np.pi / 4 * (nodes + 1), weights / 2  # [0, π/2]
    argument = 2 * scale * np.outer(np.cos(angle), np.cos(angle))  # (σ, δ)
    phi = function_of(activation)
    values, squares = np.zeros(len(angle)), np.zeros(len(angle))
    for sign in (1, -1):
        values += phi(sign * argument) @ weights / 2
        squares += phi(sign * argument) ** 2 @ weights / 2
    return Moments(
        float(values * np.cos(2 * angle) @ weights),
        float(squares @ weights),
        float(squares * np.cos(4 * angle) @ weights),
    )


def expected_accuracy(activation: str, modulus: int, width: int, scale: float = 1.0) -> float:
    r"""Share of the pairs that the paper's weights answer under an activation (Fig. A1), for n + m and odd p.

    The outputs are taken as independent Gaussians with their exact means and variances, so it is an estimate:
    $\langle\Phi\big((\mu + s_0z)/s_1\big)^{p-1}\rangle_z$ with the lead μ of the right answer, its deviation $s_0$ and
    that of all others, $s_1$. `scale` is the size ε of the waves in the argument of φ.
    """
    from scipy.special import log_ndtr

    m, M, C = moments(activation, scale)
    others = modulus - 1
    right = width * ((M + C) / 2 - m**2)
    wrong = width * ((M - C / others) / 2 - m**2 * (1 - 1 / others) / 2)
    z = np.linspace(-9, 9, 1801)
    lead = (width * m * modulus / others + math.sqrt(max(right, 0.0)) * z) / math.sqrt(wrong)
    density = np.exp(-(z**2) / 2)
    return float(density @ np.exp(others * log_ndtr(lead)) / density.sum())


def width_needed(activation: str, modulus: int, accuracy: float = 0.99, scale: float = 1.0) -> int | None:
    r"""The width at which `expected_accuracy` reaches a value; None where no width does, as for odd functions.

    In proportion to $M/(2m^2)$. For GELU, $x/2 + x^2/\sqrt{2\pi}$ near 0, that is $\pi/\epsilon^2$: with the prefactor
    $\epsilon = 1/\sqrt D$ of the paper's network the width grows as D.
    """

    def enough(width: int) -> bool:
        return expected_accuracy(activation, modulus, width, scale) >= accuracy

    high = 1
    while not enough(high):
        high *= 2
        if high > WIDEST:
            return None
    between = range(high // 2 + 1, high)
    return between.start + bisect_left(between, True, key=enough)


def _power_of_cosines(terms: int, degree: int) -> float:
    r"""$\langle(\cos A_1 + … + \cos A_j)^d\rangle = d!\,[t^d]\,I_0(t)^j$ for even d."""
    bessel = np.array([1 / (4**i * math.factorial(i) ** 2) for i in range(degree // 2 + 1)])  # in t²
    series = np.eye(degree // 2 + 1)[0]
    for _ in range(terms):
        series = np.convolve(series, bessel)[: degree // 2 + 1]
    return float(series[-1] * math.factorial(degree))


def _inputs_by_zeros(coordinate: Basis) -> Float[np.ndarray, "zeros"]:
    """How many inputs have 0, 1, …, S arguments without a place."""
    counts = np.ones(1)
    for block in placed(coordinate):
        counts = np.convolve(counts, [block.sum(), len(block) - block.sum()])
    return counts
