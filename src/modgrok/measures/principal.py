r"""How many dimensions a set of vectors has, and planes that show it: that in which they differ most, and t-SNE.

t-SNE (van der Maaten and Hinton 2008) is exact here, for a few hundred points: neighborhoods $p_{ij}$ are Gaussian with
the width at which every point has the given perplexity; positions y minimize $\sum_{ij} p_{ij}\ln(p_{ij}/q_{ij})$,
$q_{ij} \propto 1/(1 + |y_i - y_j|^2)$, by descent with momentum from the first two principal components.
"""

import numpy as np

from modgrok.shapes import Float

Points = Float[np.ndarray, "n d"]
STEPS, EXAGGERATED, EXAGGERATION = 600, 150, 8.0


def principal_plane(vectors: Float[np.ndarray, "value d"]) -> tuple[Float[np.ndarray, "value 2"], list[float]]:
    """Places along the two directions of largest variance, the largest of each positive, and their shares of it."""
    centered = vectors - vectors.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centered, full_matrices=False)
    places = np.zeros((len(vectors), 2))
    count = min(2, len(sizes))
    places[:, :count] = left[:, :count] * sizes[:count]
    places *= np.where(places.max(axis=0) < -places.min(axis=0), -1, 1)
    total = float(np.square(sizes).sum()) or 1.0
    return places, [float(size**2 / total) for size in sizes[:2]]


def effective_dimension(sizes: Float[np.ndarray, "d"]) -> float:
    r"""$\exp(-\sum_k p_k \ln p_k)$ of the extents along the principal axes (singular values, or eigenvalues of a
    covariance), each a share $p_k$ of their sum."""
    present = sizes[sizes > 1e-12]
    shares = present / present.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def roundness(plane: Float[np.ndarray, "value 2"]) -> float:
    """Standard deviation of the radius in units of its mean: 0 on a circle, about ½ for normal points."""
    radius = np.linalg.norm(plane, axis=1)
    return float(radius.std() / radius.mean())


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
