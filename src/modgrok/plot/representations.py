"""A network on a group: which representations its neurons have, and how near they are to the closed form."""

import numpy as np

from modgrok.palette import SERIES, TEST
from modgrok.plot import style
from modgrok.plot.style import Axes
from modgrok.plot.subject import Subject, on_a_group

BINS = 40


def representations(subject: Subject, *, ax: "Axes | None" = None) -> "Axes":
    """Draws the number of neurons of each representation, with lines at counts proportional to d³."""
    found = on_a_group(subject)
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


def purity(subject: Subject, *, ax: "Axes | None" = None) -> "Axes":
    """Histograms over the neurons: share of one representation, rank one and agreement of the worst block."""
    vectors = on_a_group(subject).vectors
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


def gaps(subject: Subject, *, ax: "Axes | None" = None) -> "Axes":
    """Histogram of the generalized phase gap; 0 in the closed form, 0 or π for real representations."""
    gap = on_a_group(subject).vectors.gap
    with style.axes(ax) as panel:
        panel.hist(gap[~np.isnan(gap)], BINS, range=(0, np.pi), color=TEST)
        panel.set_xticks([0, np.pi / 2, np.pi], ["0", "π/2", "π"])
        panel.set(xlabel="gap between the vectors of three blocks", ylabel="neurons")
        panel.set_title("phases: 0 in the closed form")
    return panel
