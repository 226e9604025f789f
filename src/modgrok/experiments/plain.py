"""Settings in the type they are declared with: 1, 1.0 and a NumPy number are one setting, with one hash."""

import dataclasses
import operator
import typing
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, get_args, get_origin

from modgrok.errors import ModgrokError
from modgrok.text import abridged


def plain(field: dataclasses.Field[Any], value: Any) -> Any:
    """The value as the plain Python type of its field; an error that names the field where it has none.

    Texts for a field that allows certain words are left as they are, right or wrong.
    """
    kinds, words_allowed = _kinds(typing.cast(Any, field.type))
    if (value is None and type(None) in kinds) or (isinstance(value, str) and words_allowed):
        return value
    for kind, name, convert in _KINDS:
        if kind in kinds:
            try:
                return convert(value)
            except (TypeError, ValueError, OverflowError):
                raise ModgrokError(f"{field.name} is {name}, not {abridged(value)}.") from None
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    raise ModgrokError(f"{field.name} is one of {', '.join(words)}, not {abridged(value)}.")


@cache
def _kinds(declared: Any) -> tuple[tuple[Any, ...], bool]:
    """The types that a declaration allows, and whether it allows certain words."""
    origin = get_origin(declared)
    kinds = (tuple,) if origin is tuple else (declared,) if origin in (None, Literal) else get_args(declared)
    return kinds, any(get_origin(kind) is Literal for kind in kinds)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _switch(value: Any) -> bool:
    if value not in (False, True):
        raise ValueError
    return bool(value)


def _whole(value: Any) -> int:
    return int(operator.index(value))


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(part, str) for part in value):
        raise TypeError
    return tuple(value)


_KINDS: tuple[tuple[Any, str, Callable[[Any], Any]], ...] = (
    (tuple, "a list of texts", _texts),
    (str, "a text", _text),
    (bool, "true or false", _switch),
    (int, "a whole number", _whole),
    (float, "a number", float),
)
