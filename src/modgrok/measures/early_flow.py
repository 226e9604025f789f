r"""The first stage of gradient flow, one frequency at a time: amplitudes, readouts and phase gaps of every neuron.

For the quadratic network of two variables write a neuron as $U(n) = \bar U + \sum_k\mathrm{Re}\,u_ke^{i\theta_kn}$,
$\theta_k = 2\pi k/p$, likewise V and the readout W. While the outputs are small beside the answers, the mean squared
error over all pairs is, up to a constant and for prefactors a and b of the layers,

$$-\frac{2a^2b}{p^3}\sum_i\Big[\frac{p^2}2\sum_k\mathrm{Re}\,u_kv_k\bar w_k + 2p^2\,\bar U\bar V\bar W
+ p\bar W(\|U\|^2 + \|V\|^2)\Big],$$

since frequencies meet only themselves in the sum over pairs. Gradient flow is then, with $c = 2a^2b/p^2$,

$$\dot u = c\,r_k\bar v w + 2cr_0\bar W u, \quad \dot v = c\,r_k\bar u w + 2cr_0\bar W v, \quad
\dot w = c\,r_k u v, \quad \dot{\bar U} = \dot{\bar V} = 2cr_0\bar W(\bar U + \bar V), \quad
\dot{\bar W} = cr_0\Big[2\bar U\bar V + \frac{\|U\|^2 + \|V\|^2}p\Big]$$

with $r = 1$. Neurons meet again through what is left to learn: the waves $\cos\theta_k(n + m - q)$ and the constant
1/p are in the output already to a share $1 - r_k$ and $1 - r_0$, and only the rest pulls. That keeps the flow finite;
it leaves out the waves that interfere destructively, and memorization. Phases align before amplitudes grow, since the
gap $\varphi_1 + \varphi_2 - \varphi_3$ closes at the sum of the rates of all three. Derivation: docs/theory.md.
"""

from typing import NamedTuple

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.measures.spectrum import raw_coordinate
from modgrok.networks import Network, as_numpy
from modgrok.shapes import Complex, Float, Integer
from modgrok.tasks.basis import Basis


class Modes(NamedTuple):
    """Every neuron in Fourier space: axis `3` holds the two input blocks and the readout."""

    waves: Complex[np.ndarray, "3 N k"]
    r"""$u_k, v_k, w_k$ for k = 1 … p//2, amplitude times $e^{i\varphi}$; real at k = p/2."""
    means: Float[np.ndarray, "3 N"]


class EarlyFlow(NamedTuple):
    """The flow at the steps asked for."""

    steps: Float[np.ndarray, "time"]
    frequency: Integer[np.ndarray, "time N"]
    """The strongest wave in the inputs of every neuron."""
    gap: Float[np.ndarray, "time N"]
    r"""$\varphi_1 + \varphi_2 - \varphi_3$ of it, in (−π, π]."""
    coherence: Float[np.ndarray, "time"]
    r"""$|\langle e^{iD}\rangle|$ over the neurons."""
    learned: Float[np.ndarray, "time k1"]
    """Share of the answer's coefficient that is in the output, for the frequencies 0 … p//2."""


def early_flow(
    network: Network, lr: float, steps: Float[np.ndarray, "time"], coordinate: Basis | None = None
) -> EarlyFlow:
    """Gradient flow from a network's weights, at the times of these steps of gradient descent (ascending)."""
    from scipy.integrate import solve_ivp

    start = modes(network, coordinate)
    p, factor = network.modulus, network.scales.hidden**2 * network.scales.output
    size = start.means.size

    def unpack(state: Float[np.ndarray, "number"]) -> Modes:
        waves = state[size:].view(complex).reshape(start.waves.shape)
        return Modes(waves, state[:size].reshape(start.means.shape))

    def derivative(_: float, state: Float[np.ndarray, "number"]) -> Float[np.ndarray, "number"]:
        now = velocity(unpack(state), p, factor)
        return np.concatenate([now.means.reshape(-1), now.waves.reshape(-1).view(float)])

    first = np.concatenate([start.means.reshape(-1), start.waves.reshape(-1).view(float)])
    times = lr * np.asarray(steps, dtype=np.float64)
    if times[-1] > 0:
        solution = solve_ivp(derivative, (0, times[-1]), first, t_eval=times, rtol=1e-6, atol=1e-9)
        states = [unpack(np.ascontiguousarray(column)) for column in solution.y.T]
    else:
        states = [start] * len(times)
    power = np.stack([np.square(abs(x.waves[:2])).sum(axis=0) for x in states])
    strongest = power.argmax(axis=2)
    waves = [np.take_along_axis(x.waves, k[None, :, None], 2) for x, k in zip(states, strongest, strict=True)]
    gaps = np.stack([np.angle(u * v * w.conj())[:, 0] for u, v, w in waves])
    return EarlyFlow(
        np.asarray(steps, dtype=np.float64),
        strongest + 1,
        gaps,
        abs(np.exp(1j * gaps).mean(axis=1)),
        np.stack([1 - left_to_learn(x, p, factor) for x in states]),
    )


