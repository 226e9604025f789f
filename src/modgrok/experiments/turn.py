"""Whose batch the devices train next, where several threads train batches."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar


class Turn:
    """Around a call of the compiled program. Batches that train at the same time take turns, so that each measures its
    own speed; short ones go first, since a long one can fill their pauses, and otherwise the one that began first. Not
    for the main thread, which Ctrl-C may interrupt between any two instructions."""

    _changed = threading.Condition()
    _began, _busy = 0, False
    _training: ClassVar[set[tuple[bool, int]]] = set()
    _waiting: ClassVar[set[tuple[bool, int]]] = set()

    def __init__(self, alone: bool, short: bool = False) -> None:
        self.alone = alone
        with self._changed:
            Turn._began += 1
            self._rank = not short, Turn._began

    @contextmanager
    def training(self) -> Iterator[None]:
        """Around all calls of a batch."""
        if not self.alone:
            self._training.add(self._rank)
        try:
            yield
        finally:
            self._training.discard(self._rank)

    @property
    def follows(self) -> bool:
        """Whether a batch that goes first trains too."""
        return not self.alone and any(rank < self._rank for rank in tuple(self._training))

    def __enter__(self) -> None:
        if self.alone:
            return
        with self._changed:
            self._waiting.add(self._rank)
            self._changed.wait_for(lambda: not Turn._busy and self._rank == min(self._waiting))
            self._waiting.remove(self._rank)
            Turn._busy = True

    def __exit__(self, *error: object) -> None:
        if self.alone:
            return
        with self._changed:
            Turn._busy = False
            self._changed.notify_all()
