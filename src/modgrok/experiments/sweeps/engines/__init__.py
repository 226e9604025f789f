"""Where batches execute: this process's devices, or a Ray cluster. Nothing else differs."""

from collections.abc import Sequence
from typing import Protocol

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer
from modgrok.experiments.store import Store
from modgrok.experiments.sweeps.estimate import Speed
from modgrok.experiments.sweeps.units import Failure, Unit


class Engine(Protocol):
    """Trains batches into a store."""

    @property
    def workers(self) -> int:
        """How many batches train at the same time."""

    def plan(self, experiments: Sequence[Experiment], store: Store) -> list[Unit]:
        """The batches these experiments make here."""

    def measure(self, unit: Unit, store: Store) -> Speed:
        """How fast one of the workers trains a batch."""

    def train(self, plan: Sequence[Unit], store: Store, observer: Observer) -> list[Failure]:
        """Trains everything that can be trained; returns what could not. Raises `Interrupted` when it was stopped."""


def engine_called(name: str, address: str | None = None) -> Engine:
    """The engine of that name: `local`, or `ray` on the cluster at `address`, or on one started here without it."""
    if name == "local":
        from modgrok.experiments.sweeps.engines.local import LocalEngine

        if address is not None:
            raise ModgrokError("An address is that of a Ray cluster; add --engine ray.")
        return LocalEngine()
    if name == "ray":
        from modgrok.experiments.sweeps.engines.ray import RayEngine

        return RayEngine(address)
    raise ModgrokError(f"The engine is local or ray, not {name!r}.")
