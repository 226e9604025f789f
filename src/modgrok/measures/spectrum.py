r"""Fourier spectra of the neurons, in the raw index or in the task's own coordinate, and of the outputs.

A network that learned $n^2 + m^2$ or $nm$ holds waves in $n^2$ or in the discrete logarithm of $n$, and looks like
noise in $n$ itself. The transform therefore runs along a coordinate: the group Z_L and the place of every n in it.
"""

from typing import Any

import numpy as np

from modgrok.arrays import namespace
from modgrok.errors import ModgrokError
from modgrok.networks import Network, output_map
from modgrok.networks.network import network_of
from modgrok.shapes import Float, Inexact, Integer
from modgrok.tasks import Basis, Task
from modgrok.text import abridged

DEAD = 1e-6
"""Share of the strongest neuron's power up to which a neuron counts as dead: weights a thousand times smaller."""
FAMILIES = {"n + m": (1, 1), "n − m": (1, -1), "2n": (2, 0), "2m": (0, 2)}
"""The waves of `eq_omg` by their direction in the plane of frequencies (of n, of m)."""


def two_layer_network(subject: Any) -> Network:
    """The network of a subject; a sentence where it has no waves."""
    network = network_of(subject)
    if not network.architecture.has_waves:
        kind = network.architecture.name
        raise ModgrokError(f"Waves and phases need a two-layer network, not {kind}.")
    return network


def coordinate_of(given: Any) -> Basis | None:
    """A coordinate as it is, that of a task, or None for the raw index."""
    if given is None or isinstance(given, Basis):
        return given
    if isinstance(given, Task):
        return given.structure.coordinate
    raise ModgrokError(f"A coordinate must be a task or its task.structure.coordinate, not {abridged(given)}.")


def raw_coordinate(arity: int, modulus: int) -> Basis:
    """Every number at its own place in Z_p: the coordinate of $n_1 + … + n_S$."""
    places = np.arange(modulus)
    return Basis(modulus, (places,) * arity, places)


def power_spectrum(w_in: Any, coordinate: Any = None) -> Float[Any, "N S L"]:
    r"""$|\tilde w_\nu|^2$ of every block, with $\tilde w_\nu = \sum_n w(n) e^{-2\pi i \nu\, \mathrm{index}(n)/L}$.

    No normalization, all L frequencies: a real wave of amplitude a has $(aL/2)^2$ at ν = k and at ν = L − k. Values
    without a place do not count, values that share one are added up. Where the places are not all taken equally
    often (the squares, say) even a pure wave leaves some power at the other frequencies. Without a coordinate: the
    plain transform over n. The weights may be those of a network or a run, the coordinate that of a task.
    """
    w_in = w_in if hasattr(w_in, "ndim") else two_layer_network(w_in).w_in
    if w_in.ndim != 3:
        raise ModgrokError(f"Input weights have the shape (N, S, p), not {tuple(w_in.shape)}.")
    coordinate = coordinate_of(coordinate) or raw_coordinate(*w_in.shape[1:])
    blocks = zip(range(w_in.shape[1]), coordinate.index, strict=True)
    return namespace(w_in).stack([_power(w_in[:, s], index, coordinate.length) for s, index in blocks], axis=1)


def frequency_power(w_in: Inexact[np.ndarray, "N S p"], coordinate: Basis | None = None) -> Float[np.ndarray, "k"]:
    """Power at each frequency 0 … ⌊L/2⌋, over all neurons and variables; k and L − k together, L/2 once."""
    power = power_spectrum(w_in, coordinate).sum(axis=(0, 1))
    half = len(power) // 2 + 1
    folded = power[:half].copy()
    folded[1 : (len(power) + 1) // 2] += power[half:][::-1]
    return folded


def power_along(
    w_in: Float[Any, "N S p"], index: Integer[Any, "S p"], length: Integer[Any, ""]
) -> tuple[Float[Any, "N S k"], Float[Any, "1 1 k"]]:
    """`power_spectrum` for a coordinate that is data, so that runs of different tasks trace as one program.

    The power of real weights at frequencies 0 … ⌊p/2⌋, and how many of all L frequencies have it: two where L − ν is
    another than ν. Frequencies beyond L/2 have no power. L = 0 stands for no coordinate: no power at all.
    """
    xp = namespace(w_in)
    frequency = xp.arange(w_in.shape[2] // 2 + 1, dtype=index.dtype)
    turns = (frequency[None, :, None] * index[:, None, :]) % xp.maximum(length, 1)
    angle = turns.astype(w_in.dtype) * (2 * np.pi) / xp.maximum(length, 1).astype(w_in.dtype)
    there = (2 * frequency <= length) & (length > 0)
    counts = (there[None, :, None] & (index[:, None, :] >= 0)).astype(w_in.dtype)
    by_block = w_in.transpose(1, 2, 0)  # (N, S, p) -> (S, p, N)
    real, imaginary = (_product(counts * wave, by_block) for wave in (xp.cos(angle), xp.sin(angle)))
    times = xp.where((frequency == 0) | (2 * frequency == length), xp.ones_like(frequency), 2 * xp.ones_like(frequency))
    return (real**2 + imaginary**2).transpose(2, 0, 1), times.astype(w_in.dtype)[None, None, :]


def readout_spectrum(w_out: Inexact[Any, "p N"], coordinate: Basis | None = None) -> Float[Any, "N L"]:
    r"""$|\tilde w_\nu|^2$ of the readout of every neuron along the group, $r \mapsto W^{(2)}_{\mathrm{readout}(r)}$."""
    coordinate = coordinate or raw_coordinate(1, w_out.shape[0])
    return _power(w_out[coordinate.readout].T, np.arange(coordinate.length), coordinate.length)


def _power(w: Inexact[Any, "N p"], index: Integer[np.ndarray, "p"], length: int) -> Float[Any, "N L"]:
    angle = 2 * np.pi / length * (np.outer(index, np.arange(length)) % length)
    real, imaginary = (_product(w, (index >= 0)[:, None] * wave) for wave in (np.cos(angle), -np.sin(angle)))
    if namespace(w).iscomplexobj(w):
        return abs(real + 1j * imaginary) ** 2
    return real**2 + imaginary**2


def _product(left: Any, right: Any) -> Any:
    right = right.astype(left.dtype)
    if isinstance(left, np.ndarray):
        return left @ right
    # Without it a GPU rounds the factors to ten bits.
    return namespace(left).matmul(left, right, precision="highest")


def fourier_image(answer: Float[np.ndarray, "p p"]) -> Float[np.ndarray, "p p"]:
    r"""$|\tilde h(\mu, \nu)|$ of a map over (n, m) less its mean, largest value 1, frequency 0 in the middle."""
    image = np.abs(np.fft.fftshift(np.fft.fft2(answer - answer.mean())))
    return image / image.max()


def wave_shares(network: Network, answer: int) -> dict[str, float]:
    """Share of the power of an answer's Fourier image (without its mean) in each family of waves."""
    image = np.abs(np.fft.fft2(output_map(network, answer))) ** 2
    image[0, 0] = 0
    k = np.arange(1, len(image))
    shares = {name: image[a * k % len(image), b * k % len(image)].sum() for name, (a, b) in FAMILIES.items()}
    return {name: float(power / image.sum()) for name, power in shares.items()}
