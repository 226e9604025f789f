"""What a reproduction trains: each experiment once, however many studies need it, and what that costs."""

from collections.abc import Sequence
from dataclasses import dataclass

from modgrok.experiments import Experiment
from modgrok.reproduce.study import Profile, Study

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
    def cpu_seconds(self) -> float:
        return self.reference_steps * CPU_SECONDS

    @property
    def gpu_seconds(self) -> float:
        return self.reference_steps * GPU_SECONDS


def shares(studies: Sequence[Study], profile: Profile) -> dict[Experiment, str]:
    """The experiments of all studies, each once, in the order of first need, with the study that needs it first."""
    found: dict[Experiment, str] = {}
    for study in studies:
        for experiment in study.needs(profile):
            found.setdefault(experiment, study.name)
    return found


def cost(studies: Sequence[Study], profile: Profile) -> list[Row]:
    """A row for each study, and the total."""
    shared = shares(studies, profile)
    rows = [_row(study.name, [e for e, first in shared.items() if first == study.name]) for study in studies]
    return [*rows, _row("total", list(shared))]


def _row(name: str, experiments: list[Experiment]) -> Row:
    steps = sum(e.steps or 0 for e in experiments)
    return Row(name, len(experiments), steps, sum(map(_reference_steps, experiments), 0.0))


def _reference_steps(e: Experiment) -> float:
    assert e.steps is not None
    work = e.fraction * e.modulus**2 * e.width * e.modulus / REFERENCE
    return work * (e.steps + EVALUATION_STEPS * e.evaluations)
