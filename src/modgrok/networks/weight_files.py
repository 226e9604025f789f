"""Weights in files of other programs as named arrays: safetensors, NumPy's .npz, PyTorch's state dicts.

Nothing in a file is executed: neither reader unpickles anything but arrays.
"""

import io
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.networks.tensors import read_tensors
from modgrok.sealed import read_file

Arrays = dict[str, np.ndarray]


def read_arrays(path: Path) -> Arrays:
    """The arrays of a file, by name and in its order."""
    if path.suffix not in READERS:
        raise ModgrokError(f"A network is read from a .safetensors, .npz, .pt or .pth file, not from {path.name}.")
    return READERS[path.suffix](path)


def as_array(given: Any, name: str) -> np.ndarray:
    """Weights of NumPy, JAX or PyTorch on NumPy, in single or double precision."""
    if hasattr(given, "detach"):
        given = given.detach().cpu()
        given = given.float() if given.element_size() == 2 else given
    try:
        found = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise ModgrokError(f"{name} is a dense array of NumPy, JAX or PyTorch: {str(error).rstrip('.')}.") from error
    if found.dtype.name in ("float16", "bfloat16"):
        found = found.astype(np.float32)
    if found.dtype.kind not in "fc":
        raise ModgrokError(f"{name} holds real or complex numbers, not {found.dtype}.")
    if not np.isfinite(found).all():
        raise ModgrokError(f"{name} holds finite numbers, and this one has infinities or NaN.")
    return found


def _safetensors(path: Path) -> Arrays:
    return dict(read_tensors(path).tensors)


def _npz(path: Path) -> Arrays:
    content = read_file(path)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as found:
            return dict(found)
    except Exception as error:
        raise ModgrokError(f"{path} is not a file of arrays that numpy.savez wrote.") from error


def _state_dict(path: Path) -> Arrays:
    """The tensors of a state dict, or of the one state dict in a checkpoint."""
    content = read_file(path)
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ModgrokError(f"{path} is read with PyTorch, which is not installed; save it as .safetensors.") from error
    refusal = f"{path} is no state dict of PyTorch; write one with torch.save(model.state_dict(), …)."
    try:
        with warnings.catch_warnings(action="ignore"):
            found = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:
        raise ModgrokError(refusal) from error
    if not isinstance(found, Mapping):
        raise ModgrokError(refusal)
    inside = [one for one in found.values() if isinstance(one, Mapping)]
    dicts = [tensors for one in (found, *inside) if (tensors := _tensors(one))]
    if len(dicts) != 1:
        raise ModgrokError(f"{refusal} This file holds {len(dicts)}.")
    return {name: as_array(tensor, name) for name, tensor in dicts[0].items() if tensor.is_floating_point()}


def _tensors(given: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): value for name, value in given.items() if hasattr(value, "is_floating_point")}


READERS: dict[str, Callable[[Path], Arrays]] = {
    ".safetensors": _safetensors,
    ".npz": _npz,
    ".pt": _state_dict,
    ".pth": _state_dict,
}
