"""Networks from elsewhere: two weight matrices of NumPy, JAX or PyTorch, or a file of them."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.networks.activation import activation as find_activation
from modgrok.networks.activation import activation_name
from modgrok.networks.layouts import Layout, chain, guess_layout, perceptron, read_layout
from modgrok.networks.network import Network, grid, outputs
from modgrok.networks.storage import read_network
from modgrok.networks.two_layer import PARAMETRIZATIONS, two_layer
from modgrok.networks.weight_files import as_array, read_arrays, saved_by_modgrok, state_dict_arrays
from modgrok.shapes import Inexact

SAMPLE = 2_000
"""Inputs on which the scale of a network's outputs is looked at."""
PLAUSIBLE = (0.05, 20.0)
"""Largest outputs of a network that answers with about one-hot vectors."""


def from_matrices(
    w_in: Any,
    w_out: Any,
    variables: int | None = None,
    activation: str = "quadratic",
    parametrization: str | None = None,
) -> Network:
    r"""The two-layer network $W^{(2)}\phi(W^{(1)}x)$ on concatenated one-hot numbers; see `Network.from_matrices`."""
    find_activation(activation_name(activation))
    if variables is not None and variables < 1:
        raise ModgrokError(f"variables must be at least 1, not {variables}.")
    first, last = as_array(w_in, "w_in"), as_array(w_out, "w_out")
    if first.ndim not in (2, 3) or 0 in first.shape:
        raise ModgrokError(f"w_in must have the shape (N, S·p), (S·p, N) or (N, S, p), not {first.shape}.")
    if last.ndim != 2 or 0 in last.shape:
        raise ModgrokError(f"w_out must have the shape (q, N) or (N, q), not {last.shape}.")
    if first.ndim == 2:
        first = _oriented(first, last, variables)
    width = first.shape[0]
    if width not in last.shape:
        raise ModgrokError(f"w_out must have the shape (q, N) or (N, q) with N = {width}, not {last.shape}.")
    last = last if last.shape[1] == width else last.T
    if parametrization is not None:
        return two_layer(first, last, activation, parametrization)
    return _plausible([two_layer(first, last, activation, name) for name in PARAMETRIZATIONS])


def load(
    source: str | Path | Mapping[str, Any],
    variables: int | None = None,
    activation: str | None = None,
    parametrization: str | None = None,
    layout: str | Layout | None = None,
    **options: Any,
) -> Network:
    """A network that modgrok saved, or one in a .safetensors, .npz or .pt file, or in a state dict, of another program.

    Two matrices are a two-layer network, for which the options are those of `Network.from_matrices`; more of them, or
    with biases, a multilayer perceptron (`activation` is ReLU unless given). All else is found by a `layout`: one of
    `modgrok.networks.layouts.LAYOUTS`, which the tensors' names may tell, or a mapping like those. `options` are then
    `network`, `modulus`, and settings of the architecture that shapes do not tell, such as `heads`.
    """
    if isinstance(source, Mapping):
        place, arrays = Path("the state dict"), state_dict_arrays(source)
    else:
        place = Path(source)
        if saved_by_modgrok(place):
            return read_network(place).network
        arrays = read_arrays(place)
    own: dict[str, Any] = {"activation": activation} if activation else {}
    if layout is None:
        layout = guess_layout(arrays)
    if layout is not None:
        return read_layout(arrays, layout, variables=variables, **own, **options)
    if options:
        raise ModgrokError(f"{min(options)} needs a layout; name one, or pass a mapping of names.")
    biased = any(array.ndim == 1 and array.any() for array in arrays.values())
    layers = chain(arrays)
    if layers is not None and (biased or sum(name.endswith("weight") for name in layers) > 2):
        return perceptron({name: as_array(w, name) for name, w in layers.items()}, variables, **own)
    matrices = [array for array in arrays.values() if array.ndim >= 2]
    if len(matrices) != 2:
        names = ", ".join(f"{name} {array.shape}" for name, array in list(arrays.items())[:8])
        raise ModgrokError(f"{place} should hold two weight matrices, but holds {len(arrays)}: {names or 'nothing'}.")
    others = [name for name, array in arrays.items() if array.ndim < 2 and array.any()]
    if others:
        raise ModgrokError(
            f"{place} holds more than two weight matrices, and no layers (out, in) with biases behind them: "
            f"{', '.join(others)}; name a layout, or give the matrices alone to Network.from_matrices."
        )
    first, last = sorted(matrices, key=lambda array: -array.size)
    return from_matrices(first, last, variables, activation or "quadratic", parametrization)


def _oriented(first: np.ndarray, last: np.ndarray, variables: int | None) -> Inexact[np.ndarray, "N S p"]:
    """(N, S, p) from a matrix one of whose axes is as long as one of the readout's."""
    for matrix in (first, first.T):
        width, inputs = matrix.shape
        if width in last.shape:
            answers = last.size // width
            blocks = variables or (inputs // answers if inputs % answers == 0 else 0)
            if blocks > 0 and inputs % blocks == 0:
                return matrix.reshape(width, blocks, -1)
    said = "as many blocks as there are variables" if variables is None else f"{variables} blocks of equal length"
    raise ModgrokError(
        f"The hidden width is an axis of both matrices, and the other axis of w_in holds {said}; shapes {first.shape} "
        f"and {last.shape} do not fit." + (" Pass variables=…." if variables is None else "")
    )


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
