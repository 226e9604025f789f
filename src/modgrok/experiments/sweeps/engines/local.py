"""Batches train on this process's devices, each spread over all of them, one after another; on a single GPU two at a
time, of which Python prepares, records and writes one while the device takes steps of the other."""

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace

from modgrok.errors import Interrupted, ModgrokError
from modgrok.experiments.cost import Speed
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer, Shared
from modgrok.experiments.planner import Failure, RunBatch, for_two_at_once, out_of_memory, plan_here
from modgrok.experiments.store import Store
from modgrok.experiments.sweeps.engines import Engine
from modgrok.experiments.sweeps.engines.compilers import Wait, compiling_ahead, switching_often
from modgrok.experiments.train import train_batches
from modgrok.training.devices import MEMORY_SHARE, device_memory, run_bytes

AT_ONCE = 2
"""Batches that train at a time; more would only wait for Python."""


class LocalEngine(Engine):
    """This process and its devices."""

    @property
    def workers(self) -> int:
        """One: a batch uses all devices."""
        return 1

    def plan(self, experiments: Sequence[Experiment], store: Store) -> list[RunBatch]:
        return plan_here(experiments, store)

    def measure(self, batch: RunBatch) -> Speed:
        from modgrok.experiments.placement import measure_speed

        return measure_speed(batch)

    def train(self, batches: Sequence[RunBatch], store: Store, observer: Observer) -> list[Failure]:
        import jax

        # Devices that fetch one array together would wait for each other if two threads asked them.
        at_once = len(batches) > 1 and not batches[0].program.on.separate and len(jax.local_devices()) == 1
        if at_once:
            batches = for_two_at_once(batches)
        with compiling_ahead(batches) as wait_for:
            training = _Training(batches, store, Shared(observer), wait_for)
            if at_once:
                training.work_at_once(min(AT_ONCE, len(batches)))
            else:
                training.work()
        return training.failures


class _Training:
    """The queue of batches, from which one or more threads take the next."""

    def __init__(self, batches: Sequence[RunBatch], store: Store, observer: Shared, wait_for: Wait) -> None:
        self.queue, self.store, self.observer, self.wait_for = deque(batches), store, observer, wait_for
        self.failures: list[Failure] = []
        self.compiling, self.changed = threading.Lock(), threading.Condition()
        self.training: list[RunBatch] = []

    def work_at_once(self, threads: int) -> None:
        """Works in several threads; the first that fails, or Ctrl-C, stops the others at their next evaluation."""
        with switching_often(), ThreadPoolExecutor(threads) as pool:
            try:
                for done in as_completed([pool.submit(self.work) for _ in range(threads)]):
                    done.result()
            except KeyboardInterrupt:
                raise Interrupted("Stopped; rerun the command to resume.") from None
            finally:
                self.observer.stopping = True

    def work(self) -> None:
        """Trains batches until none is left."""
        while (batch := self._next()) is not None:
            try:
                with self.compiling:
                    self.wait_for(batch)
                train_batches([batch], self.store, self.observer)
            except ModgrokError:
                self.observer.stopping = True
                raise
            except Exception as error:
                self._failed(batch, error)
            finally:
                with self.changed:
                    self.training.remove(batch)
                    self.changed.notify_all()

    def _next(self) -> RunBatch | None:
        """The next batch, once it may train beside the others; None if there is none, or training is to stop."""
        with self.changed:
            self.changed.wait_for(lambda: self.observer.stopping or not self.queue or self._may_join(self.queue[0]))
            if self.observer.stopping or not self.queue:
                return None
            self.training.append(self.queue.popleft())
            return self.training[-1]

    def _may_join(self, batch: RunBatch) -> bool:
        """Whether a batch fits in memory beside those that train, one of which may train its parents."""
        import jax

        if not self.training:
            return True
        devices = jax.local_devices()
        needed = sum(
            run_bytes(one.program, one.padded_shape, one.evaluated, -(-len(one.members) // len(devices)))
            for one in (batch, *self.training)
        )
        return not batch.experiments[0].parent and needed <= MEMORY_SHARE * device_memory(devices[0])

    def _failed(self, batch: RunBatch, error: Exception) -> None:
        """Tries a batch that did not fit in memory again, then its halves."""
        from modgrok.training.together import forget_programs

        if out_of_memory(error) and batch.attempts == 0:
            forget_programs()
            self.queue.appendleft(replace(batch, attempts=1))
        elif out_of_memory(error) and len(batch.members) > 1:
            self.observer.remark(f"{len(batch.members)} runs at once need too much memory; trying half of them.")
            self.queue.extendleft(replace(half, attempts=1) for half in reversed(batch.halves()))
        else:
            self.failures.append(Failure(batch.experiments, f"{type(error).__name__}: {error}"))
            self.observer.remark(str(self.failures[-1]))
