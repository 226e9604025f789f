"""Outcomes of many experiments: those in the store, and new ones as they arrive."""

import contextlib
from collections.abc import Sequence

from modgrok.experiments.experiment import Experiment
from modgrok.experiments.result import Result
from modgrok.experiments.run import Damaged
from modgrok.experiments.store import Store


class Results:
    """Outcomes by run, for a list of experiments that may name the same run twice."""

    def __init__(self, experiments: Sequence[Experiment], store: Store, force: bool = False) -> None:
        self.store = store
        self.experiments = tuple(store.register(experiment) for experiment in experiments)
        """Resolved."""
        self.ids = [experiment.content_hash for experiment in self.experiments]
        self._runs = {name: store.run(name) for name in self.ids}
        self.outcomes: dict[str, Result] = {}
        self.again = {e.content_hash: e for e in self.experiments if force or e.has_unknown_code}
        """Runs to train again even if the store has them."""
        self.refresh()

    @property
    def runs(self) -> int:
        """Number of distinct runs."""
        return len(self._runs)

    def refresh(self) -> None:
        """Looks in the store for outcomes from other processes. A damaged run counts as missing; training moves it
        aside."""
        for name, run in self._runs.items():
            if name not in self.outcomes and name not in self.again:
                with contextlib.suppress(Damaged):
                    if (result := run.result) is not None:
                        self.outcomes[name] = result

    @property
    def pending(self) -> list[Experiment]:
        """Distinct resolved experiments without an outcome."""
        missing = {i: e for i, e in zip(self.ids, self.experiments, strict=True) if i not in self.outcomes}
        return list(missing.values())

    @property
    def in_order(self) -> list[Result | None]:
        """The outcome of every experiment, None where there is none."""
        return [self.outcomes.get(name) for name in self.ids]
