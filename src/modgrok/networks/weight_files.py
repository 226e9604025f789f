"""Weights in files of other programs as named arrays: safetensors, NumPy's .npz, PyTorch's state dicts.

Nothing in a file is executed: no reader unpickles anything but arrays. Nothing is read that unpacks to more than
`MOST_BYTES`.
"""

import io
import math
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.networks.tensors import read_tensors
from modgrok.sealed import read_file
from modgrok.text import size

Arrays = dict[str, np.ndarray]
BUFFERS = ("mask", "IGNORE")
"""Last words of the names of tensors that hold no weights."""
MOST_BYTES = 1 << 32
"""Of all arrays of a file together."""


def saved_by_modgrok(path: Path) -> bool:
    """Whether a file says of itself what network it holds."""
    _check_file(path)
    return path.suffix == ".safetensors" and "modgrok" in read_tensors(path).metadata


def read_arrays(path: Path) -> Arrays:
    """The arrays of a file, by name and in its order."""
    if path.suffix not in READERS:
        raise ModgrokError(f"A network is read from a .safetensors, .npz, .pt or .pth file, not {path.name}.")
    _check_file(path)
    arrays = READERS[path.suffix](path)
    for name, array in arrays.items():
        if isinstance(array, np.ndarray) and array.dtype.kind not in "biufc":
            raise ModgrokError(f"{name} of {path} must hold numbers, not {array.dtype}.")
    return state_dict_arrays(arrays)


def state_dict_arrays(given: Mapping[str, Any]) -> Arrays:
    """The weights of a state dict; masks, counters and other buffers are left out."""
    named = {str(name): one for name, one in given.items() if str(name).split(".")[-1] not in BUFFERS}
    return {name: as_array(one, name) for name, one in named.items() if not _counts(one)}


def _counts(given: Any) -> bool:
    """Whether a tensor of NumPy or PyTorch holds whole numbers or truth values."""
    if hasattr(given, "is_floating_point"):
        return not given.is_floating_point()
    return isinstance(given, np.ndarray) and given.dtype.kind in "biu"


def as_array(given: Any, name: str) -> np.ndarray:
    """A copy of weights of NumPy, JAX or PyTorch on NumPy, in single or double precision and this machine's order."""
    try:
        _check_size(given, name)
        found = np.asarray(_on_host(given))
    except (TypeError, ValueError, RuntimeError, MemoryError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise ModgrokError(f"{name} must be a dense array of NumPy, JAX or PyTorch: {reason}.") from error
    if found.dtype.name in ("float16", "bfloat16"):
        found = found.astype(np.float32)
    if found.dtype.kind not in "fc":
        raise ModgrokError(f"{name} must hold real or complex floating-point numbers, not {found.dtype}; convert it.")
    double = np.float64 if found.dtype.kind == "f" else np.complex128
    found = found.astype(double if found.itemsize > np.dtype(double).itemsize else found.dtype.newbyteorder("="))
    if not np.isfinite(found).all():
        raise ModgrokError(f"{name} must be finite, but it has infinities or NaN.")
    return found


def _on_host(given: Any) -> Any:
    """A tensor of PyTorch as NumPy can take it: with its numbers, without lazy signs and conjugates."""
    if not hasattr(given, "detach"):
        return given
    if getattr(given, "is_meta", False):
        raise ValueError("it is on PyTorch's meta device, where tensors have a shape and no numbers")
    given = given.detach().cpu()
    for resolve in ("resolve_conj", "resolve_neg"):
        given = getattr(given, resolve)() if hasattr(given, resolve) else given
    return given.float() if given.element_size() == 2 else given


def _check_size(given: Any, name: str) -> None:
    """An expanded tensor, or a broadcast array, may have a shape that its memory is far too small for."""
    if hasattr(given, "shape") and math.prod(given.shape) > MOST_BYTES // 4:
        raise _too_large(name, 4 * math.prod(given.shape))


def _too_large(what: str, found: int) -> ModgrokError:
    return ModgrokError(f"{what} takes {size(found)}; a network may take at most {size(MOST_BYTES)}.")


def _check_file(path: Path) -> None:
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        raise _too_large(str(path), path.stat().st_size)


def _check_unpacked(content: bytes, path: Path) -> None:
    """A few bytes of a compressed file can stand for any number of them."""
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            total = sum(part.file_size for part in archive.infolist())
        if total > MOST_BYTES:
            raise _too_large(f"{path}, unpacked,", total)


def _safetensors(path: Path) -> Arrays:
    return dict(read_tensors(path).tensors)


def _npz(path: Path) -> Arrays:
    content = read_file(path)
    try:
        _check_unpacked(content, path)
        with np.load(io.BytesIO(content), allow_pickle=False) as found:
            return dict(found)
    except ModgrokError:
        raise
    except (Exception, MemoryError) as error:
        raise ModgrokError(f"{path} is not a file of arrays that numpy.savez wrote.") from error


def _state_dict(path: Path) -> Arrays:
    """The tensors of a state dict, or of the one state dict in a checkpoint."""
    content = read_file(path)
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ModgrokError(f"{path} is read with PyTorch, which is not installed; save it as .safetensors.") from error
    refusal = f"{path} is not a state dict of PyTorch; write one with torch.save(model.state_dict(), …)."
    try:
        _check_unpacked(content, path)
        with warnings.catch_warnings(action="ignore"):
            found = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except ModgrokError:
        raise
    except Exception as error:
        raise ModgrokError(refusal) from error
    if not isinstance(found, Mapping):
        raise ModgrokError(refusal)
    inside = [one for one in found.values() if isinstance(one, Mapping)]
    dicts = [tensors for one in (found, *inside) if (tensors := _tensors(one))]
    if len(dicts) != 1:
        raise ModgrokError(f"{refusal} This file holds {len(dicts)}.")
    return {name: one for name, one in dicts[0].items() if one.is_floating_point()}


def _tensors(given: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): value for name, value in given.items() if hasattr(value, "is_floating_point")}


READERS: dict[str, Callable[[Path], Arrays]] = {
    ".safetensors": _safetensors,
    ".npz": _npz,
    ".pt": _state_dict,
    ".pth": _state_dict,
}
