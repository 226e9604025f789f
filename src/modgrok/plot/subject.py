"""What pictures of networks are taken of: a run, or what was measured of it."""

from typing import TypeAlias

from modgrok.errors import ModgrokError
from modgrok.experiments import Run
from modgrok.experiments.analysis import Analysis, Overview, analyze
from modgrok.experiments.group_analysis import GroupAnalysis
from modgrok.networks import Network

Subject: TypeAlias = Run | Analysis | Overview | GroupAnalysis | Network
"""A network alone is refused with a sentence: it does not say what it computes."""


def measured(subject: Subject) -> Analysis | Overview | GroupAnalysis:
    """The measures of a run's last weights; an analysis as it is."""
    return subject if isinstance(subject, Analysis | Overview | GroupAnalysis) else analyze(subject)


def with_waves(subject: Subject) -> Analysis:
    """The same of a network that has waves."""
    if not isinstance(found := measured(subject), Analysis):
        kind = found.network.architecture.name
        raise ModgrokError(f"This picture shows waves, but a {kind} network on {found.task.name} has none.")
    return found


def on_a_group(subject: Subject) -> GroupAnalysis:
    """The same of a network on a group."""
    if not isinstance(found := measured(subject), GroupAnalysis):
        raise ModgrokError(f"This picture shows representations, but {found.task.name} is not a product in a group.")
    return found
