"""Turned phases: amplitudes stay, and the gaps become what is asked for."""

import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.measures import early_flow, neuron_waves
from modgrok.measures.cleaning import turn_phases
from modgrok.measures.early_flow import modes
from modgrok.networks import Network, two_layer
from modgrok.tasks import task


def random_network(p: int = 13, width: int = 40) -> Network:
    rng = np.random.default_rng(0)
    return two_layer(rng.standard_normal((width, 2, p)), rng.standard_normal((p, width)))


def gaps(network: Network) -> np.ndarray:
    u, v, w = modes(network).waves
    return np.angle(u * v * w.conj())


@pytest.mark.parametrize("way", ["zero", "random", "kept", "zero-strongest", "random-strongest", "kept-strongest"])
def test_amplitudes_and_means_stay(way: str) -> None:
    network = random_network()
    before, after = modes(network), modes(turn_phases(network, way))
    np.testing.assert_allclose(abs(after.waves), abs(before.waves), atol=1e-12)
    np.testing.assert_allclose(after.means, before.means, atol=1e-12)


def test_gaps_become_what_is_asked_for() -> None:
    network = random_network()
    np.testing.assert_allclose(gaps(turn_phases(network, "zero")), 0, atol=1e-9)
    apart = np.exp(1j * gaps(turn_phases(network, "kept"))) - np.exp(1j * gaps(network))
    np.testing.assert_allclose(apart, 0, atol=1e-9)
    assert abs(np.exp(1j * gaps(turn_phases(turn_phases(network, "zero"), "random"))).mean()) < 0.2
    assert neuron_waves(turn_phases(network, "zero-strongest")).coherence == pytest.approx(1)
    changed = gaps(turn_phases(network, "random-strongest")) != pytest.approx(gaps(network))
    assert changed
    moved = abs(np.exp(1j * gaps(turn_phases(network, "random-strongest"))) - np.exp(1j * gaps(network))) > 1e-9
    assert (moved.sum(axis=1) == 1).all()


def test_the_coordinate_of_a_product() -> None:
    """In the coordinate of n·m over the nonzero residues nothing is turned: zero has no place."""
    with pytest.raises(ModgrokError, match="take every place once"):
        turn_phases(random_network(), "zero", task("n * m", 13))
    difference = task("n - m", 13)
    turned = turn_phases(random_network(), "zero", difference)
    assert neuron_waves(turned, difference).coherence == pytest.approx(1)
    assert early_flow(turned, 1.0, np.zeros(1), difference.structure.coordinate).coherence[0] == pytest.approx(1)


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(ModgrokError, match="zero, random, kept"):
        turn_phases(random_network(), "half")
