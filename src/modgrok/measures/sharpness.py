r"""How sharply a loss bends: the largest eigenvalue of its Hessian.

Gradient descent at the rate η is stable in a quadratic valley where $\lambda_{\max} < 2/\eta$. The Hessian is never
built: $Hv = \frac{d}{d\epsilon}\nabla L(\theta + \epsilon v)$ costs about two gradients, and Lanczos' method finds the
largest eigenvalue from few such products.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from modgrok.networks import Network
from modgrok.shapes import Float, Integer

ITERATIONS = 20
"""Products with the Hessian; two or three digits of the largest eigenvalue need no more."""


def sharpness(
    loss: Callable[[Any], Any], points: Sequence[Any], iterations: int = ITERATIONS, seed: int = 0
) -> Float[np.ndarray, "point"]:
    r"""$\lambda_{\max}$ of the Hessian of a loss, written in JAX, at each of some points (pytrees of one shape); NaN
    where the loss has none."""
    import jax
    from jax.flatten_util import ravel_pytree

    _, unravel = ravel_pytree(points[0])

    @jax.jit
    def product(point: Any, v: Any) -> Any:
        return jax.jvp(jax.grad(lambda x: loss(unravel(x))), (point,), (v,))[1]

    flat = [ravel_pytree(point)[0] for point in points]
    return np.array([largest_eigenvalue(partial(product, x), x.size, iterations, seed) for x in flat])


def loss_sharpness(
    networks: Sequence[Network], inputs: Integer[np.ndarray, "example S"], labels: Integer[np.ndarray, "example"]
) -> Float[np.ndarray, "network"]:
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


def traced_eigenvalue(product: Callable[[Any], Any], size: int, iterations: int = ITERATIONS) -> Any:
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

    start = (jnp.zeros((iterations, size), jnp.float32), first)
    _, along = jax.lax.scan(extend, start, jnp.arange(iterations))
    projected = jnp.tril(along)
    return jnp.linalg.eigvalsh(projected + jnp.tril(along, -1).T)[-1]
