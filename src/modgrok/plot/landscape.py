"""The landscape of functions: test accuracy by function and fraction, in the three classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modgrok.experiments.sweeps.landscape import LandscapeRow
from modgrok.palette import EMPTY
from modgrok.plot import style
from modgrok.plot.style import Axes
from modgrok.text import number, percent

HEADINGS = {"easily": "learned easily", "with much data": "learned with\nmuch data", "not at all": "not learned"}


def landscape(rows: Sequence[LandscapeRow], title: str = "", *, ax: "Axes | None" = None) -> "Axes":
    """Draws a map with a row for each function, labeled with its structure; lines separate the classes."""
    fractions = [point.fraction for point in rows[0].points]
    values = np.array([[point.accuracy for point in row.points] for row in rows], float)
    with style.axes(ax, 0.8 * len(fractions) + 3.6, 0.19 * len(rows) + 1.0) as panel:
        panel.set_facecolor(EMPTY)
        panel.pcolormesh(values, vmin=0, vmax=1, edgecolors="white", lw=0.4)
        panel.set_xticks(np.arange(len(fractions)) + 0.5, [number(fraction) for fraction in fractions])
        panel.set_yticks(np.arange(len(rows)) + 0.5, [_formula(row.function) for row in rows])
        panel.invert_yaxis()
        panel.tick_params(length=0)
        for i, row in enumerate(rows):
            _beside(panel, i + 0.5, row.structure.kind.replace("_", " "), 5, fontsize=6.5)
            for j, point in enumerate(row.points):
                if point.accuracy is not None:
                    look: Any = {"ha": "center", "va": "center", "fontsize": 6.5}
                    look["color"] = "white" if point.accuracy < 0.6 else "black"
                    panel.text(j + 0.5, i + 0.5, percent(point.accuracy, 0), **look)
        if np.isnan(values).any():
            style.gray_legend(panel, "no run has ended")
        _part_classes(panel, rows)
        panel.set_xlabel("training fraction α")
        panel.set_title(f"median test accuracy {title}")
    return panel


def _part_classes(ax: "Axes", rows: Sequence[LandscapeRow]) -> None:
    start = 0
    for i in range(1, len(rows) + 1):
        if i < len(rows) and rows[i].complexity == rows[start].complexity:
            continue
        if i < len(rows):
            ax.axhline(i, color="black", lw=1.4)
        complexity = rows[start].complexity
        if complexity is not None:
            _beside(ax, (start + i) / 2, HEADINGS[complexity], 92, fontweight="bold")
        start = i


def _beside(ax: "Axes", y: float, text: str, points: int, **look: Any) -> None:
    """Writes to the right of the map, `points` points away from it."""
    where: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center"}
    ax.annotate(text, (1, y), (points, 0), **where, **look)


def _formula(text: str) -> str:
    return text.replace("*", "").replace("^2", "²").replace("^3", "³").replace("^4", "⁴")
