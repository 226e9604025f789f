"""Signals that ask a program to end, and an end that nothing prevents.

`KeyboardInterrupt` does not do it: Python drops it where it cannot be raised (in `__del__`, in callbacks), extensions
that are being imported abort at it, and while XLA's threads compile, Python cannot be taken down in order. So a program
that has nothing to store ends in the handler itself.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Process:
    """What is known of this process."""

    is_program = False
    """Whether it is the program `modgrok`, not a user's own, which is not ours to end."""
    received = 0
    """The signal that training or a server was asked to stop by."""


def catch(handler: Callable[[int, Any], None]) -> dict[int, Any]:
    """Calls a handler for the signals that the program was not started to ignore (nohup); returns the ones before."""
    caught = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in caught}


def restore(before: dict[int, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)


def end_at_once(number: int, frame: Any = None) -> None:
    """The handler of a program that has nothing to store."""
    end(128 + number, "interrupted.")


def interrupt(number: int, frame: Any = None) -> None:
    """The handler of a program around a server, which is asked to end by SIGTERM, its own way."""
    Process.received = Process.received or number
    if signal.getsignal(signal.SIGTERM) not in (interrupt, signal.SIG_IGN):
        return signal.raise_signal(signal.SIGTERM)
    raise KeyboardInterrupt


def end(code: int, sentence: str = "") -> None:
    """Ends the process now, after what was printed is out."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # It may be in the middle of a write.
            stream.flush()
    with contextlib.suppress(Exception):
        line = f"modgrok: {sentence}\n" if sentence else ""
        # A progress bar hides the cursor.
        os.write(2, (("\r\x1b[2K\x1b[?25h" if os.isatty(2) else "") + line).encode())
    os._exit(code)
