"""The Fourier image of one answer over all pairs (n, m): which waves the output consists of."""

import numpy as np

from modgrok.networks import Network, output_map
from modgrok.shapes import Float

FAMILIES = {"n + m": (1, 1), "n − m": (1, -1), "2n": (2, 0), "2m": (0, 2)}
"""The waves of `eq_omg` by their direction in the plane of frequencies (of n, of m)."""


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
