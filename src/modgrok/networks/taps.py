"""Inner values of a forward pass, to be read or replaced on the way.

An architecture names them in `apply`: `z = tap("hidden", z)`. Without listeners that is `z` itself, so training
compiles to the same program. `Network.activations` listens, `Network.with_patch` replaces.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from modgrok.arrays import namespace
from modgrok.errors import ModgrokError
from modgrok.text import abridged

Listener = Callable[[str, Any], Any]
"""Hears the name of a value and the value, rows first, and returns what the pass goes on with."""
_LISTENERS: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())


def tap(name: str, value: Any) -> Any:
    """The value, or what listeners put in its place; one row for each input."""
    for listener in _LISTENERS.get():
        value = listener(name, value)
    return value


def tapped() -> bool:
    """Whether anybody listens, so that values are wanted for every input and position."""
    return bool(_LISTENERS.get())


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Inside, forward passes tell this listener first, and then those outside."""
    before = _LISTENERS.set((listener, *_LISTENERS.get()))
    try:
        yield
    finally:
        _LISTENERS.reset(before)


def replaced(patches: Mapping[str, Any], name: str, value: Any) -> Any:
    """What a listener with these patches returns: the result of a function of the value, or numbers of its shape."""
    if name not in patches:
        return value
    patch, xp = patches[name], namespace(value)
    new = patch(value) if callable(patch) else patch
    try:
        if new is None:
            raise TypeError
        return xp.broadcast_to(xp.asarray(new, value.dtype), value.shape)
    except (ValueError, TypeError):
        given = f"has {np.shape(new)}" if np.shape(new) else f"is {abridged(new)}"
        raise ModgrokError(
            f"The patch of {name} must be numbers that fit the shape {tuple(value.shape)}, rows first, and {given}."
        ) from None
