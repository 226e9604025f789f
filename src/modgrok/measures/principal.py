"""How many dimensions a set of vectors has, and the plane in which they differ most."""

import numpy as np

from modgrok.shapes import Float


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
