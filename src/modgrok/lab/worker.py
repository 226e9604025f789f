"""The process that trains, so that the page never waits for it: requests on stdin, events on stdout, one JSON a line.

Requests are `{"train": settings}` and `{"stop": true}`. The end of stdin, however it comes, stops training cleanly and
ends the process.
"""

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Any

from modgrok.errors import Interrupted, ModgrokError
from modgrok.experiments import Experiment, Observer, Store
from modgrok.experiments.result import Result
from modgrok.experiments.train import train_stored
from modgrok.networks import Network
from modgrok.training.devices import use_all_cores

PROGRESS_SECONDS = 0.25
NICENESS = 5
"""Training yields to the page: a frame that is asked for comes first."""


class Reports(Observer):
    """Writes what it hears as events, and stops training when it was asked to."""

    def __init__(self, write: Any) -> None:
        self.write = write
        self.stop = threading.Event()
        self._since = time.monotonic()
        self._steps = 0

    def advanced(self, members: Sequence[Any], step: int, run_steps: int) -> None:
        self._steps += run_steps
        now = time.monotonic()
        if now - self._since > PROGRESS_SECONDS:
            rate = self._steps / (now - self._since)
            self.write({"event": "progress", "run": members[0].run.id, "step": step, "rate": rate})
            self._since, self._steps = now, 0

    def measured(self, run: Any, row: dict[str, Any]) -> None:
        self.write({"event": "row", "run": run.id, "row": row})

    def kept(self, run: Any, step: int, network: Network) -> None:
        self.write({"event": "kept", "run": run.id, "step": step})

    def ended(self, run: Any, result: Result) -> None:
        self.write({"event": "ended", "run": run.id, "result": result.as_dict()})

    def remark(self, sentence: str) -> None:
        self.write({"event": "remark", "message": sentence})

    def stop_requested(self) -> bool:
        return self.stop.is_set()


def main() -> None:
    """Trains one experiment after another until stdin ends."""
    pipe = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # What libraries print must not be read as events.

    def write(event: dict[str, Any]) -> None:
        try:
            pipe.write(json.dumps(event, allow_nan=False) + "\n")
        except (BrokenPipeError, ValueError):
            reports.stop.set()

    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    reports = Reports(write)
    requests: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
    threading.Thread(target=_listen, args=(requests, reports.stop), daemon=True).start()
    store = Store(sys.argv[1])
    use_all_cores()
    write({"event": "ready"})
    while (request := requests.get()) is not None:
        run = request["run"]
        try:
            train_stored([Experiment.from_dict(request["train"])], store, reports)
            write({"event": "idle", "run": run})
        except Interrupted as interruption:
            write({"event": "paused", "run": run, "message": str(interruption)})
        except ModgrokError as error:
            write({"event": "failed", "run": run, "message": str(error)})
        except Exception as error:
            write({"event": "failed", "run": run, "message": f"Training failed: {type(error).__name__}: {error}"})


def _listen(requests: "SimpleQueue[dict[str, Any] | None]", stop: threading.Event) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "stop" in request:
            stop.set()
        else:
            stop.clear()
            requests.put(request)
    stop.set()
    requests.put(None)


if __name__ == "__main__":
    main()
