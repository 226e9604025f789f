"""Where batches execute: this process's devices, or a Ray cluster. Nothing else differs."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, get_args

from modgrok.errors import ModgrokError
from modgrok.experiments.cost import Speed
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer
from modgrok.experiments.planner import Failure, RunBatch
from modgrok.experiments.store import Store

EngineName = Literal["local", "ray"]


class Engine(ABC):
    """Trains the planner's batches into a store. Results do not depend on the engine."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """Number of batches that train in parallel."""

    @abstractmethod
    def plan(self, experiments: Sequence[Experiment], store: Store) -> list[RunBatch]:
        """The batches for these resolved experiments."""

    @abstractmethod
    def measure(self, batch: RunBatch) -> Speed:
        """Speed of a batch on one worker, from a few steps of it there."""

    @abstractmethod
    def train(self, batches: Sequence[RunBatch], store: Store, observer: Observer) -> list[Failure]:
        """Trains everything that can be trained; returns what could not. Raises `Interrupted` when it was stopped."""


def check_engine(name: str, address: str | None) -> None:
    """`ModgrokError` where there is no such engine, or it has no address."""
    if name not in get_args(EngineName):
        raise ModgrokError(f"engine must be {' or '.join(get_args(EngineName))}, not {name!r}.")
    if name == "local" and address is not None:
        raise ModgrokError("An address is that of a Ray cluster; add --engine ray.")


def engine_named(name: str, address: str | None = None) -> Engine:
    """The engine of that name: `local`, or `ray` on the cluster at `address`, or on one started here without it."""
    check_engine(name, address)
    if name == "local":
        from modgrok.experiments.sweeps.engines.local import LocalEngine

        return LocalEngine()
    from modgrok.experiments.sweeps.engines.ray import RayEngine

    return RayEngine(address)
