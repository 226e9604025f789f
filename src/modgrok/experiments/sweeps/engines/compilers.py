"""Programs compiled ahead, in processes of their own, into the cache on disk: on a GPU, where a reproduction of many
batches took 219 s with them and 276 s without (measured once). On a CPU nothing is compiled ahead.

Tracing a program holds Python's interpreter, so threads would take it from the training that goes on beside them. As a
program this module compiles what it reads, one pickled job after another, and answers each with a line; it ends with
its input.
"""

import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeAlias

from modgrok.experiments.planner import PlannedRun, RunBatch
from modgrok.training.data import PaddedShape
from modgrok.training.program import Program

MOST_COMPILERS = 6
"""Programs compiled in parallel."""
WORTH_BATCHES = 3
"""With fewer batches left, starting a process takes as long as compiling here."""

SWITCH_SECONDS = 5e-4
"""Switch interval of the interpreter."""

Wait = Callable[[RunBatch], None]
Process: TypeAlias = "subprocess.Popen[bytes]"


@contextlib.contextmanager
def compiling_ahead(batches: Sequence[RunBatch]) -> Iterator[Wait]:
    """Compiles later batches on idle cores while earlier ones train on a GPU. Call what is yielded before each batch:
    it waits if that batch is being compiled, withdraws it if compilation has not started, and begins to trace the next
    one here. Failures are ignored here; they occur again, and are reported, in training."""
    import jax

    from modgrok.experiments.placement import precompile
    from modgrok.training.compilation_cache import enable_cache
    from modgrok.training.devices import cores

    devices = tuple(jax.local_devices())
    later = {_shape(batch): batch for batch in batches[1:] if _shape(batch) != _shape(batches[0])}
    workers = min(MOST_COMPILERS, cores() // 2, len(later))
    if devices[0].platform == "cpu" or len(later) < WORTH_BATCHES or workers < 2 or enable_cache() is None:
        yield lambda batch: None
        return
    tracing: dict[Any, Future[None]] = {}
    with switching_often(), ThreadPoolExecutor(1) as tracer, Compilers(later, workers) as compilers:

        def trace(shape: Any, batch: RunBatch) -> None:
            compilers.settle(shape)
            if not compilers.closed:
                precompile(*_job(batch), devices)

        def ready(batch: RunBatch) -> None:
            shape = _shape(batch)
            if shape in tracing:
                wait([tracing[shape]])
            else:
                compilers.settle(shape)
            later.pop(shape, None)
            following = next(iter(later), None)
            if following is not None and following not in tracing:
                tracing[following] = tracer.submit(trace, following, later[following])

        yield ready


@contextlib.contextmanager
def switching_often() -> Iterator[None]:
    """Threads take turns ten times as often as usual, so that none holds up another that feeds the device."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class Compilers:
    """Processes that compile batches, each of which ends, and releases its GPU memory, when nothing is left to do."""

    def __init__(self, batches: dict[Any, RunBatch], workers: int) -> None:
        self.jobs = {shape: _job(batch) for shape, batch in batches.items()}
        self.waiting = deque(self.jobs)
        self.compiled = {shape: threading.Event() for shape in self.jobs}
        self.processes: list[Process] = []
        self.closed = False
        self.threads = [threading.Thread(target=self._compile) for _ in range(workers)]

    def __enter__(self) -> "Compilers":
        for thread in self.threads:
            thread.start()
        return self

    def _compile(self) -> None:
        with contextlib.suppress(OSError), start_compiler() as process:  # which ends with its input, closed on leaving
            self.processes.append(process)
            while True:
                try:
                    shape = self.waiting.popleft()
                except IndexError:
                    return
                ask(process, self.jobs[shape])
                self.compiled[shape].set()

    def settle(self, shape: Any) -> None:
        """Waits if it is being compiled; withdraws it from the queue otherwise."""
        try:
            self.waiting.remove(shape)
        except ValueError:
            if shape in self.compiled:
                self.compiled[shape].wait()

    def __exit__(self, *error: object) -> None:
        self.closed = True
        self.waiting.clear()
        while any(thread.is_alive() for thread in self.threads):  # One may be about to start its process.
            for process in self.processes:
                process.kill()
            for thread in self.threads:
                thread.join(0.05)
        for event in self.compiled.values():
            event.set()


def start_compiler() -> Process:
    """A process that waits for jobs, without preallocated GPU memory and detached from the terminal's signals."""
    return subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
        start_new_session=True,
    )


def ask(process: Process, job: tuple[Any, ...]) -> None:
    """Returns when the job is done or has failed."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError, pickle.PicklingError, AttributeError, TypeError):
        content = pickle.dumps(job)
        process.stdin.write(content)
        process.stdin.flush()
        process.stdout.readline()


def _shape(batch: RunBatch) -> Any:
    return batch.program, batch.padded_shape, len(batch.members)


def _job(batch: RunBatch) -> tuple[Program, PaddedShape, PlannedRun, int]:
    return batch.program, batch.padded_shape, batch.members[0], len(batch.members)


def main() -> None:
    """Compiles jobs from stdin until it ends."""
    import jax

    from modgrok.experiments.placement import precompile

    devices = tuple(jax.local_devices())
    while True:
        try:
            program, padded, first, count = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        with contextlib.suppress(Exception):
            precompile(program, padded, first, count, devices)
        print("done", flush=True)


if __name__ == "__main__":
    main()
