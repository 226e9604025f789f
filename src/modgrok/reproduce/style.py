"""How figures look: colours that colour-blind readers can tell apart, sizes for a column or a page, quiet axes."""

import io
import string
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

COLUMN = 3.4
"""Width of a text column, in inches."""
PAGE = 7.0
"""Width of a page of text, in inches."""

BLUE, ORANGE, GREEN, RED, PURPLE, SKY, WINE, GREY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#882255",
    "#555555",
)
"""After Okabe and Ito, with wine in the place of yellow, which is too near to orange."""
SERIES = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, WINE, GREY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
TRAIN, TEST = BLUE, RED

SETTINGS: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.titlelocation": "left",
    "lines.linewidth": 1.3,
    "lines.markersize": 3.5,
    "legend.frameon": False,
    "image.cmap": "viridis",
    "image.interpolation": "nearest",
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "modgrok",
}


def applied() -> AbstractContextManager[None]:
    """Inside, figures look like this; outside, whatever else draws is left alone."""
    import matplotlib as mpl

    return mpl.rc_context(SETTINGS)


def axes(rows: int, columns: int, width: float = PAGE, height: float = 4.4, **more: Any) -> tuple[Any, Any]:
    """A figure and its grid of axes, drawn without a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **more)


def compressed_png(figure: Any, resolution: int) -> bytes:
    """The figure in 256 colours of its own, which is a third of the bytes and looks the same."""
    from PIL import Image

    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, dpi=resolution, format="png")
    with Image.open(drawn) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(small, "png", optimize=True)
    return small.getvalue()


def letter(panels: Iterable[Any], titles: Iterable[str]) -> None:
    """(a), (b), … before the titles of panels."""
    for name, panel, title in zip(string.ascii_lowercase, panels, titles, strict=False):
        panel.set_title(f"({name}) {title}")


def note(figure: Any, text: str) -> None:
    """A line under the whole figure: what it was made with."""
    figure.supxlabel(text, fontsize=6.5, color=GREY, x=0.5)


def mark(panel: Any, place: int | float | None, name: str, side: str) -> None:
    """A vertical line, its name above it to one side; nothing where there is no such place."""
    if place is None:
        return
    panel.axvline(place, color=GREY, linewidth=0.7, linestyle=":")
    offset = {"left": 2, "right": -2}[side]
    panel.annotate(
        name,
        (place, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(offset, 1),
        textcoords="offset points",
        fontsize=6,
        color=GREY,
        ha=side,
        va="bottom",
    )
