"""What a reproduction trains: each experiment once, however many studies need it, and what that costs."""

from collections.abc import Sequence
from dataclasses import dataclass

from modgrok.experiments import Experiment
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Study

REFERENCE = 0.5 * 97**2 * 500 * 97
"""|train|·N·p of the reference step: p = 97, N = 500, α = 0.5."""
EVALUATION_STEPS = 3
"""One evaluation costs about as much as so many steps."""
CPU_SECONDS = 0.013
"""A reference step on two CPU cores."""
GPU_SECONDS = 28e-6
"""A reference step of one run among many on an H200."""


@dataclass(frozen=True)
class Row:
    """The cost of a study beyond the studies before it."""

    study: str
    runs: int
    run_steps: int
    """At most: runs that stop when they have grokked take fewer."""
    reference_steps: float
    """The same work in steps of p = 97, N = 500, α = 0.5."""

    @property
    def cpu_minutes(self) -> float:
        return self.reference_steps * CPU_SECONDS / 60

    @property
    def gpu_minutes(self) -> float:
        return self.reference_steps * GPU_SECONDS / 60


def union(studies: Sequence[Study], profile: Profile) -> list[Experiment]:
    """The experiments of all studies, each once, in the order of first need."""
    return list(dict.fromkeys(experiment for study in studies for experiment in study.experiments(profile)))


def cost(studies: Sequence[Study], profile: Profile) -> list[Row]:
    """A row for each study, and the total."""
    rows = []
    known: set[Experiment] = set()
    for study in studies:
        fresh = [experiment for experiment in union([study], profile) if experiment not in known]
        known.update(fresh)
        rows.append(
            Row(study.name, len(fresh), sum(e.steps or 0 for e in fresh), sum(map(_reference_steps, fresh), 0.0))
        )
    total = Row(
        "total",
        sum(row.runs for row in rows),
        sum(row.run_steps for row in rows),
        sum((row.reference_steps for row in rows), 0.0),
    )
    return [*rows, total]


def _reference_steps(e: Experiment) -> float:
    assert e.steps is not None
    work = e.fraction * e.modulus**2 * e.width * e.modulus / REFERENCE
    return work * (e.steps + EVALUATION_STEPS * e.evaluations)
