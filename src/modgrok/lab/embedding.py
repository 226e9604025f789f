"""What the page draws of a network with a vector for every number: their spectrum, and their principal plane."""

from typing import Any

import numpy as np

from modgrok.measures.principal import principal_plane
from modgrok.measures.spectrum import frequency_power
from modgrok.networks import Network
from modgrok.shapes import Float
from modgrok.tasks import Task
from modgrok.tasks.basis import Basis


def vectors(network: Network, task: Task) -> Float[np.ndarray, "value d"] | None:
    """The embedding of the first variable's values, or what a first layer on one-hot numbers makes of them; None where
    inputs are signs or real vectors."""
    signature = task.signature
    if not signature.sizes or signature.signs:
        return None
    size = signature.sizes[0]
    if "embedding" in network.parameters:
        return np.asarray(network.parameters["embedding"])[:size]
    if network.architecture.has_waves:
        return np.asarray(network.w_in)[:, 0].T
    return np.asarray(network.parameters["layers.0.weight"])[:, :size].T


def picture(network: Network, task: Task, coordinate: Basis | None) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a frame: the share of the vectors' power at each frequency, along the coordinate, where the
    task has one; every vector in the plane of the first two principal components, and their shares of the variance."""
    found = vectors(network, task)
    if found is None or not np.isfinite(found).all():
        return {}, {}
    arrays: dict[str, np.ndarray] = {}
    if task.structure.coordinate is not None:
        along = coordinate and Basis(coordinate.length, coordinate.index[:1], coordinate.readout)
        power = frequency_power(found.T[:, None, :].astype(np.float64), along)
        power[0] = 0  # The mean, which says nothing of the numbers.
        arrays["embedding_spectrum"] = (power / (power.sum() or 1)).astype(np.float32)
    places, shares = principal_plane(found.astype(np.float64))
    arrays["embedding_plane"] = places.astype(np.float32)
    return {"embedding_shares": shares, "embedding_size": found.shape[1]}, arrays
