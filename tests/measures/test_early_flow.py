"""The early flow is the gradient of the real loss at small weights, and gradient descent follows it."""

import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.measures import early_flow, neuron_waves, raw_coordinate
from modgrok.measures.early_flow import left_to_learn, modes, velocity
from modgrok.networks import Network, two_layer
from modgrok.shapes import Float
from modgrok.tasks.basis import Basis


def random_network(p: int, width: int, scale: float, parametrization: str = "mean-field") -> Network:
    rng = np.random.default_rng(p)
    return two_layer(
        scale * rng.normal(size=(width, 2, p)),
        scale * rng.normal(size=(p, width)),
        parametrization=parametrization,
    )


def gradient(network: Network, coordinate: Basis) -> Network:
    """Of the mean squared error over all pairs and outputs."""
    p = network.modulus
    u, v = network.w_in[:, 0], network.w_in[:, 1]
    h = u[:, :, None] + v[:, None, :]
    answers = coordinate.readout[(coordinate.index[0][:, None] + coordinate.index[1]) % p]
    factor = network.scales.hidden**2 * network.scales.output
    error = factor * np.einsum("inm,qi->nmq", h**2, network.w_out) - np.eye(p)[answers]
    pull = 2 * factor / p**3 * 2 * h * np.einsum("nmq,qi->inm", error, network.w_out)
    g_out = 2 * factor / p**3 * np.einsum("nmq,inm->qi", error, h**2)
    return two_layer(np.stack([pull.sum(axis=2), pull.sum(axis=1)], axis=1), g_out)


@pytest.mark.parametrize("p", [2, 3, 7, 8, 11])
@pytest.mark.parametrize("parametrization", ["mean-field", "standard"])
def test_velocity_is_the_gradient_at_small_weights(p: int, parametrization: str) -> None:
    network = random_network(p, 5, 1e-4, parametrization)
    slope = gradient(network, raw_coordinate(2, p))
    expected = modes(two_layer(-slope.w_in, -slope.w_out))
    found = velocity(modes(network), p, network.scales.hidden**2 * network.scales.output)
    np.testing.assert_allclose(found.waves, expected.waves, atol=1e-6 * abs(expected.waves).max())
    np.testing.assert_allclose(found.means, expected.means, atol=1e-6 * abs(expected.means).max())


def test_velocity_in_a_permuted_coordinate() -> None:
    p, rng = 7, np.random.default_rng(0)
    coordinate = Basis(p, (rng.permutation(p), rng.permutation(p)), rng.permutation(p))
    network = random_network(p, 4, 1e-4)
    slope = gradient(network, coordinate)
    expected = modes(two_layer(-slope.w_in, -slope.w_out), coordinate)
    found = velocity(modes(network, coordinate), p, network.scales.hidden**2 * network.scales.output)
    np.testing.assert_allclose(found.waves, expected.waves, atol=1e-6 * abs(expected.waves).max())


def polar_velocity(
    first: Float[np.ndarray, "*x"],
    second: Float[np.ndarray, "*x"],
    readout: Float[np.ndarray, "*x"],
    gap: Float[np.ndarray, "*x"],
    c: float,
) -> tuple[Float[np.ndarray, "*x"], ...]:
    r"""The flow of one frequency without the constant, for amplitudes $\alpha_1, \alpha_2, \beta$ and the gap D:

    $$\dot\alpha_1 = c\alpha_2\beta\cos D, \quad \dot\alpha_2 = c\alpha_1\beta\cos D, \quad
    \dot\beta = c\alpha_1\alpha_2\cos D, \quad
    \dot D = -c\Big(\frac{\alpha_2\beta}{\alpha_1} + \frac{\alpha_1\beta}{\alpha_2} +
    \frac{\alpha_1\alpha_2}\beta\Big)\sin D.$$

    It keeps $\alpha_1^2 - \alpha_2^2$, $\alpha_1^2 - \beta^2$ and $\alpha_1\alpha_2\beta\sin D$.
    """
    closing = second * readout / first + first * readout / second + first * second / readout
    along = c * np.cos(gap)
    return along * second * readout, along * first * readout, along * first * second, -c * closing * np.sin(gap)


def test_polar_form_and_its_constants() -> None:
    rng = np.random.default_rng(0)
    network = random_network(7, 6, 1e-3)
    state = modes(network)._replace(means=np.zeros((3, 6)))
    factor = network.scales.hidden**2 * network.scales.output
    moved = velocity(state, 7, factor).waves
    amplitude, gap = abs(state.waves), np.angle(state.waves[0] * state.waves[1] * state.waves[2].conj())
    by_block = (moved / state.waves).real * amplitude, (moved / state.waves).imag
    *amplitudes, closing = polar_velocity(*amplitude, gap, 2 * factor / 49)
    np.testing.assert_allclose(by_block[0], amplitudes, rtol=1e-5)
    np.testing.assert_allclose(by_block[1][0] + by_block[1][1] - by_block[1][2], closing, rtol=1e-5)
    a, b, c, d = rng.uniform(0.5, 2, (4, 20))
    da, db, dc, dd = polar_velocity(a, b, c, d, 1.0)
    np.testing.assert_allclose(a * da, b * db)
    np.testing.assert_allclose(a * da, c * dc)
    volume = da * b * c + a * db * c + a * b * dc
    np.testing.assert_allclose(volume * np.sin(d) + a * b * c * np.cos(d) * dd, 0, atol=1e-12)


def test_gradient_descent_follows_the_flow() -> None:
    p, width, lr = 19, 80, 2000.0
    network = random_network(p, width, 1.0)
    w_in, w_out = network.w_in, network.w_out
    steps = np.array([0.0, 40, 80, 120, 160, 200])
    flow = early_flow(network, lr, steps)
    for step in range(201):
        now = two_layer(w_in, w_out)
        if step in steps:
            i = int(np.flatnonzero(steps == step)[0])
            waves = neuron_waves(now)
            assert waves.coherence == pytest.approx(flow.coherence[i], abs=0.05)
            assert (waves.frequency == flow.frequency[i]).mean() >= 0.85
            left = left_to_learn(modes(now), p, 1 / (2 * p * width))
            assert flow.learned[i, 0] == pytest.approx(1 - left[0], abs=0.1)
            assert flow.learned[i, 1:].mean() == pytest.approx(1 - left[1:].mean(), abs=0.02)
        slope = gradient(now, raw_coordinate(2, p))
        w_in, w_out = w_in - lr * slope.w_in, w_out - lr * slope.w_out
    assert flow.coherence[0] < 0.3 < 0.6 < flow.coherence[-1]


def test_what_it_is_not_derived_for() -> None:
    with pytest.raises(ModgrokError, match="two variables"):
        modes(two_layer(np.ones((1, 3, 5)), np.ones((5, 1))))
    with pytest.raises(ModgrokError, match="quadratic"):
        modes(two_layer(np.ones((1, 2, 5)), np.ones((5, 1)), "relu"))
    with pytest.raises(ModgrokError, match="every value once"):
        modes(two_layer(np.ones((1, 2, 5)), np.ones((5, 1))), Basis(5, (np.arange(5) ** 2 % 5,) * 2, np.arange(5)))
