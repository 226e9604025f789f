r"""A kernel machine that learns features groks too (Mallinar et al.): no network, no gradient descent.

With the kernel $(x^T M x')^2$ on one-hot pairs, the machine interpolates the training set, then replaces M by the root
of the mean outer product of its gradients there, $(\frac1n \sum_x \nabla f \nabla f^T)^{1/2}$, and begins again.
"""

from typing import NamedTuple

import numpy as np

from modgrok.shapes import Float

JITTER = 1e-12
"""Added to the kernel's diagonal in units of its mean, so that it can be inverted."""


class Iteration(NamedTuple):
    """What the machine knows with one M."""

    train_loss: float
    test_loss: float
    test_accuracy: float
    deviation: float | None
    """Of the block of M between n and m from one with equal values along all (anti)diagonals; None where it is 0."""


def learn(p: int, fraction: float, iterations: int) -> list[Iteration]:
    """The machine's iterations, from M = 1."""
    from scipy.linalg import solve

    pairs = np.indices((p, p)).reshape(2, -1).T
    answers = pairs.sum(axis=1) % p
    order = np.random.default_rng(0).permutation(p * p)
    trained, tested = np.split(order, [round(fraction * p * p)])
    inputs = np.eye(p)[pairs].reshape(p * p, 2 * p)
    x, targets = inputs[trained], np.eye(p)[answers]
    features, found = np.eye(2 * p), []
    for _ in range(iterations):
        inner = x @ features @ x.T
        kernel = inner**2
        jitter = JITTER * np.trace(kernel) / len(kernel)
        weights = solve(kernel + jitter * np.eye(len(kernel)), targets[trained], assume_a="pos")
        predicted = (inputs[tested] @ features @ x.T) ** 2 @ weights
        found.append(
            Iteration(
                float(np.square(kernel @ weights - targets[trained]).mean()),
                float(np.square(predicted - targets[tested]).mean()),
                float((predicted.argmax(axis=1) == answers[tested]).mean()),
                deviation(features[:p, p:]),
            )
        )
        features = root(features @ mean_product(inner, weights, x) @ features)
    return found


def mean_product(
    inner: Float[np.ndarray, "n n"], weights: Float[np.ndarray, "n q"], x: Float[np.ndarray, "n d"]
) -> Float[np.ndarray, "d d"]:
    """The mean over examples of the gradients' outer products, less a factor M on both sides."""
    each = (weights[:, :, None] * x[:, None, :]).reshape(len(x), -1)  # (n, q·d)
    gradients = (2 * inner @ each).reshape(-1, x.shape[1])
    return gradients.T @ gradients / len(x)


def root(matrix: Float[np.ndarray, "d d"]) -> Float[np.ndarray, "d d"]:
    """Of a symmetric matrix, with the largest value 1."""
    values, vectors = np.linalg.eigh(matrix)
    found = vectors * np.sqrt(values.clip(0)) @ vectors.T
    return found / np.abs(found).max()


def deviation(block: Float[np.ndarray, "p p"]) -> float | None:
    """The share of a block's variance that is not of its diagonals or antidiagonals, whichever is less."""
    total = np.square(block - block.mean()).sum()
    if total <= 1e-20:
        return None
    n, left = np.arange(len(block)), []
    for lines in ((n - n[:, None]) % len(n), (n + n[:, None]) % len(n)):
        means = np.bincount(lines.ravel(), block.ravel()) / len(n)
        left.append(np.square(block - means[lines]).sum())
    return float(min(left) / total)
