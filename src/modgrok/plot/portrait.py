"""A network on one page: its curves, its input weights in order, its phases, its spectrum."""

from itertools import zip_longest
from typing import Any

from modgrok.experiments.analysis import Analysis
from modgrok.experiments.group_analysis import GroupAnalysis, on_group
from modgrok.plot import style
from modgrok.plot.answers import answers
from modgrok.plot.curves import History, learning
from modgrok.plot.phases import phases, spectrum
from modgrok.plot.representations import gaps, purity, representations
from modgrok.plot.style import Figure
from modgrok.plot.subject import Subject, measured
from modgrok.plot.weights import weights


def portrait(subject: Subject, history: History | None = None, title: str = "") -> "Figure":
    """Draws curves, weights, phases and spectrum; on a group, representations, purity and gaps. Networks without phases
    show their answers instead. A network from a file has no curves."""
    history = getattr(subject, "history", None) if history is None else history
    found = measured(subject)
    with style.context():
        figure, panels = style.grid(2, 2, 8.8, 6.2)
        learning(history, panels[0, 0])
        for panel, draw in zip_longest(panels.flat[1:], _pictures(found)):
            draw(found, ax=panel) if draw else panel.set_axis_off()
        figure.suptitle(title, fontsize=9)
    return figure


def _pictures(found: Any) -> list[Any]:
    """What is drawn of a network besides its curves: at most three."""
    if isinstance(found, GroupAnalysis):
        return [representations, purity, gaps]
    if isinstance(found, Analysis):
        return [weights, phases, spectrum]
    drawn: list[Any] = []
    if found.weights is not None and found.spectrum is not None:
        drawn += [spectrum] if on_group(found.task) else [weights, spectrum]
    if found.task.arity == 2 and found.score is not None:
        drawn.append(lambda found, ax: answers(found.network, found.task, ax=ax))
    return drawn
