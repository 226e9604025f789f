"""A network on one page: its curves, its input weights in order, its phases, its spectrum."""

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from modgrok.plot import style
from modgrok.plot.answers import answers
from modgrok.plot.curves import History, learning
from modgrok.plot.phases import phases, spectrum
from modgrok.plot.representations import group_portrait
from modgrok.plot.subject import Subject, measured
from modgrok.plot.weights import weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from modgrok.experiments.analysis import Overview


def portrait(subject: Subject, history: History | None = None, title: str = "") -> "Figure":
    """The four pictures, on a group those of its representations, of networks without phases the answers instead; a
    network from a file has no curves."""
    from modgrok.experiments.analysis import Overview
    from modgrok.experiments.group_analysis import GroupAnalysis

    history = getattr(subject, "history", None) if history is None else history
    found = measured(subject)
    if isinstance(found, GroupAnalysis):
        return group_portrait(found, history, title)
    if isinstance(found, Overview):
        return _overview_portrait(found, history, title)
    with style.context():
        figure, panels = style.grid(2, 2, 8.8, 6.2)
        first, *others = panels.flat
        learning(history, first)
        for draw, panel in zip((weights, phases, spectrum), others, strict=True):
            draw(found, ax=panel)
        figure.suptitle(title, fontsize=9)
    return figure


def _overview_portrait(found: "Overview", history: History | None, title: str) -> "Figure":
    """Of any network: its curves, and what else it has."""
    from modgrok.experiments.group_analysis import on_group

    drawn: list[Any] = []
    if found.weights is not None and found.spectrum is not None:
        drawn += [spectrum] if on_group(found.task) else [weights, spectrum]
    if found.task.arity == 2 and found.score is not None:
        drawn.append(lambda found, ax: answers(found.network, found.task, ax=ax))
    with style.context():
        figure, panels = style.grid(2, 2, 8.8, 6.2)
        learning(history, panels[0, 0])
        for panel, draw in zip_longest(panels.flat[1:], drawn):
            draw(found, ax=panel) if draw else panel.set_axis_off()
        figure.suptitle(title, fontsize=9)
    return figure
