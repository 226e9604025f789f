"""Named arrays as safetensors files whose bytes depend on their content alone.

The library orders tensors and metadata as a hash table does. Here the header is written in canonical order (wide
numbers first, then by name, so that all are aligned) and sealed with a digest; any safetensors reader reads it.
"""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

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


def tensor_bytes(tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> bytes:
    """The content of a sealed safetensors file."""
    header: dict[str, Any] = {"__metadata__": dict(sorted((metadata | {"digest": UNSEALED}).items()))}
    parts, end = [], 0
    for name in sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name)):
        tensor = tensors[name]
        data = tensor.astype(tensor.dtype.newbyteorder("<"), copy=False).tobytes()
        header[name] = {
            "dtype": _CODES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [end, end + len(data)],
        }
        parts.append(data)
        end += len(data)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return seal(b"".join((len(text).to_bytes(8, "little"), text, *parts)))


def read_tensors(path: Path) -> TensorFile:
    """What a safetensors file holds, if all that its header says is true; `Damaged` says what is not."""
    content = read_file(path)
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > len(content) - 8:
        raise Damaged(f"{path} is cut short, or no safetensors file.")
    text, data = content[8 : 8 + length], content[8 + length :]
    sealed = has_digest(text)
    if sealed:
        check_seal(content, path)
    try:
        header = parse_json(text)
        metadata = header.pop("__metadata__", {})
        if not all(isinstance(value, str) for value in metadata.values()):
            raise ValueError("its metadata are not texts")
        return TensorFile({name: _tensor(about, data) for name, about in header.items()}, metadata, sealed)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Damaged(f"{path} is not a safetensors file: {error}.") from error


def _tensor(about: dict[str, Any], data: bytes) -> np.ndarray:
    dtype, shape, (start, stop) = np.dtype(DTYPES[about["dtype"]]), about["shape"], about["data_offsets"]
    whole = [*shape, start, stop]
    if not all(type(number) is int and number >= 0 for number in whole) or len(shape) > 32:
        raise ValueError("a tensor's shape or place is not made of whole numbers")
    if start > stop or stop > len(data) or stop - start != math.prod(shape) * dtype.itemsize:
        raise ValueError("a tensor's shape does not fit its place in the file")
    return np.frombuffer(data, dtype.newbyteorder("<"), math.prod(shape), start).astype(dtype).reshape(shape)
