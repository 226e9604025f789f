"""A study: runs to train, and the numbers that figures and claims read from them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Run, Store
from modgrok.reproduce.profile import Profile

Numbers = dict[str, Any]
"""JSON values: whatever a figure draws and a claim judges, so that both can be redone without the runs."""


class Runs:
    """Finished runs, looked up by their experiment."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def __getitem__(self, experiment: Experiment) -> Run:
        return self.store.add(experiment)

    def result(self, experiment: Experiment) -> dict[str, Any]:
        """How a run ended."""
        result = self[experiment].result
        if result is None:
            raise ModgrokError(f"Run {experiment.id} has not ended; train it first.")
        return result.as_dict()


@dataclass(frozen=True)
class Study:
    """One figure, or one measurement without a figure."""

    name: str
    title: str
    caption: str
    """What there is to see, and how it was made."""
    experiments: Callable[[Profile], list[Experiment]]
    """The runs it needs; studies that name the same experiment share its run."""
    numbers: Callable[[Profile, Runs], Numbers]
    draw: Callable[[Numbers], Any] | None = None
    """From numbers to a matplotlib figure, without arithmetic."""


def no_experiments(profile: Profile) -> list[Experiment]:
    """For studies of closed forms and kernels: nothing is trained."""
    return []
