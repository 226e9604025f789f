"""What pictures of a network are taken of: a run, or what was measured of it."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from modgrok.experiments import Run
    from modgrok.experiments.analysis import Analysis

Subject: TypeAlias = "Run | Analysis"


def analyzed(subject: Subject) -> "Analysis":
    """The measures of a run's last weights; an analysis as it is."""
    from modgrok.experiments.analysis import Analysis, analyze

    return subject if isinstance(subject, Analysis) else analyze(subject.network, subject.task)
