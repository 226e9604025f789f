"""Trains many experiments on any engine; stored runs are not trained again."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Forwarding, Observer, Speaking
from modgrok.experiments.planner import Failure, RunBatch
from modgrok.experiments.result import Result
from modgrok.experiments.store import StoreLike, as_store, start_afresh
from modgrok.experiments.sweeps.engines import Engine, engine_named
from modgrok.experiments.sweeps.record import Record
from modgrok.experiments.sweeps.sweep import Sweep
from modgrok.experiments.sweeps.table import Results, Table, sweep_table
from modgrok.text import count
from modgrok.training.devices import use_all_cores


@dataclass(frozen=True, eq=False)
class Plan:
    """The missing runs of some results, in batches of an engine."""

    results: Results
    engine: Engine
    batches: tuple[RunBatch, ...]

    @property
    def stored(self) -> int:
        """How many runs are not trained, because the store has them."""
        return self.results.runs - sum(len(batch.members) for batch in self.batches)

    def train(self, observer: Observer | None = None, record: Record | None = None) -> list[Failure]:
        """Trains the batches. Results are then complete except for the returned failures; the record's table stays up
        to date, even if training is stopped."""
        results, observer = self.results, observer or Speaking()
        start_afresh(results.again.values(), results.store, observer)
        results.again = {}
        if record is not None:
            record.begin()
        try:
            return self.engine.train(self.batches, results.store, _Recorder(observer, results, record))
        finally:
            results.refresh()
            if record is not None:
                record.write(results)


def plan(results: Results, engine: Engine) -> Plan:
    """Plans the missing runs in batches."""
    pending = results.pending
    return Plan(results, engine, tuple(engine.plan(pending, results.store)) if pending else ())


class Executor:
    """Trains many networks on an engine, into a store."""

    def __init__(self, store: StoreLike = None, engine: Engine | None = None) -> None:
        use_all_cores()
        self.store, self.engine = as_store(store), engine or engine_named("local")

    def train(self, results: Results, record: Record | None = None) -> list[Failure]:
        """Trains what is missing."""
        return plan(results, self.engine).train(record=record)

    def finish(self, experiments: Sequence[Experiment]) -> list[Result | None]:
        """The outcomes of experiments, in order; missing ones are trained first."""
        results = Results(experiments, self.store)
        if results.pending:
            self.train(results)
        return results.in_order

    def run(self, sweep: Sweep, force: bool = False) -> Results:
        """Trains a sweep, with its record in the store; again what the store has already, if forced. Warns of runs that
        failed; raises `ModgrokError` where all that were to be trained did."""
        results = Results(sweep.experiments, self.store, force)
        missing = len(results.pending)
        failures = self.train(results, Record(sweep, self.store))
        if failures and len(results.pending) == missing:
            raise ModgrokError(f"Of {count(missing, 'run')} to train none could be trained. {failures[0]}")
        for failure in failures:
            warnings.warn(str(failure), stacklevel=3)
        return results


def run_sweep(sweep: Sweep, store: StoreLike = None, engine: Engine | None = None, *, force: bool = False) -> Table:
    """Trains a sweep and returns its table; the same sweep again returns at once unless forced."""
    return sweep_table(sweep, Executor(store, engine).run(sweep, force))


class _Recorder(Forwarding):
    """Keeps the results."""

    def __init__(self, observer: Observer, results: Results, record: Record | None) -> None:
        super().__init__(observer)
        self.results, self.record = results, record

    def ended(self, run: Any, result: Result) -> None:
        self.results.outcomes[run.id] = result
        super().ended(run, result)
        if self.record is not None:
            self.record.update(self.results)
