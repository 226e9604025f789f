"""Batches train one after another on this process's devices, each spread over all of them."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from modgrok.errors import ModgrokError
from modgrok.experiments.cost import Speed
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer
from modgrok.experiments.planner import Failure, RunBatch, out_of_memory, plan_here
from modgrok.experiments.store import Store
from modgrok.experiments.sweeps.engines import Engine
from modgrok.experiments.sweeps.engines.compilers import compiling_ahead
from modgrok.experiments.train import train_batches


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
        from modgrok.training.together import forget_programs

        queue, failures = deque(batches), list[Failure]()
        with compiling_ahead(batches) as wait_for:
            while queue:
                batch = queue.popleft()
                wait_for(batch)
                try:
                    train_batches([batch], store, observer)
                except ModgrokError:
                    raise
                except Exception as error:
                    if out_of_memory(error) and batch.attempts == 0:
                        forget_programs()
                        queue.appendleft(replace(batch, attempts=1))
                    elif out_of_memory(error) and len(batch.members) > 1:
                        observer.remark(f"{len(batch.members)} runs at once need too much memory; trying half of them.")
                        queue.extendleft(replace(half, attempts=1) for half in reversed(batch.halves()))
                    else:
                        failures.append(Failure(batch.experiments, f"{type(error).__name__}: {error}"))
                        observer.remark(str(failures[-1]))
        return failures
