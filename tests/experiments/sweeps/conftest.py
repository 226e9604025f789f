"""An engine that trains nothing: what a run comes to is decided by the test."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from modgrok.experiments import Experiment, Observer, Store
from modgrok.experiments.sweeps.engines import Engine
from modgrok.experiments.sweeps.estimate import Speed
from modgrok.experiments.sweeps.units import Failure, Unit
from modgrok.networks import Network

Outcome = Callable[[Experiment], dict[str, Any]]


class PretendedEngine(Engine):
    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.trained: list[Experiment] = []

    @property
    def workers(self) -> int:
        return 1

    def plan(self, experiments: Sequence[Experiment], store: Store) -> list[Unit]:
        return [Unit((experiment,)) for experiment in experiments]

    def measure(self, unit: Unit, store: Store) -> Speed:
        return Speed("1 × pretended", 1000.0, 1 << 20, 1e6, 2.0)

    def train(self, plan: Sequence[Unit], store: Store, observer: Observer) -> list[Failure]:
        for unit in plan:
            for experiment in unit.experiments:
                self._end(experiment, store, observer)
        return []

    def _end(self, experiment: Experiment, store: Store, observer: Observer) -> None:
        self.trained.append(experiment)
        run = store.add(experiment)
        run.begin(store.resolve(experiment), {})
        empty = dict.fromkeys(("train_accuracy", "train_loss", "test_loss", "ipr", "task_ipr"))
        result = {"run": run.id, "status": "finished", "steps": 10, "learning_rate": 0.1} | empty
        result |= {"test_accuracy": 0.5, "memorized_at": None, "grokked_at": None, "diverged_at": None, "seconds": 1.0}
        result |= self.outcome(experiment)
        network = Network(np.zeros((1, 2, experiment.modulus)), np.zeros((experiment.modulus, 1)))
        run.finish(result, network)
        observer.ended(run, result)


@pytest.fixture
def pretended() -> Callable[[Outcome], PretendedEngine]:
    return PretendedEngine
