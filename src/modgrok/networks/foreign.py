"""Networks from elsewhere: two weight matrices of NumPy, JAX or PyTorch, or a file of them."""

import math
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from modgrok.errors import ModgrokError
from modgrok.networks.activation import activation as find_activation
from modgrok.networks.network import Network, grid, outputs
from modgrok.networks.storage import load_network
from modgrok.networks.two_layer import PARAMETRIZATIONS, two_layer

SAMPLE = 2_000
"""Inputs on which the scale of a network's outputs is looked at."""
PLAUSIBLE = (0.05, 20.0)
"""Largest outputs of a network that answers with about one-hot vectors."""


def from_matrices(
    w_in: Any,
    w_out: Any,
    variables: int = 2,
    activation: str = "quadratic",
    parametrization: str | None = None,
) -> Network:
    r"""The two-layer network $W^{(2)}\phi(W^{(1)}x)$ on concatenated one-hot numbers.

    `w_in` is (N, S·p) as PyTorch's `Linear` has it, (S·p, N), or (N, S, p); `w_out` is (q, N) or (N, q). Without a
    parametrization the one is taken under which the outputs are about as large as one-hot answers; where neither is,
    it has to be named.
    """
    find_activation(activation)
    first, last = _array(w_in, "w_in"), _array(w_out, "w_out")
    if first.ndim == 2:
        first = _oriented(first, last, variables)
    if first.ndim != 3 or 0 in first.shape:
        raise ModgrokError(f"w_in has the shape (N, S·p), (S·p, N) or (N, S, p), not {np.shape(w_in)}.")
    width = first.shape[0]
    if last.ndim != 2 or width not in last.shape:
        raise ModgrokError(f"w_out has the shape (q, N) or (N, q) with N = {width}, not {np.shape(w_out)}.")
    last = last if last.shape[1] == width else last.T
    if parametrization is not None:
        return two_layer(first, last, activation, parametrization)
    return _plausible([two_layer(first, last, activation, name) for name in PARAMETRIZATIONS])


def load(path: str | Path, variables: int = 2, activation: str = "quadratic") -> Network:
    """A network that modgrok saved, or the two matrices in a .safetensors, .npz or .pt file of another program."""
    place = Path(path)
    if place.suffix == ".safetensors":
        try:
            return load_network(place)
        except ModgrokError:
            tensors = _safetensors(place)
    elif place.suffix == ".npz":
        tensors = _opened(place, lambda: dict(np.load(place, allow_pickle=False)))
    elif place.suffix in (".pt", ".pth"):
        tensors = _opened(place, lambda: _state_dict(place))
    else:
        raise ModgrokError(f"A network is read from a .safetensors, .npz, .pt or .pth file, not from {place.name}.")
    matrices = [tensor for tensor in tensors.values() if np.ndim(tensor) >= 2]
    if len(matrices) != 2:
        names = ", ".join(f"{name} {np.shape(t)}" for name, t in tensors.items())
        raise ModgrokError(f"{place} should hold two weight matrices, and holds {names or 'nothing'}.")
    first, last = sorted(matrices, key=lambda tensor: -np.size(tensor))
    return from_matrices(first, last, variables, activation)


def _array(given: Any, name: str) -> np.ndarray:
    if hasattr(given, "detach"):
        given = given.detach().cpu()
    try:
        found = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise ModgrokError(f"{name} is an array of NumPy, JAX or PyTorch, not {type(given).__name__}.") from error
    if found.dtype.kind not in "fc" or not np.isfinite(found).all():
        raise ModgrokError(f"{name} holds finite real or complex numbers, and this one {found.dtype} does not.")
    return found


def _oriented(first: np.ndarray, last: np.ndarray, variables: int) -> Float[np.ndarray, "N S p"]:
    """(N, S, p) from a matrix one of whose axes is as long as one of the readout's."""
    shared = [axis for axis in (0, 1) if first.shape[axis] in last.shape and first.shape[1 - axis] % variables == 0]
    if not shared:
        raise ModgrokError(
            f"The hidden width is an axis of both matrices, and the other axis of w_in holds {variables} blocks of "
            f"equal length; shapes {first.shape} and {last.shape} do not fit."
        )
    matrix = first if shared[0] == 0 else first.T
    return matrix.reshape(len(matrix), variables, -1)


def _plausible(candidates: list[Network]) -> Network:
    """The candidate whose largest output is nearest to 1."""
    sizes = candidates[0].signature.sizes
    total = math.prod(sizes)
    inputs = grid(sizes, 0, total)[:: max(1, total // SAMPLE)] if total <= 10**7 else grid(sizes, 0, SAMPLE)
    largest = [float(np.abs(outputs(network, inputs)).max()) for network in candidates]
    distance = [abs(math.log(size)) if size > 0 else math.inf for size in largest]
    best = int(np.argmin(distance))
    if not PLAUSIBLE[0] < largest[best] < PLAUSIBLE[1]:
        known = ", ".join(f"{n.parametrization}: {size:.3g}" for n, size in zip(candidates, largest, strict=True))
        raise ModgrokError(
            f"The outputs are far from one-hot answers in every parametrization (the largest are {known}); name the "
            f"one that these weights were trained in, parametrization='mean-field' or 'standard'."
        )
    return candidates[best]


def _safetensors(path: Path) -> dict[str, Any]:
    from modgrok.networks.tensors import read_tensors

    return dict(read_tensors(path).tensors)


def _state_dict(path: Path) -> dict[str, Any]:
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ModgrokError(f"{path} is read with PyTorch, which is not installed; save it as .safetensors.") from error
    found = torch.load(path, map_location="cpu", weights_only=True)
    return {name: tensor for name, tensor in found.items() if hasattr(tensor, "detach")}


def _opened(path: Path, read: Any) -> dict[str, Any]:
    try:
        return read()
    except ModgrokError:
        raise
    except Exception as error:
        raise ModgrokError(f"{path} cannot be read as weights: {error}.") from error
