"""A network on one page: its curves, its input weights in order, its phases, its spectrum."""

from typing import TYPE_CHECKING

from modgrok.plot import style
from modgrok.plot.curves import History, learning
from modgrok.plot.phases import phases, spectrum
from modgrok.plot.representations import group_portrait
from modgrok.plot.subject import Subject, analyzed
from modgrok.plot.weights import weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from modgrok.experiments.group_analysis import GroupAnalysis


def portrait(subject: "Subject | GroupAnalysis", history: History | None = None, title: str = "") -> "Figure":
    """The four pictures, on a group those of its representations; a network from a file has no curves."""
    from modgrok.experiments.analysis import Analysis
    from modgrok.experiments.group_analysis import GroupAnalysis, on_group

    history = getattr(subject, "history", None) if history is None else history
    if isinstance(subject, GroupAnalysis) or (not isinstance(subject, Analysis) and on_group(subject.task)):
        return group_portrait(subject, history, title)
    analysis = analyzed(subject)
    with style.context():
        figure, panels = style.grid(2, 2, 8.8, 6.2)
        first, *others = panels.flat
        learning(history, first)
        for draw, panel in zip((weights, phases, spectrum), others, strict=True):
            draw(analysis, ax=panel)
        figure.suptitle(title, fontsize=9)
    return figure
