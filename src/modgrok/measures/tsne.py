r"""t-SNE (van der Maaten and Hinton 2008) for a few hundred points, exactly: all pairs, in NumPy.

Neighborhoods $p_{ij}$ are Gaussian with the width at which every point has the given perplexity; positions y minimize
$\sum_{ij} p_{ij}\ln(p_{ij}/q_{ij})$, $q_{ij} \propto 1/(1 + |y_i - y_j|^2)$, by descent with momentum from the first
two principal components.
"""

import numpy as np

from modgrok.shapes import Float

Points = Float[np.ndarray, "n d"]
STEPS, EXAGGERATED, EXAGGERATION = 600, 150, 8.0


def tsne(points: Points, perplexity: float = 15.0) -> Float[np.ndarray, "n 2"]:
    """Positions in the plane; the same points give the same positions."""
    p = _neighborhoods(points, min(perplexity, (len(points) - 1) / 3))
    centered = points - points.mean(axis=0)
    u, s, _ = np.linalg.svd(centered, full_matrices=False)
    y = u[:, :2] * s[:2]
    y = 1e-2 * y / y.std()
    rate, velocity = len(points) / EXAGGERATION, np.zeros_like(y)
    for step in range(STEPS):
        near = 1 / (1 + _squared_distances(y))
        np.fill_diagonal(near, 0)
        early = step < EXAGGERATED
        force = ((EXAGGERATION if early else 1.0) * p - near / near.sum()) * near
        gradient = 4 * (force.sum(axis=1)[:, None] * y - force @ y)
        velocity = (0.5 if early else 0.8) * velocity - rate * gradient
        y = y + velocity
    return y - y.mean(axis=0)


def commonest_step(plane: Float[np.ndarray, "n 2"]) -> tuple[int, float]:
    """The commonest difference, up to sign, between a number and its nearest neighbor, and the share that has it."""
    count = len(plane)
    distance = np.square(plane[:, None] - plane).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    steps = (distance.argmin(axis=1) - np.arange(count)) % count
    steps = np.minimum(steps, count - steps)
    commonest = int(np.bincount(steps).argmax())
    return commonest, float((steps == commonest).mean())


def _squared_distances(x: Points) -> Float[np.ndarray, "n n"]:
    squares = np.square(x).sum(axis=1)
    return np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0)


def _neighborhoods(points: Points, perplexity: float) -> Float[np.ndarray, "n n"]:
    """Symmetric, all together 1."""
    distances = _squared_distances(points)
    np.fill_diagonal(distances, np.inf)
    distances = distances - distances.min(axis=1, keepdims=True)
    low, high = np.full(len(points), 1e-12), np.full(len(points), 1e12)
    for _ in range(80):  # bisection of every point's precision, on a logarithmic scale
        precision = np.sqrt(low * high)
        weights = np.exp(-precision[:, None] * distances)
        share = weights / weights.sum(axis=1, keepdims=True)
        entropy = -(share * np.log(np.maximum(share, 1e-300))).sum(axis=1)
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, precision, low), np.where(wide, high, precision)
    return np.maximum((share + share.T) / (2 * len(points)), 1e-12)
