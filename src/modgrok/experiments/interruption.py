"""Ctrl-C and SIGTERM as a request: training stops between two steps, where everything can be stored."""

import signal
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """While entered, the first signal sets `requested`; one that comes before `training` is set, or again, interrupts
    at once. Enter it on the main thread, which alone receives signals."""

    def __init__(self) -> None:
        self.requested = False
        self.training = False
        """Whether there is progress to store; before that a program may be waiting or compiling for long."""
        self.exit_code = 128 + signal.SIGINT
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interruption":
        self._before = {number: signal.signal(number, self._handle) for number in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.exit_code = 128 + number
        if self.requested or not self.training:
            raise KeyboardInterrupt
        self.requested = True
