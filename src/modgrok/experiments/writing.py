"""Files of many runs, written side by side: the disk's answer to one is not waited for before the next."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from modgrok.experiments.result import Result
from modgrok.experiments.run import Run

WRITERS = 8
"""Runs whose files are written at the same time."""
UNWRITTEN = 256
"""The most runs that have ended and whose files are not yet written."""


def side_by_side(write: Callable[..., Any], *values: Sequence[Any]) -> list[Any]:
    """What a function that waits for the disk returns for each, a few at a time; all have ended when this returns."""
    with ThreadPoolExecutor(WRITERS) as threads:
        return list(threads.map(write, *values))


class Ending:
    """Runs that have ended and are being written while the others train on. Each is told of, in the order in which they
    ended, when its files are there; all have been when this is left."""

    def __init__(self, tell: Callable[[Run, Result], None]) -> None:
        self.tell = tell
        self.threads = ThreadPoolExecutor(WRITERS)
        self.waiting: deque[tuple[Run, Future[Result]]] = deque()

    def __enter__(self) -> "Ending":
        return self

    def __exit__(self, *error: object) -> None:
        with self.threads:
            self._tell(0)

    def write(self, run: Run, write: Callable[[], Result]) -> None:
        """Begins to write a run's end; what comes back is its result."""
        self.waiting.append((run, self.threads.submit(write)))

    def tell_of_written(self) -> None:
        """Tells of those that are there by now, and waits where too many are not; what could not be written is an error
        here."""
        self._tell(UNWRITTEN)

    def _tell(self, most: int) -> None:
        while self.waiting and (len(self.waiting) > most or self.waiting[0][1].done()):
            run, written = self.waiting.popleft()
            self.tell(run, written.result())
