"""Named arrays as safetensors files whose bytes depend on their content alone.

The library reads them. It writes tensors and metadata in the order of a hash table, so the header is written here, in
canonical order (wide numbers first, then by name, so that all are aligned) and sealed with a digest.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, deserialize

from modgrok.errors import Damaged
from modgrok.sealed import UNSEALED, check_seal, has_digest, parse_json, read_file, seal

DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
}
_CODES = {np.dtype(name): code for code, name in DTYPES.items()}


class TensorFile(NamedTuple):
    """What a safetensors file holds."""

    tensors: dict[str, np.ndarray]
    metadata: dict[str, str]
    sealed: bool
    """Whether the file carries a digest, which then fits."""


def tensor_bytes(tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> bytearray:
    """The content of a sealed safetensors file; each tensor is copied once, into its place."""
    header: dict[str, Any] = {"__metadata__": dict(sorted((metadata | {"digest": UNSEALED}).items()))}
    order, end = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name)), 0
    for name in order:
        tensor, start = tensors[name], end
        end += tensor.nbytes
        header[name] = {"dtype": _CODES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    content = bytearray(8 + len(text) + end)
    content[: 8 + len(text)] = len(text).to_bytes(8, "little") + text
    for name in order:
        tensor, start = tensors[name], 8 + len(text) + header[name]["data_offsets"][0]
        place = np.frombuffer(content, tensor.dtype.newbyteorder("<"), tensor.size, start)
        place.reshape(tensor.shape)[...] = tensor
    return seal(content)


def read_tensors(path: Path) -> TensorFile:
    """What a safetensors file holds, if all that its header says is true; `Damaged` says what is not."""
    content, names, metadata, sealed = _read_header(path)
    try:
        found = dict(deserialize(content))  # in an order that differs from process to process
        return TensorFile({name: _tensor(name, found[name]) for name in names if name in found}, metadata, sealed)
    except (ValueError, SafetensorError) as error:
        raise _no_safetensors(path, error) from error


def read_metadata(path: Path) -> dict[str, str]:
    """What a safetensors file says of itself; none where it is not sealed. `Damaged` where its digest does not fit."""
    _, _, metadata, sealed = _read_header(path)
    return metadata if sealed else {}


def _read_header(path: Path) -> tuple[bytes, list[str], dict[str, str], bool]:
    """The content, the names of tensors in order, the metadata, and whether there is a digest, which then fits."""
    content = read_file(path)
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > len(content) - 8:
        raise Damaged(f"{path} is cut short, or no safetensors file.")
    text = content[8 : 8 + length]
    sealed = has_digest(text)
    if sealed:
        check_seal(content, path)
    try:
        header = parse_json(text)
        metadata = header.get("__metadata__", {})
        if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
            raise ValueError("its metadata are not texts")
        return content, list(header), metadata, sealed
    except (ValueError, AttributeError) as error:
        raise _no_safetensors(path, error) from error


def _no_safetensors(path: Path, error: Exception) -> Damaged:
    return Damaged(f"{path} is not a safetensors file: {str(error).rstrip('.')}.")


def _tensor(name: str, about: dict[str, Any]) -> np.ndarray:
    """BF16, which NumPy does not have, is the upper half of float32."""
    code, data = about["dtype"], about["data"]
    if code == "BF16":
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32).reshape(about["shape"])
    if code not in DTYPES:
        raise ValueError(f"{name} has the type {code}, and {', '.join(DTYPES)} and BF16 are read")
    dtype = np.dtype(DTYPES[code])
    return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype, copy=False).reshape(about["shape"])
