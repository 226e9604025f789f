"""The landscape of functions as a picture: test accuracy by function and fraction, in the three classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modgrok.experiments.sweeps.figures import new_figure, style
from modgrok.experiments.sweeps.landscape import CLASSES, Row

HEADINGS = dict(zip(CLASSES, ("learnt easily", "learnt with\nmuch data", "not learnt"), strict=True))


def draw_landscape(rows: Sequence[Row], title: str) -> Any:
    """A heat map with a row for each function; its structure is written beside it, and bars part the classes."""
    fractions = [place.fraction for place in rows[0].places]
    values = np.array([[place.accuracy for place in row.places] for row in rows], float)
    with style():
        figure, axes = new_figure(0.9 * len(fractions) + 4.2, 0.21 * len(rows) + 1.2)
        axes.grid(False)
        axes.set_facecolor("#eeeeee")
        axes.pcolormesh(values, cmap="viridis", vmin=0, vmax=1, edgecolors="white", lw=0.4)
        axes.set_xticks(np.arange(len(fractions)) + 0.5, [f"{fraction:g}" for fraction in fractions])
        axes.set_yticks(np.arange(len(rows)) + 0.5, [_formula(row.function) for row in rows], fontsize=8)
        axes.invert_yaxis()
        axes.tick_params(length=0)
        for i, row in enumerate(rows):
            _beside(axes, i + 0.5, row.structure.kind.replace("_", " "), 5, fontsize=7)
            for j, place in enumerate(row.places):
                if place.accuracy is not None:
                    colour = "white" if place.accuracy < 0.6 else "black"
                    shown = f"{place.accuracy:.0%}"
                    axes.text(j + 0.5, i + 0.5, shown, ha="center", va="center", fontsize=7, color=colour)
        _part_classes(axes, rows)
        axes.set_xlabel("training fraction α")
        axes.set_title(f"median test accuracy {title}", loc="left", fontsize=10)
        return figure


def _part_classes(axes: Any, rows: Sequence[Row]) -> None:
    start = 0
    for i in range(1, len(rows) + 1):
        if i < len(rows) and rows[i].complexity == rows[start].complexity:
            continue
        if i < len(rows):
            axes.axhline(i, color="black", lw=1.4)
        complexity = rows[start].complexity
        if complexity is not None:
            _beside(axes, (start + i) / 2, HEADINGS[complexity], 92, fontsize=8.5, fontweight="bold")
        start = i


def _beside(axes: Any, y: float, text: str, points: int, **style: Any) -> None:
    """Writes to the right of the map, so many points away from it."""
    place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center"}
    axes.annotate(text, (1, y), (points, 0), **place, **style)


def _formula(text: str) -> str:
    return text.replace("*", "").replace("^2", "²").replace("^3", "³").replace("^4", "⁴")
