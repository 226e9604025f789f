"""Events of training; progress bars, the lab's page and tests listen to them."""

import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

from modgrok import signals
from modgrok.experiments.result import Result
from modgrok.networks import Network

if TYPE_CHECKING:
    from modgrok.experiments.planner import RunBatch
    from modgrok.experiments.run import Run


class Observer:
    """Receives the events of training and ignores them; override the ones you need. Called on training
    threads, one at a time."""

    def planned(self, batches: "Sequence[RunBatch]") -> None:
        """Batches about to be trained."""

    def advanced(self, members: Sequence[Any], step: int, run_steps: int) -> None:
        """A batch has reached a step, `run_steps` run-steps further than before."""

    def measured(self, run: "Run", row: dict[str, Any]) -> None:
        """A run has one more point on its curves."""

    def recorded(self, runs: "Sequence[Run]", row_of: Callable[[int], dict[str, Any]]) -> None:
        """Several runs have one more point on their curves, `row_of(i)` that of `runs[i]`; tells `measured` of each, if
        that is overridden: rows of thousands of runs take long to make."""
        if type(self).measured is not Observer.measured:
            for i, run in enumerate(runs):
                self.measured(run, row_of(i))

    def kept(self, run: "Run", step: int, network: Network) -> None:
        """A run has one more snapshot."""

    def ended(self, run: "Run", result: Result) -> None:
        """A run has its result."""

    def remark(self, sentence: str) -> None:
        """A remark for the user."""

    def stop_requested(self) -> bool:
        """Whether training should store what it has and stop."""
        return False


class Speaking(Observer):
    """Prints remarks to stderr."""

    def remark(self, sentence: str) -> None:
        print(sentence, file=sys.stderr)


class Stopping(Speaking):
    """Stops training between two steps, with everything stored. Inside the context, the first signal requests that. A
    second one, or one before training began, when there is nothing to store and a program may wait or compile for a
    long time, ends the program at once, or interrupts a process that is not ours. For the main thread only, which
    receives the signals."""

    def __init__(self) -> None:
        self.training = self.requested = False
        self.exit_code = 128 + signal.SIGINT
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._handlers = signals.catch(self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        signals.restore(self._handlers)

    def advanced(self, members: Sequence[Any], step: int, run_steps: int) -> None:
        self.training = True

    def stop_requested(self) -> bool:
        return self.requested

    def _handle(self, number: int, frame: Any) -> None:
        signals.Process.received = number
        self.exit_code = 128 + number
        if self.training and not self.requested:
            self.requested = True
        elif signals.Process.is_program:
            signals.end(self.exit_code, "Stopped; rerun the command to resume.")
        else:
            raise KeyboardInterrupt


class Forwarding(Observer):
    """Forwards all events to another observer, points as `recorded`; a base for wrappers."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer


def _forwarded(event: str) -> Any:
    def forward(self: Forwarding, *told: Any) -> Any:
        return getattr(self.observer, event)(*told)

    return forward


for _event in [name for name in vars(Observer) if not name.startswith("_")]:
    setattr(Forwarding, _event, _forwarded(_event))


class Shared(Forwarding):
    """Lets several threads tell one observer, one at a time. `stopping` stops them all."""

    def __init__(self, observer: Observer) -> None:
        super().__init__(observer)
        self.stopping = False
        self.lock = threading.RLock()

    def stop_requested(self) -> bool:
        return self.stopping or super().stop_requested()


def _locked(event: str) -> Any:
    def forward(self: Shared, *told: Any) -> Any:
        with self.lock:
            return getattr(self.observer, event)(*told)

    return forward


for _event in [name for name in vars(Observer) if not name.startswith("_") and name != "stop_requested"]:
    setattr(Shared, _event, _locked(_event))
