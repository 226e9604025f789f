"""Writes files of runs in parallel, and in the background while training continues."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

SHARE = 0.05
"""The largest share of time spent on one kind of writes; large batches write less often."""
THREADS = 8
"""Threads that write."""
MOST_PENDING = 256
"""The most writes that may be pending while training continues."""
PENDING_BYTES = 1 << 28
"""The most bytes that they hold, where that is more than one write."""


@dataclass
class Pace:
    """When to write again: every few seconds, and so rarely that writing takes at most `SHARE` of the time."""

    seconds: float
    cost: float = 0.0
    """Of the last write, in seconds; at first a guess."""
    last: float = field(default_factory=time.monotonic)

    @property
    def due(self) -> bool:
        return time.monotonic() - self.last > max(self.seconds, self.cost / SHARE)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Around a write."""
        began = time.monotonic()
        yield
        self.last = time.monotonic()
        self.cost = self.last - began


def in_parallel(write: Callable[..., Any], *values: Sequence[Any]) -> list[Any]:
    """Calls a function that waits for the disk on all values, several at a time; returns when all have ended."""
    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(write, *values))


class BackgroundWriter:
    """Writes results and snapshots while training continues, and reports each in the order in which they were begun;
    leaving the context waits for all."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(THREADS)
        self.waiting: deque[tuple[Future[Any], Callable[[Any], None]]] = deque()

    def __enter__(self) -> "BackgroundWriter":
        return self

    def __exit__(self, *error: object) -> None:
        with self.threads:
            self.wait()

    def begin(self, write: Callable[[], Any], tell: Callable[[Any], None]) -> Future[Any]:
        """Starts a write; `tell` receives what it returns."""
        written = self.threads.submit(write)
        self.waiting.append((written, tell))
        return written

    def report_finished(self) -> None:
        """Reports finished writes, and waits if too many are pending; raises the error of a failed write."""
        self._tell(MOST_PENDING)

    def make_room(self, size: int) -> None:
        """Waits until one more write of this size, in bytes, may be pending."""
        self._tell(min(MOST_PENDING, PENDING_BYTES // size))

    def wait(self) -> None:
        """Waits for all writes."""
        self._tell(0)

    def _tell(self, most: int) -> None:
        while self.waiting and (len(self.waiting) > most or self.waiting[0][0].done()):
            written, tell = self.waiting.popleft()
            tell(written.result())
