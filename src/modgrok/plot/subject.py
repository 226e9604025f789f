"""What pictures of waves are taken of: a run, or what was measured of it."""

from typing import TYPE_CHECKING, TypeAlias

from modgrok.errors import ModgrokError

if TYPE_CHECKING:
    from modgrok.experiments import Run
    from modgrok.experiments.analysis import Analysis

Subject: TypeAlias = "Run | Analysis"


def analyzed(subject: Subject) -> "Analysis":
    """The measures of a run's last weights; an analysis as it is."""
    from modgrok.experiments.analysis import Analysis, analyze

    found = subject if isinstance(subject, Analysis) else analyze(subject)
    if not isinstance(found, Analysis):
        kind = found.network.architecture.name
        raise ModgrokError(f"This picture is of waves, and a {kind} network on {found.task.name} has none.")
    return found
