"""Whose batch the devices train next, where several threads train batches."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar


class Turn:
    """Around a call of the compiled program. Batches that train at the same time take turns, so that each measures its
    own speed; the one that began first goes first. Not for the main thread, which Ctrl-C may interrupt between any two
    instructions."""

    _changed = threading.Condition()
    _began, _busy = 0, False
    _training: ClassVar[set[int]] = set()
    _waiting: ClassVar[set[int]] = set()

    def __init__(self, alone: bool) -> None:
        self.alone = alone
        with self._changed:
            Turn._began += 1
            self._number = Turn._began

    @contextmanager
    def training(self) -> Iterator[None]:
        """Around all calls of a batch."""
        if not self.alone:
            self._training.add(self._number)
        try:
            yield
        finally:
            self._training.discard(self._number)

    @property
    def follows(self) -> bool:
        """Whether a batch that began before trains too."""
        return not self.alone and any(number < self._number for number in tuple(self._training))

    def __enter__(self) -> None:
        if self.alone:
            return
        with self._changed:
            self._waiting.add(self._number)
            self._changed.wait_for(lambda: not Turn._busy and self._number == min(self._waiting))
            self._waiting.remove(self._number)
            Turn._busy = True

    def __exit__(self, *error: object) -> None:
        if self.alone:
            return
        with self._changed:
            Turn._busy = False
            self._changed.notify_all()
