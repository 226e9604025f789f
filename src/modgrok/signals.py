"""Signals that ask a program to end, and an end that nothing prevents.

A handler raises `KeyboardInterrupt`. Python drops that where it cannot be raised (in `__del__`, in callbacks), and
libraries turn it into errors of their own; therefore the program ends a few seconds later in any case. And while XLA's
threads compile, Python cannot be taken down in order, so a program that was asked to end does not try.
"""

import _thread
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
PATIENCE = 4.0
"""Seconds that a program has to end by itself."""


class Received:
    """What came so far."""

    number = 0
    """The last signal; 0 before the first."""
    by_program = False
    """Whether the process is the program `modgrok`, not a user's own, which is not ours to end."""


def catch(handler: Callable[[int, Any], None]) -> dict[int, Any]:
    """Calls a handler for all four signals but those that the program was started to ignore (nohup); returns what was
    done about them before."""
    caught = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in caught}


def restore(before: dict[int, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)


def interrupt(number: int, frame: Any = None) -> None:
    """The handler of a program that has nothing to store. A server that ends in its own way on SIGTERM is asked so."""
    if signal.getsignal(signal.SIGTERM) not in (interrupt, signal.SIG_IGN):
        return signal.raise_signal(signal.SIGTERM)
    Received.number = number
    end_unless(lambda: False)
    raise KeyboardInterrupt


def end_at_once(number: int, frame: Any = None) -> None:
    """The handler of a program that is ending already."""
    end(128 + number, "interrupted.")


def end_unless(others_care: Callable[[], bool]) -> None:
    """Ends the program in a few seconds if it is still there and nobody else cares for its end."""
    if not Received.by_program:
        return

    def wait() -> None:
        time.sleep(PATIENCE)
        if not others_care():
            end(128 + Received.number, "interrupted.")

    _thread.start_new_thread(wait, ())  # A lock of `threading` may be held where the signal came.


def end(code: int, sentence: str = "") -> None:
    """Ends the program now, after what was printed is out."""
    with contextlib.suppress(Exception):
        if sys.stderr.isatty():
            sys.stderr.write("\x1b[?25h")  # A progress bar hides the cursor.
        if sentence:
            sys.stderr.write(f"modgrok: {sentence}\n")
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)
