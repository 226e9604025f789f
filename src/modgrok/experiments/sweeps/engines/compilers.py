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

from modgrok.experiments.planner import Batch

MOST_COMPILERS = 6
"""Programs that are compiled at the same time."""
WORTH_BATCHES = 3
"""With fewer batches to come, starting a process takes as long as compiling here."""

Wait = Callable[[Batch], None]
Process: TypeAlias = "subprocess.Popen[bytes]"


@contextlib.contextmanager
def compiling_ahead(batches: Sequence[Batch]) -> Iterator[Wait]:
    """Compiles later batches on idle cores while earlier ones train on a GPU. What is yielded waits for a batch that is
    being compiled, and takes back one that is not yet; what fails here fails again, and is told, in its training."""
    import jax

    from modgrok.training.compilation_cache import enable_cache
    from modgrok.training.devices import cores

    later = {_shape(batch): batch for batch in batches[1:] if _shape(batch) != _shape(batches[0])}
    workers = min(MOST_COMPILERS, cores() // 2, len(later))
    if jax.local_devices()[0].platform == "cpu" or len(later) < WORTH_BATCHES or workers < 2 or enable_cache() is None:
        yield lambda batch: None
        return
    own, started = threading.local(), list[Process]()

    def start() -> None:
        own.process = start_compiler()
        started.append(own.process)

    def compile_elsewhere(batch: Batch) -> None:
        ask(own.process, (batch.program, batch.room, batch.members[0], len(batch.members)))

    pool = ThreadPoolExecutor(workers, initializer=start)
    futures: dict[Any, Future[None]] = {shape: pool.submit(compile_elsewhere, one) for shape, one in later.items()}

    def ready(batch: Batch) -> None:
        if (future := futures.get(_shape(batch))) is not None and not future.cancel():
            wait([future])

    try:
        yield ready
    finally:
        for process in started:
            process.kill()
        pool.shutdown(cancel_futures=True)
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
