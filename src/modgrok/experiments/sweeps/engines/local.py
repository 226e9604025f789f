"""Batches train one after another on this process's devices, each spread over all of them."""

from collections import deque
from collections.abc import Sequence

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer
from modgrok.experiments.store import Store
from modgrok.experiments.sweeps.engines.engine import Engine
from modgrok.experiments.sweeps.estimate import Speed, measure_speed
from modgrok.experiments.sweeps.units import Failure, Unit, out_of_memory, units
from modgrok.training.program import Program


class LocalEngine(Engine):
    """This process and its devices."""

    @property
    def workers(self) -> int:
        """One: a batch uses all devices."""
        return 1

    def plan(self, experiments: Sequence[Experiment], store: Store) -> list[Unit]:
        """Batches as large as the devices like them, in the order in which they train."""
        import jax

        from modgrok.training.devices import runs_per_device

        devices = jax.local_devices()

        def size(program: Program, rows: int, slots: int) -> int:
            return runs_per_device(program, rows, slots, devices[0]) * len(devices)

        return units(experiments, store, devices[0].platform, size)

    def measure(self, unit: Unit, store: Store) -> Speed:
        """How fast a batch trains here, from a few steps of it."""
        return measure_speed(unit.experiments, store)

    def train(self, plan: Sequence[Unit], store: Store, observer: Observer) -> list[Failure]:
        """Trains everything that can be trained; returns what could not."""
        from modgrok.experiments.trainer import train_all

        queue, failures = deque(plan), list[Failure]()
        while queue:
            unit = queue.popleft()
            try:
                train_all(unit.experiments, store, observer)
            except ModgrokError:
                raise
            except Exception as error:
                if out_of_memory(error) and len(unit.experiments) > 1:
                    observer.remark(f"{len(unit.experiments)} runs at once need too much memory; trying half of them.")
                    queue.extendleft(reversed(unit.halves()))
                    continue
                failures.append(Failure(unit, f"{type(error).__name__}: {error}"))
                observer.remark(str(failures[-1]))
        return failures
