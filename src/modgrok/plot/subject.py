"""What pictures of networks are taken of: a run, or what was measured of it."""

from typing import TYPE_CHECKING, TypeAlias

from modgrok.errors import ModgrokError

if TYPE_CHECKING:
    from modgrok.experiments import Run
    from modgrok.experiments.analysis import Analysis, Overview
    from modgrok.experiments.group_analysis import GroupAnalysis

Subject: TypeAlias = "Run | Analysis | Overview | GroupAnalysis"


def measured(subject: Subject) -> "Analysis | Overview | GroupAnalysis":
    """The measures of a run's last weights; an analysis as it is."""
    from modgrok.experiments.analysis import Analysis, Overview, analyze
    from modgrok.experiments.group_analysis import GroupAnalysis

    return subject if isinstance(subject, Analysis | Overview | GroupAnalysis) else analyze(subject)


def analyzed(subject: Subject) -> "Analysis":
    """The same where it has waves."""
    from modgrok.experiments.analysis import Analysis

    found = measured(subject)
    if not isinstance(found, Analysis):
        kind = found.network.architecture.name
        raise ModgrokError(f"This picture shows waves, but a {kind} network on {found.task.name} has none.")
    return found
