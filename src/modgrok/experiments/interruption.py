"""Turns signals into a request to stop, so that training ends between two steps with everything stored."""

import signal
from types import FrameType, TracebackType
from typing import Any

from modgrok import signals


class Interruption:
    """Inside the context, the first signal sets `requested`. A second one, or one before `training` is set, ends the
    program at once, or interrupts a process that is not ours. For the main thread only, which receives the signals."""

    def __init__(self) -> None:
        self.requested = False
        self.training = False
        """Whether there is progress to store; before that, a program may wait or compile for a long time."""
        self.exit_code = 128 + signal.SIGINT
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interruption":
        self._before = signals.catch(self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signals.restore(self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        signals.Process.received = number
        self.exit_code = 128 + number
        if self.training and not self.requested:
            self.requested = True
        elif signals.Process.is_program:
            signals.end(self.exit_code, "Stopped at once; the same command goes on from what is stored.")
        else:
            raise KeyboardInterrupt
