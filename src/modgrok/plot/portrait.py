"""A network on one page: its curves, its input weights in order, its phases, its spectrum."""

from typing import TYPE_CHECKING

from modgrok.palette import GRAY
from modgrok.plot import style
from modgrok.plot.curves import History, curves
from modgrok.plot.phases import phases, spectrum
from modgrok.plot.subject import Subject, analyzed
from modgrok.plot.weights import weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def portrait(subject: Subject, history: History | None = None, title: str = "") -> "Figure":
    """The four pictures; without a history (a network from a file) there are no curves."""
    analysis = analyzed(subject)
    if history is None:
        history = getattr(subject, "history", None)
    with style.context():
        figure, panels = style.grid(2, 2, 8.8, 6.2)
        learning, *others = panels.flat
        if history is None or len(history["step"]) == 0:
            learning.set_axis_off()
            learning.text(0.5, 0.5, "no curves: a network from a file", ha="center", va="center", color=GRAY)
        else:
            curves(history, ax=learning).set_title("learning")
            losses = learning.twinx()
            curves(history, "loss", ax=losses, linestyle="--", linewidth=0.9).set_ylabel("loss (dashed)")
            losses.get_legend().remove()
            losses.spines["right"].set_visible(True)
        for draw, panel in zip((weights, phases, spectrum), others, strict=True):
            draw(analysis, ax=panel)
        figure.suptitle(title, fontsize=9)
    return figure
