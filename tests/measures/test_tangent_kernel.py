import jax
import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.closed_form import solve
from modgrok.errors import ModgrokError
from modgrok.measures import alignment, kernel_answers, tangent_kernel
from modgrok.networks import grid, two_layer
from modgrok.tasks import task


@pytest.mark.parametrize("activation", ["quadratic", "relu"])
def test_the_kernel_is_the_product_of_gradients(activation: str) -> None:
    rng = np.random.default_rng(0)
    network = two_layer(
        rng.standard_normal((6, 2, 5)).astype(np.float32),
        rng.standard_normal((5, 6)).astype(np.float32),
        activation=activation,
    )
    inputs = grid((5, 5))[::4]
    parameters = {name: jnp.asarray(value) for name, value in network.parameters.items()}
    slopes = jax.jacrev(lambda x: network.architecture.apply(x, inputs, network.signature))(parameters)
    flat = np.concatenate([np.asarray(s).reshape(len(inputs), 5, -1) for s in slopes.values()], axis=2)
    expected = np.einsum("aqi,bqi->ab", flat, flat) / 5
    np.testing.assert_allclose(tangent_kernel(network, inputs, inputs), expected, rtol=1e-4, atol=1e-9)


def test_a_kernel_is_aligned_with_itself_whatever_its_scale_and_mean() -> None:
    a = np.cov(np.random.default_rng(0).standard_normal((6, 20)))
    assert alignment(a, 3 * a + 5) == pytest.approx(1)
    assert alignment(a, -a) == pytest.approx(-1)


def test_regression_with_the_closed_forms_kernel_generalizes() -> None:
    addition = task("n + m", 11)
    network, order = solve(addition, width=200), np.random.default_rng(0).permutation(121)
    inputs, answers = grid((11, 11))[order], addition.table.reshape(-1)[order]
    among, across = (tangent_kernel(network, part, inputs[:90]) for part in (inputs[:90], inputs[90:]))
    assert (kernel_answers(among, across, answers[:90], 11) == answers[90:]).mean() > 0.9


def test_what_has_no_kernel_here_is_told() -> None:
    with pytest.raises(ModgrokError, match="real two-layer"):
        tangent_kernel(solve(task("n + m", 5), "complex", 4), grid((5, 5)), grid((5, 5)))
