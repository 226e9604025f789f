"""A network on a group: which representations its neurons have, and how near they are to the closed form."""

from typing import TYPE_CHECKING, Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.palette import SERIES, TEST
from modgrok.plot import style
from modgrok.plot.curves import History, learning

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from modgrok.experiments import Run
    from modgrok.experiments.group_analysis import GroupAnalysis

BINS = 40


def _analyzed(subject: "Run | GroupAnalysis") -> "GroupAnalysis":
    from modgrok.experiments.analysis import analyze
    from modgrok.experiments.group_analysis import GroupAnalysis

    found = subject if isinstance(subject, GroupAnalysis) else analyze(subject)
    if not isinstance(found, GroupAnalysis):
        raise ModgrokError(f"This picture shows representations, but {found.task.name} is not a product in a group.")
    return found


def representations(subject: "Run | GroupAnalysis", *, ax: "Axes | None" = None) -> "Axes":
    """Neurons of each representation, and lines where they would be in proportion to d³."""
    found = _analyzed(subject)
    places = np.arange(1, len(found.counts))
    with style.axes(ax) as panel:
        panel.bar(places, found.counts[1:], color=TEST)
        panel.hlines(found.expected[1:], places - 0.45, places + 0.45, color="black", label="in proportion to d³")
        if len(places) <= 20:
            panel.set_xticks(places, found.basis.names[1:])
        panel.set(xlabel="representation, by dimension", ylabel="neurons")
        panel.set_title("which representation each neuron has")
        panel.legend()
    return panel


def purity(subject: "Run | GroupAnalysis", *, ax: "Axes | None" = None) -> "Axes":
    """Histograms over the neurons: share of one representation, rank one and agreement of the worst block."""
    vectors = _analyzed(subject).vectors
    shown = {
        "in one representation": vectors.share,
        "of rank one, worst block": vectors.rank_one.min(axis=1),
        "shared, worst vector": vectors.agreement.min(axis=1),
    }
    with style.axes(ax) as panel:
        for (name, values), color in zip(shown.items(), SERIES, strict=False):
            panel.hist(
                values[~np.isnan(values)], BINS, range=(0, 1), histtype="step", color=color, label=name, linewidth=1.4
            )
        panel.set(xlabel="share of a neuron, 1 in the closed form", ylabel="neurons")
        panel.set_title("one representation, rank one, shared vectors")
        panel.legend(loc="upper left")
    return panel


def gaps(subject: "Run | GroupAnalysis", *, ax: "Axes | None" = None) -> "Axes":
    """Histogram of the generalized phase gap; 0 in the closed form, 0 or π for real representations."""
    gap = _analyzed(subject).vectors.gap
    with style.axes(ax) as panel:
        panel.hist(gap[~np.isnan(gap)], BINS, range=(0, np.pi), color=TEST)
        panel.set_xticks([0, np.pi / 2, np.pi], ["0", "π/2", "π"])
        panel.set(xlabel="gap between the vectors of three blocks", ylabel="neurons")
        panel.set_title("phases: 0 in the closed form")
    return panel


def group_portrait(subject: "Run | GroupAnalysis", history: History | None = None, title: str = "") -> "Figure":
    """Curves, representations, purity and gaps on one page."""
    found: Any = _analyzed(subject)
    with style.context():
        figure, panels = style.grid(2, 2, 8.8, 6.2)
        first, *others = panels.flat
        learning(getattr(subject, "history", None) if history is None else history, first)
        for draw, panel in zip((representations, purity, gaps), others, strict=True):
            draw(found, ax=panel)
        figure.suptitle(title, fontsize=9)
    return figure
