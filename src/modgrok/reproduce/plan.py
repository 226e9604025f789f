"""What a reproduction trains: each experiment once, however many studies need it, and what that costs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from modgrok.experiments import Experiment
from modgrok.experiments.cost import Total, total, work
from modgrok.reproduce.sizes import Sizes
from modgrok.reproduce.study import Study


@dataclass(frozen=True)
class StudyCost(Total):
    """The cost of a study beyond the studies before it."""

    study: str = ""


def shares(studies: Sequence[Study], profile: Sizes) -> dict[Experiment, str]:
    """The experiments of all studies, each once, in the order of first need, with the study that needs it first."""
    found: dict[Experiment, str] = {}
    for study in studies:
        for experiment in study.needs(profile):
            found.setdefault(experiment, study.name)
    return found


def cost(studies: Sequence[Study], profile: Sizes) -> list[StudyCost]:
    """A row for each study, and the total."""
    shared = shares(studies, profile)
    rows = [_row(study.name, [e for e, first in shared.items() if first == study.name]) for study in studies]
    return [*rows, _row("total", list(shared))]


def _row(name: str, experiments: list[Experiment]) -> StudyCost:
    resolved = [e.resolve() for e in experiments]
    return StudyCost(study=name, **asdict(total([work(e, e.load_task()) for e in resolved])))
