"""Stored JSON through one checked reader: an object, sealed, and of the types that a dataclass declares."""

import dataclasses
import json
import math
import types
from collections.abc import Callable
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from modgrok.disk import write_bytes
from modgrok.errors import Damaged
from modgrok.sealed import UNSEALED, check_seal, parse_json, read_file, seal
from modgrok.text import abridged

Value = TypeVar("Value")

LARGEST = 2**63
"""No stored whole number reaches it."""


def write_sealed_json(path: Path, value: dict[str, Any]) -> None:
    """Writes an object with the digest of its file as its first entry."""
    write_bytes(path, seal(f"{_indented({'digest': UNSEALED} | value)}\n".encode()))


def _indented(value: Any, margin: str = "\n") -> str:
    """`json.dumps(value, indent=1)`, which takes Python long: here all numbers and texts in a row are one call."""
    inside = margin + " "
    encode, between = _encoder(inside), "," + inside
    if isinstance(value, dict) and value:
        entries = []
        for nested, some in groupby(value.items(), lambda item: isinstance(item[1], dict | list | tuple)):
            if nested:
                entries += [encode({name: None})[1:-5] + _indented(entry, inside) for name, entry in some]
            else:
                entries.append(encode(dict(some))[1:-1])
        return "{" + inside + between.join(entries) + margin + "}"
    if isinstance(value, list | tuple) and value:
        return "[" + inside + between.join(_indented(entry, inside) for entry in value) + margin + "]"
    return encode(value)


@cache
def _encoder(separator: str) -> Callable[[Any], str]:
    return json.JSONEncoder(allow_nan=False, separators=("," + separator, ": ")).encode


def read_sealed_json(path: Path) -> dict[str, Any]:
    """What `write_sealed_json` wrote; `Damaged` for anything else."""
    content = read_file(path)
    check_seal(content, path)
    try:
        value = parse_json(content)
    except ValueError as error:
        raise Damaged(f"{path} cannot be read: {error}.") from error
    if not isinstance(value, dict):
        raise Damaged(f"{path} does not hold a JSON object.")
    value.pop("digest", None)
    return value


def build(kind: type[Value], value: dict[str, Any], path: Path) -> Value:
    """The dataclass whose fields are the entries of an object read from a file."""
    hints = _hints(kind)  # type: ignore[arg-type]
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    needed = {name for name, field in fields.items() if field.default is field.default_factory is dataclasses.MISSING}
    if missing := sorted(needed - value.keys()):
        raise Damaged(f"{path} has no {missing[0]!r}.")
    if unknown := sorted(value.keys() - fields.keys()):
        raise Damaged(f"{path} has an entry {unknown[0]!r}, which does not belong there.")
    for name, entry in value.items():
        if not fits(entry, hints[name]):
            raise Damaged(f"{path} has {abridged(entry)} as its {name!r}.")
    return kind(**value)


_hints = cache(get_type_hints)


def finite(x: Any) -> float | None:
    """A number as JSON has it: None where it is not finite."""
    return float(x) if math.isfinite(x) else None


def fits(value: Any, hint: Any) -> bool:
    """Whether a JSON value is of a declared type; numbers are finite, and whole ones below 2^63."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return value in parts
    if origin is dict:
        return isinstance(value, dict) and all(fits(k, parts[0]) and fits(v, parts[1]) for k, v in value.items())
    if origin is list:
        return isinstance(value, list) and all(fits(entry, parts[0]) for entry in value)
    if hint is int:
        return type(value) is int and abs(value) < LARGEST
    if hint is float:
        return (type(value) is float and math.isfinite(value)) or fits(value, int)
    return type(value) is hint or (value is None and hint is types.NoneType)
