import numpy as np
import pytest

from modgrok.closed_form import solve
from modgrok.errors import ModgrokError
from modgrok.measures import conserved, norm_growth
from modgrok.networks import Network, outputs, two_layer
from modgrok.networks.two_layer import scales
from modgrok.tasks import task

PAIRS = np.stack([x.ravel() for x in np.indices((5, 5))], axis=1)


def gradients(network: Network, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the mean squared error, by central differences."""

    def loss(w_in: np.ndarray, w_out: np.ndarray) -> float:
        changed = network.replace(w_in=w_in, w_out=w_out)
        return float(np.square(outputs(changed, PAIRS) - np.eye(5)[answers]).mean())

    def slopes(weights: np.ndarray, of: object) -> np.ndarray:
        found = np.zeros(weights.shape)
        for place in np.ndindex(weights.shape):
            step = np.zeros(weights.shape)
            step[place] = 1e-5
            found[place] = (of(weights + step) - of(weights - step)) / 2e-5  # type: ignore[operator]
        return found

    return (
        slopes(network.w_in, lambda w: loss(w, network.w_out)),
        slopes(network.w_out, lambda w: loss(network.w_in, w)),
    )


@pytest.mark.parametrize("activation", ["quadratic", "x^3", "abs", "relu"])
@pytest.mark.parametrize("parametrization", ["mean-field", "standard"])
def test_gradients_do_not_move_it(activation: str, parametrization: str) -> None:
    rng = np.random.default_rng(0)
    network = two_layer(rng.normal(size=(3, 2, 5)), rng.normal(size=(5, 3)), activation, parametrization)
    g_in, g_out = gradients(network, rng.integers(0, 5, 25))
    degree = {"quadratic": 2, "x^3": 3}.get(activation, 1)
    along_in, along_out = (network.w_in * g_in).sum(axis=(1, 2)), (network.w_out * g_out).sum(axis=0)
    np.testing.assert_allclose(along_in, degree * along_out, rtol=1e-4, atol=1e-9)
    expected = np.square(network.w_in).sum(axis=(1, 2)) - degree * np.square(network.w_out).sum(axis=0)
    np.testing.assert_allclose(conserved(network), expected)


def test_it_is_zero_on_average_at_the_start_and_in_the_closed_form() -> None:
    rng, p = np.random.default_rng(1), 97
    start = two_layer(rng.normal(size=(500, 2, p)), rng.normal(size=(p, 500)))
    assert abs(conserved(start).mean()) < 4 * conserved(start).std() / np.sqrt(500)
    np.testing.assert_allclose(conserved(solve(task("n + m", p))), 0, atol=1e-9)


@pytest.mark.parametrize(("parametrization", "growth"), [("mean-field", 5.158), ("standard", None)])
def test_growth_of_the_closed_form(parametrization: str, growth: float | None) -> None:
    network = solve(task("n + m", 97), parametrization=parametrization)
    amplitude = (2 * 194) ** (1 / 3) if growth else (2 / 500) ** (1 / 3)
    expected = amplitude / np.sqrt(2) / scales(parametrization, 194, 500).initial
    assert norm_growth(network) == pytest.approx(expected)
    assert growth is None or norm_growth(network) == pytest.approx(growth, abs=1e-3)


def test_other_activations_conserve_nothing() -> None:
    with pytest.raises(ModgrokError, match="gelu"):
        conserved(two_layer(np.ones((1, 2, 3)), np.ones((3, 1)), "gelu"))