def modes(network: Network, coordinate: Basis | None = None) -> Modes:
    """Fourier modes of a quadratic network of two variables, in a coordinate that is a bijection onto Z_p."""
    network = as_numpy(network, np.float64)
    p = network.modulus
    coordinate = coordinate or raw_coordinate(network.arity, p)
    if network.arity != 2 or network.activation != "quadratic":
        raise ModgrokError("The early flow is derived for two variables and the quadratic activation.")
    places = [*coordinate.index, np.argsort(coordinate.readout)]
    if coordinate.length != p or any(sorted(x) != list(range(p)) for x in (*coordinate.index, coordinate.readout)):
        raise ModgrokError("The early flow is derived for sums whose arguments and answers take every value once.")
    blocks = np.stack([network.w_in[:, 0], network.w_in[:, 1], network.w_out.T])
    along = np.stack([block[:, np.argsort(place)] for block, place in zip(blocks, places, strict=True)])
    transform = np.fft.rfft(along, axis=2)
    waves = transform[..., 1:] * (2 / p)
    if p % 2 == 0:
        waves[..., -1] /= 2
    return Modes(waves, transform[..., 0].real / p)


def left_to_learn(state: Modes, modulus: int, factor: float) -> Float[np.ndarray, "k1"]:
    r"""$r_k = 1 - y_k/c_k$ for k = 0 … p//2: y the coefficients in the output, c those of the δ-function."""
    (u, v, w), (mean_u, mean_v, mean_w) = state
    aligned = (u * v * w.conj()).real.sum(axis=0)
    target = np.full(aligned.shape, 2 / modulus)
    learned = factor / 2 * aligned
    if modulus % 2 == 0:
        target[-1] /= 2
        learned[-1] *= 4
    constant = factor * (mean_w * (_squares(state, modulus) + 2 * modulus * mean_u * mean_v)).sum()
    return np.concatenate([[1 - constant], 1 - learned / target])


def velocity(state: Modes, modulus: int, factor: float) -> Modes:
    """Time derivative of the modes; `factor` is a²b of the layers' prefactors."""
    (u, v, w), (mean_u, mean_v, mean_w) = state
    c = 2 * factor / modulus**2
    left = left_to_learn(state, modulus, factor)
    pull = c * left[1:]
    if modulus % 2 == 0:
        pull[-1] *= 2
    growth = (2 * c * left[0] * mean_w)[:, None]
    waves = np.stack([pull * v.conj() * w + growth * u, pull * u.conj() * w + growth * v, pull * u * v])
    both = 2 * c * left[0] * mean_w * (mean_u + mean_v)
    readout = c * left[0] * (2 * mean_u * mean_v + _squares(state, modulus) / modulus)
    return Modes(waves, np.stack([both, both, readout]))


def _squares(state: Modes, modulus: int) -> Float[np.ndarray, "N"]:
    r"""$\|U\|^2 + \|V\|^2$ of every neuron."""
    power = np.square(abs(state.waves[:2])) / 2
    if modulus % 2 == 0:
        power[..., -1] *= 2
    return modulus * (np.square(state.means[:2]) + power.sum(axis=2)).sum(axis=0)
