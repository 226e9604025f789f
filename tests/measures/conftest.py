from collections.abc import Callable

import numpy as np
import pytest

from modgrok.measures.spectrum import raw_coordinate
from modgrok.networks import Network, two_layer
from modgrok.tasks.basis import Basis


def build(
    coordinate: Basis, modulus: int, frequency: np.ndarray, amplitudes: np.ndarray, phases: np.ndarray
) -> Network:
    """Neurons a_s cos(2πk index_s(n)/L + φ_s), read out by a_{S+1} cos(2πkr/L + φ_{S+1}) over the r of each answer."""

    def wave(block: int, places: np.ndarray) -> np.ndarray:
        angle = 2 * np.pi * np.outer(frequency, places) / coordinate.length + phases[:, block, None]
        return amplitudes[:, block, None] * np.cos(angle)

    w_in = np.stack([np.where(index < 0, 0, wave(s, index)) for s, index in enumerate(coordinate.index)], axis=1)
    w_out = np.zeros((modulus, len(frequency)))
    np.add.at(w_out, coordinate.readout, wave(-1, np.arange(coordinate.length)).T)
    return two_layer(w_in, w_out)


@pytest.fixture(scope="session")
def wave_network() -> Callable[..., Network]:
    return build


@pytest.fixture(scope="session")
def addition() -> tuple[Network, np.ndarray, Basis]:
    """The paper's closed form of n + m mod 11 with 40 neurons per frequency, its table and its coordinate."""
    p = 11
    rng = np.random.default_rng(1)
    frequency = np.repeat(np.arange(1, 6), 40)
    phases = rng.uniform(-np.pi, np.pi, (200, 3))
    phases[:, 2] = phases[:, 0] + phases[:, 1]
    coordinate = raw_coordinate(2, p)
    network = build(coordinate, p, frequency, np.full((200, 3), (4 * p) ** (1 / 3)), phases)
    n = np.arange(p)
    return network, (n[:, None] + n) % p, coordinate
