"""An engine that trains nothing: what a run comes to is decided by the test."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from modgrok.experiments import Experiment, Observer, Store
from modgrok.experiments.cost import Speed
from modgrok.experiments.planner import Failure, RunBatch, plan_experiments
from modgrok.experiments.result import Result
from modgrok.experiments.run_writer import RunWriter
from modgrok.experiments.sweeps.engines import Engine
from modgrok.networks import two_layer

Outcome = Callable[[Experiment], dict[str, Any]]
PRETENDED = Result(
    "", "finished", 10, 0.1, None, 0.5, None, None, None, None, None, 1.0, {"ipr": None, "task_ipr": None}
)


class PretendedEngine(Engine):
    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.trained: list[Experiment] = []

    @property
    def workers(self) -> int:
        return 1

    def plan(self, experiments: Sequence[Experiment], store: Store) -> list[RunBatch]:
        return plan_experiments(experiments, store, "cpu", lambda *_: 1)

    def measure(self, batch: RunBatch) -> Speed:
        return Speed("1 × pretended", 1000.0, 1 << 20, 1e6, 2.0)

    def train(self, batches: Sequence[RunBatch], store: Store, observer: Observer) -> list[Failure]:
        for batch in batches:
            for experiment in batch.experiments:
                self._end(experiment, store, observer)
        return []

    def _end(self, experiment: Experiment, store: Store, observer: Observer) -> None:
        self.trained.append(experiment)
        run = store.add(experiment)
        writer = RunWriter(run)
        writer.begin(store.resolve(experiment), {})
        result = replace(PRETENDED, run=run.id, **self.outcome(experiment))
        modulus = experiment.modulus
        assert modulus is not None
        writer.finish(result, two_layer(np.zeros((1, 2, modulus)), np.zeros((modulus, 1))))
        observer.ended(run, result)


@pytest.fixture
def pretended() -> Callable[[Outcome], PretendedEngine]:
    return PretendedEngine
