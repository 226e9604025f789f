"""What a reproduction trains: each experiment once, however many studies need it, and what that costs."""

from collections.abc import Sequence
from dataclasses import dataclass

from modgrok.experiments import Experiment
from modgrok.experiments.cost import cpu_rate, gpu_seconds, work
from modgrok.reproduce.sizes import Sizes
from modgrok.reproduce.study import Study


@dataclass(frozen=True)
class Row:
    """The cost of a study beyond the studies before it."""

    study: str
    runs: int
    run_steps: int
    """At most: runs that stop when they have grokked take fewer."""
    programs: int
    """To be compiled, where they have not been before; that takes `COMPILE_SECONDS` each."""
    flops: float
    cpu_seconds: float
    """On the CPU of this machine."""
    gpu_seconds: float
    """On an H200."""


def shares(studies: Sequence[Study], profile: Sizes) -> dict[Experiment, str]:
    """The experiments of all studies, each once, in the order of first need, with the study that needs it first."""
    found: dict[Experiment, str] = {}
    for study in studies:
        for experiment in study.needs(profile):
            found.setdefault(experiment, study.name)
    return found


def cost(studies: Sequence[Study], profile: Sizes) -> list[Row]:
    """A row for each study, and the total."""
    shared = shares(studies, profile)
    rows = [_row(study.name, [e for e, first in shared.items() if first == study.name]) for study in studies]
    return [*rows, _row("total", list(shared))]


def _row(name: str, experiments: list[Experiment]) -> Row:
    resolved = [e.resolve() for e in experiments]
    parts = [work(e, e.load_task()) for e in resolved]
    steps, flops = sum(part.steps for part in parts), float(sum(part.flops for part in parts))
    programs = len({part.program for part in parts})
    return Row(name, len(parts), steps, programs, flops, flops / cpu_rate(), gpu_seconds(parts))
