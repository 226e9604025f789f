"""The interface of engines."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from modgrok.experiments.cost import Speed
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer
from modgrok.experiments.planner import Failure, RunBatch
from modgrok.experiments.store import Store


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
    def measure(self, batch: RunBatch, store: Store) -> Speed:
        """Speed of a batch on one worker."""

    @abstractmethod
    def train(self, batches: Sequence[RunBatch], store: Store, observer: Observer) -> list[Failure]:
        """Trains everything that can be trained; returns what could not. Raises `Interrupted` when it was stopped."""
