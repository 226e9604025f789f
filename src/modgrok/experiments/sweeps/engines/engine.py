"""What an engine is."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from modgrok.experiments.cost import Speed
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer
from modgrok.experiments.planner import Failure, RunBatch
from modgrok.experiments.store import Store


class Engine(ABC):
    """Where the planner's batches train into a store. Which engine it was shows in no result."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many batches train at the same time."""

    @abstractmethod
    def plan(self, experiments: Sequence[Experiment], store: Store) -> list[RunBatch]:
        """The batches these resolved experiments make here."""

    @abstractmethod
    def measure(self, batch: RunBatch, store: Store) -> Speed:
        """How fast one of the workers trains a batch."""

    @abstractmethod
    def train(self, batches: Sequence[RunBatch], store: Store, observer: Observer) -> list[Failure]:
        """Trains everything that can be trained; returns what could not. Raises `Interrupted` when it was stopped."""
