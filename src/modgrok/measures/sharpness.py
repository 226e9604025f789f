r"""How sharply a loss bends: the largest eigenvalue of its Hessian, and how much it can grow within a small box.

Gradient descent at the rate η is stable in a quadratic valley where $\lambda_{\max} < 2/\eta$. The Hessian is never
built: $Hv = \frac{d}{d\epsilon}\nabla L(\theta + \epsilon v)$ costs about two gradients, and Lanczos' method finds the
largest eigenvalue from few such products.

In the box of Keskar et al. (2016) it grows by $\phi = 100\,\frac{\max_z f(x + A z) - f(x)}{1 + f(x)}$ with
$|z_i| \le \varepsilon(|(A^T x)_i| + 1)$, A an orthonormal basis of a random subspace of ten dimensions, the maximum by
ten iterations of L-BFGS; in float64, since φ is small.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from modgrok.networks import Network
from modgrok.shapes import Float, Integer

ITERATIONS = 20
"""Products with the Hessian; two or three digits of the largest eigenvalue need no more."""
RADIUS, DIMENSIONS, BOX_ITERATIONS = 1e-3, 10, 10
Inputs = Integer[np.ndarray, "example S"]
Labels = Integer[np.ndarray, "example"]


def sharpness(
    loss: Callable[[Any], Any], points: Sequence[Any], iterations: int = ITERATIONS, seed: int = 0
) -> Float[np.ndarray, "point"]:
    r"""$\lambda_{\max}$ of the Hessian of a loss, written in JAX, at points (pytrees of one shape); NaN if infinite."""
    import jax
    from jax.flatten_util import ravel_pytree

    _, unravel = ravel_pytree(points[0])

    @jax.jit
    def product(point: Any, v: Any) -> Any:
        return jax.jvp(jax.grad(lambda x: loss(unravel(x))), (point,), (v,))[1]

    flat = [ravel_pytree(point)[0] for point in points]
    return np.array([largest_eigenvalue(partial(product, x), x.size, iterations, seed) for x in flat])


def loss_sharpness(networks: Sequence[Network], inputs: Inputs, labels: Labels) -> Float[np.ndarray, "network"]:
    """Of the mean squared error on some examples, at each of several networks of one architecture."""
    import jax.numpy as jnp

    architecture, signature = networks[0].architecture, networks[0].signature
    given, answers = jnp.asarray(inputs), jnp.asarray(np.eye(signature.outputs, dtype=np.float32)[labels])

    def loss(parameters: Any) -> Any:
        return jnp.square(architecture.apply(parameters, given, signature) - answers).mean()

    return sharpness(loss, [network.parameters for network in networks])


def largest_eigenvalue(product: Callable[[Any], Any], size: int, iterations: int = ITERATIONS, seed: int = 0) -> float:
    """Of a symmetric matrix that is known by its products with vectors (Lanczos, every vector orthogonalized twice)."""
    v = np.random.default_rng(seed).standard_normal(size)
    basis = np.zeros((min(iterations, size), size))
    projected = np.zeros((len(basis), len(basis)))
    for i in range(len(basis)):
        norm = np.linalg.norm(v)
        if i and norm <= 1e-7 * np.abs(projected).max():
            return float(np.linalg.eigvalsh(projected[:i, :i])[-1])  # the space is exhausted
        basis[i] = v / norm
        v = np.asarray(product(basis[i].astype(np.float32)), dtype=np.float64)
        if not np.isfinite(v).all():
            return np.nan
        projected[: i + 1, i] = projected[i, : i + 1] = basis[: i + 1] @ v
        for _ in range(2):
            v -= basis[: i + 1].T @ (basis[: i + 1] @ v)
    return float(np.linalg.eigvalsh(projected)[-1])


def traced_eigenvalue(product: Callable[[Any], Any], size: int) -> Any:
    """The same in JAX with float32, so that it can be recorded while networks train; from a start that is fixed."""
    import jax
    import jax.numpy as jnp

    first = jax.random.normal(jax.random.key(0), (size,), jnp.float32)

    def extend(state: Any, i: Any) -> Any:
        basis, v = state
        basis = basis.at[i].set(v / jnp.linalg.norm(v))
        v = product(basis[i])
        along = basis @ v
        for _ in range(2):
            v = v - (basis @ v) @ basis
        return (basis, v), along

    start = (jnp.zeros((ITERATIONS, size), jnp.float32), first)
    _, along = jax.lax.scan(extend, start, jnp.arange(ITERATIONS))
    projected = jnp.tril(along)
    return jnp.linalg.eigvalsh(projected + jnp.tril(along, -1).T)[-1]


def box_sharpness(network: Network, inputs: Inputs, labels: Labels) -> float:
    """φ of the mean cross-entropy over these examples."""
    import jax
    import jax.numpy as jnp
    from scipy.optimize import minimize

    with jax.enable_x64(True):
        names = sorted(network.parameters)
        point = [np.asarray(network.parameters[name], np.float64) for name in names]
        flat = np.concatenate([part.ravel() for part in point])
        subspace = np.linalg.qr(np.random.default_rng(0).standard_normal((flat.size, DIMENSIONS)))[0]
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

        limits = {"maxiter": BOX_ITERATIONS, "ftol": 0.0, "gtol": 0.0}
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
