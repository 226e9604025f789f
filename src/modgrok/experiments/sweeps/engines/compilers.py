"""Programs compiled ahead, in processes of their own, into the cache on disk.

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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeAlias

from modgrok.experiments.planner import Batch, Planned
from modgrok.training.data import Room
from modgrok.training.program import Program

MOST_COMPILERS = 6
"""Programs that are compiled at the same time."""
WORTH_BATCHES = 3
"""With fewer batches to come, starting a process takes as long as compiling here."""

SWITCH_SECONDS = 5e-4
"""How long a thread that traces keeps the interpreter from one that trains."""

Wait = Callable[[Batch], None]
Process: TypeAlias = "subprocess.Popen[bytes]"


@contextlib.contextmanager
def compiling_ahead(batches: Sequence[Batch]) -> Iterator[Wait]:
    """Compiles later batches on idle cores while earlier ones train on a GPU. What is yielded is to be called before
    each batch: it waits for what is being compiled, takes back what is not yet, and lets the next batch be traced here
    meanwhile. What fails here fails again, and is told, in its training."""
    import jax

    from modgrok.experiments.batch_training import precompile
    from modgrok.training.compilation_cache import enable_cache
    from modgrok.training.devices import cores

    devices = tuple(jax.local_devices())
    later = {_shape(batch): batch for batch in batches[1:] if _shape(batch) != _shape(batches[0])}
    workers = min(MOST_COMPILERS, cores() // 2, len(later))
    if devices[0].platform == "cpu" or len(later) < WORTH_BATCHES or workers < 2 or enable_cache() is None:
        yield lambda batch: None
        return
    own, started = threading.local(), list[Process]()

    def start() -> None:
        own.process = start_compiler()
        started.append(own.process)

    def trace(shape: Any, batch: Batch) -> None:
        wait([compiling[shape]])
        precompile(*_job(batch), devices)

    pool, tracer = ThreadPoolExecutor(workers, initializer=start), ThreadPoolExecutor(1)
    compiling = {shape: pool.submit(lambda job: ask(own.process, job), _job(one)) for shape, one in later.items()}
    tracing: dict[Any, Future[None]] = {}

    def ready(batch: Batch) -> None:
        shape = _shape(batch)
        if shape in tracing:
            wait([tracing[shape]])
        elif shape in compiling and not compiling[shape].cancel():
            wait([compiling[shape]])
        later.pop(shape, None)
        following = next(iter(later), None)
        if following is not None and following not in tracing:
            tracing[following] = tracer.submit(trace, following, later[following])

    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield ready
    finally:
        sys.setswitchinterval(before)
        for process in started:
            process.kill()
        for threads in (pool, tracer):
            threads.shutdown(cancel_futures=True)
        for process in started:
            with contextlib.suppress(OSError), process:
                pass


def start_compiler() -> Process:
    """A process that waits for jobs; it takes of a GPU's memory only what it needs, and no signals of the terminal."""
    return subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
        start_new_session=True,
    )


def ask(process: Process, job: tuple[Any, ...]) -> None:
    """Returns when the job is done, or cannot be."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError, pickle.PicklingError, AttributeError, TypeError):
        content = pickle.dumps(job)
        process.stdin.write(content)
        process.stdin.flush()
        process.stdout.readline()


def _shape(batch: Batch) -> Any:
    return batch.program, batch.room, len(batch.members)


def _job(batch: Batch) -> tuple[Program, Room, Planned, int]:
    return batch.program, batch.room, batch.members[0], len(batch.members)


def main() -> None:
    """Compiles until the input ends."""
    import jax

    from modgrok.experiments.batch_training import precompile

    devices = tuple(jax.local_devices())
    while True:
        try:
            program, room, first, count = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        with contextlib.suppress(Exception):
            precompile(program, room, first, count, devices)
        print("done", flush=True)


if __name__ == "__main__":
    main()
