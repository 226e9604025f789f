"""Files of runs, written side by side and beside the training: the disk's answer to one is not waited for before the
next."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

WRITERS = 8
"""Runs whose files are written at the same time."""
UNWRITTEN = 256
"""The most of these that may be unwritten while training goes on."""


def side_by_side(write: Callable[..., Any], *values: Sequence[Any]) -> list[Any]:
    """What a function that waits for the disk returns for each, a few at a time; all have ended when this returns."""
    with ThreadPoolExecutor(WRITERS) as threads:
        return list(threads.map(write, *values))


class Writing:
    """What is written while training goes on: ends of runs, and snapshots. Each is told of, in the order in which they
    were begun, when it is there; all have been when this is left."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(WRITERS)
        self.waiting: deque[tuple[Future[Any], Callable[[Any], None]]] = deque()

    def __enter__(self) -> "Writing":
        return self

    def __exit__(self, *error: object) -> None:
        with self.threads:
            self.wait()

    def begin(self, write: Callable[[], Any], tell: Callable[[Any], None]) -> Future[Any]:
        """Has something written; what comes back is told."""
        written = self.threads.submit(write)
        self.waiting.append((written, tell))
        return written

    def tell_of_written(self) -> None:
        """Tells of what is there by now, and waits where too much is not; what could not be written is an error
        here."""
        self._tell(UNWRITTEN)

    def wait(self) -> None:
        """Returns when all is there."""
        self._tell(0)

    def _tell(self, most: int) -> None:
        while self.waiting and (len(self.waiting) > most or self.waiting[0][0].done()):
            written, tell = self.waiting.popleft()
            tell(written.result())
