r"""Sharpness of a minimum after Keskar et al. (2016): how much the loss can grow within a small box.

$\phi = 100\,\frac{\max_z f(x + A z) - f(x)}{1 + f(x)}$ with $|z_i| \le \varepsilon(|(A^T x)_i| + 1)$, A an orthonormal
basis of a random subspace of ten dimensions, the maximum by ten iterations of L-BFGS; in float64, since φ is small.
"""

from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.optimize import minimize

from modgrok.networks import Network
from modgrok.shapes import Float, Integer

RADIUS, DIMENSIONS, ITERATIONS = 1e-3, 10, 10


def box_sharpness(
    network: Network, inputs: Integer[np.ndarray, "example S"], labels: Integer[np.ndarray, "example"], seed: int = 0
) -> float:
    """φ of the mean cross-entropy over these examples."""
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        names = sorted(network.parameters)
        point = [np.asarray(network.parameters[name], np.float64) for name in names]
        flat = np.concatenate([part.ravel() for part in point])
        subspace = np.linalg.qr(np.random.default_rng(seed).standard_normal((flat.size, DIMENSIONS)))[0]
        moves = subspace * (RADIUS * (np.abs(subspace.T @ flat) + 1))
        ends = np.cumsum([part.size for part in point])[:-1]
        boxes = [part.reshape(*at.shape, -1) for part, at in zip(np.split(moves, ends), point, strict=True)]
        weights, along = (
            {name: jnp.asarray(w) for name, w in zip(names, tree, strict=True)} for tree in (point, boxes)
        )
        examples = jnp.asarray(inputs), jnp.asarray(labels)

        def loss(z: Any) -> tuple[float, Float[np.ndarray, "z"]]:
            value, slope = _loss()(network.architecture, network.signature, jnp.asarray(z), weights, along, *examples)
            return float(value), np.asarray(slope)

        here, slope = loss(np.zeros(DIMENSIONS))
        unit = float(np.abs(slope).max()) or 1.0  # L-BFGS begins with steps as long as the slope

        def negative(z: Float[np.ndarray, "z"]) -> tuple[float, Float[np.ndarray, "z"]]:
            value, slope = loss(z)
            return (here - value) / unit, -slope / unit

        limits = {"maxiter": ITERATIONS, "ftol": 0.0, "gtol": 0.0}
        box = [(-1.0, 1.0)] * DIMENSIONS
        found = minimize(negative, np.zeros(DIMENSIONS), jac=True, method="L-BFGS-B", bounds=box, options=limits)
    return 100 * max(-float(found.fun), 0.0) * unit / (1 + here)


@lru_cache
def _loss() -> Any:
    """Loss and slope at a point of the box, compiled once for all networks of one shape."""
    import jax
    import jax.numpy as jnp

    @partial(jax.jit, static_argnums=(0, 1))
    @partial(jax.value_and_grad, argnums=2)
    def loss(architecture: Any, signature: Any, z: Any, weights: Any, along: Any, inputs: Any, labels: Any) -> Any:
        moved = {name: w + along[name] @ z for name, w in weights.items()}
        out = architecture.apply(moved, inputs, signature)
        return (jax.nn.logsumexp(out, axis=1) - jnp.take_along_axis(out, labels[:, None], axis=1)[:, 0]).mean()

    return loss
