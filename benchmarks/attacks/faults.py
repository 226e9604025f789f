"""A crash, or a full disk, at every single write of a run's life; then the same command again.

A life: training is stopped before its first step, goes on, is stopped half way, and goes on to the end. After each
fault the run must not be called damaged, and its end must be, byte for byte, that of a run without faults.
"""

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attack import contents, main, train

from modgrok import disk
from modgrok.errors import ModgrokError
from modgrok.experiments import Store
from modgrok.experiments.store import check_intact

SESSIONS = (1, 4, None)
"""Calls of the compiled program before training is stopped."""
WRITES = ("open", "write", "fsync", "replace", "unlink", "truncate", "ftruncate", "makedirs")


class Crash(BaseException):
    """The process has ended: nothing after it happens."""


class FaultyOS:
    """The module `os` as `modgrok.disk` sees it, whose call number `at` that changes the disk fails."""

    def __init__(self, at: int | None = None, fault: str = "crash") -> None:
        self.at, self.fault, self.calls = at, fault, 0

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self._counted(name, real) if name in WRITES else real

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            number, self.calls = self.calls, self.calls + 1
            if self.at is None or number < self.at or (self.fault == "full" and number > self.at):
                return real(*arguments, **options)
            if name == "write" and number == self.at:
                real(arguments[0], arguments[1][: len(arguments[1]) // 2])
            if self.fault == "crash":
                raise Crash
            if name in ("unlink", "truncate", "ftruncate"):
                return real(*arguments, **options)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        return call


def live(store: Store, system: FaultyOS) -> None:
    """One life, up to the first fault."""
    disk.os = system  # type: ignore[assignment]
    try:
        for calls in SESSIONS:
            train(store, calls)
    except (Crash, ModgrokError):
        pass
    finally:
        disk.os = os  # type: ignore[assignment]


def attack(cases: int) -> dict[str, Any]:
    """Faults at `cases` writes, spread evenly over all of them, of both kinds."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        counter, whole = FaultyOS(), Store(place / "whole")
        live(whole, counter)
        reference = contents(train(whole)[0])
        faults = [(at, fault) for at in range(counter.calls) for fault in ("crash", "full")]
        chosen = [faults[i * len(faults) // min(cases, len(faults))] for i in range(min(cases, len(faults)))]
        failures = []
        for at, fault in chosen:
            store = Store(place / f"{fault} {at}")
            live(store, FaultyOS(at, fault))
            failures += [f"{fault} at write {at}: {reason}" for reason in _judge(store, reference)]
    return {"cases": len(chosen), "writes_of_a_life": counter.calls, "failures": failures}


def _judge(store: Store, reference: dict[str, bytes]) -> list[str]:
    """What is wrong after a fault: with the run as it was left, then with its end."""
    found = [f"{run.id} counts as remains" for run in store.remains()]
    for run in store:
        try:
            check_intact(run, snapshots=True)
        except ModgrokError as error:
            found.append(str(error))
    run, remarks = train(store)
    found += remarks
    ended = contents(run)
    found += [f"{name} differs" for name in sorted(ended.keys() | reference) if ended.get(name) != reference.get(name)]
    return found


if __name__ == "__main__":
    main("a crash or a full disk at every write of a run's life, then the same command", attack, 10_000)
