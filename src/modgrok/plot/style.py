"""How figures look: quiet axes, sizes for a column or a page, one way to make them and one to write them down."""

import io
import string
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modgrok.disk import write_bytes
from modgrok.errors import ModgrokError
from modgrok.experiments.environment import in_notebook
from modgrok.palette import EMPTY, GRAY, SERIES
from modgrok.text import abridged

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
else:  # Matplotlib is imported when something is drawn.
    Axes = Figure = Any

COLUMN, PAGE = 4.6, 7.0
"""Widths of a figure of one panel and of one across the page, in inches."""
NOTE_LETTERS = 19
"""Letters of a note in an inch."""
RESOLUTION = 200
"""Dots per inch of PNG files."""
FORMATS = (".png", ".svg", ".pdf")
SETTINGS: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "legend.fontsize": 7,
    "legend.title_fontsize": 7,
    "legend.frameon": False,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.5,
    "image.cmap": "viridis",
    "image.interpolation": "nearest",
    "figure.constrained_layout.h_pad": 0.06,
    "figure.constrained_layout.w_pad": 0.06,
    "svg.hashsalt": "modgrok",
}


@contextmanager
def context() -> "Iterator[None]":
    """Inside, figures look like this; outside, whatever else draws is left alone."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS | {"axes.prop_cycle": mpl.rcsetup.cycler(color=SERIES)}):
        yield
        interactive = mpl.is_interactive()
    mpl.interactive(interactive)  # The first figure of a notebook turns this on, for all that follow.


def grid(rows: int, columns: int, width: float = PAGE, height: float = 4.4, **more: Any) -> "tuple[Figure, Any]":
    """A figure and its array of axes. In a notebook it is shown when the cell ends; elsewhere no display is needed."""
    if in_notebook():
        from matplotlib import pyplot

        figure = pyplot.figure(figsize=(width, height), layout="constrained")
    else:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **more)


@contextmanager
def axes(ax: "Axes | None", width: float = COLUMN, height: float = 3.0) -> "Iterator[Axes]":
    """The axes that were given, or those of a new figure in this style."""
    if ax is not None:
        yield ax
        return
    with context():
        yield grid(1, 1, width, height)[1][0, 0]


def save(picture: "Figure | Axes", path: str | Path, resolution: int = RESOLUTION) -> None:
    """Writes a figure, or the one that axes are part of, in the format of the file's suffix."""
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise ModgrokError(f"Write a figure to a .png, .svg or .pdf file, not to {path.name}.")
    if (figure := getattr(picture, "figure", None)) is None:
        raise ModgrokError(f"save writes a figure of Matplotlib or its axes, not {abridged(picture)}.")
    drawn = io.BytesIO()
    kind = path.suffix.lower()[1:]
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with context():
        figure.savefig(drawn, dpi=resolution, format=kind, metadata=undated)
    write_bytes(
        path, _in_few_colors(drawn, 256 if _has_color_map(figure) else 64) if kind == "png" else drawn.getvalue()
    )


def _has_color_map(figure: "Figure") -> bool:
    """Whether colors stand for numbers somewhere; lines and their soft edges look the same in far fewer."""
    return any(
        panel.images or any(drawn.get_array() is not None for drawn in panel.collections) for panel in figure.axes
    )


def _in_few_colors(png: io.BytesIO, colors: int) -> bytes:
    """The picture in a palette of its own, which is a third of the bytes and looks the same."""
    from PIL import Image

    small = io.BytesIO()
    with Image.open(png) as picture:
        few = picture.convert("RGB").quantize(colors, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(small, "png", optimize=True)
    return small.getvalue()


def letter(panels: "Iterable[Axes]", titles: Iterable[str]) -> None:
    """(a), (b), … before the titles of panels."""
    for name, panel, title in zip(string.ascii_lowercase, panels, titles, strict=False):
        panel.set_title(f"({name}) {title}")


def note(figure: "Figure", text: str) -> None:
    """Under the whole figure: what it was made with, in as many lines as that takes."""
    fitting = textwrap.fill(text, int(NOTE_LETTERS * figure.get_size_inches()[0]))
    figure.supxlabel(fitting, fontsize=6.5, color=GRAY, x=0.5)


def color_bar(panel: "Axes") -> None:
    """What the colors of a panel's image stand for, at its side."""
    figure: Any = panel.figure
    bar = figure.colorbar(panel.images[0], ax=panel, fraction=0.046, pad=0.03)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=5.5, length=2, pad=1.5)
    bar.ax.locator_params(nbins=4)
    bar.ax.yaxis.get_offset_text().set_fontsize(5.5)
    bar.formatter.set_powerlimits((-2, 3))


def gray_legend(panel: "Axes", words: str) -> None:
    """What gray stands for, above the panel."""
    from matplotlib.patches import Patch

    panel.legend(handles=[Patch(color=EMPTY, label=words)], loc="lower right", bbox_to_anchor=(1.0, 0.99), borderpad=0)


def mark(panel: "Axes", place: int | float | None, name: str = "", side: str = "left") -> None:
    """A vertical line, its name above it to one side; nothing where there is no such place."""
    if place is None:
        return
    panel.axvline(place, color=GRAY, linewidth=0.7, linestyle=":")
    where: Any = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    offset = ({"left": 2, "right": -2}[side], 1)
    panel.annotate(name, (place, 1.0), offset, **where, fontsize=6, color=GRAY, ha=side, va="bottom")
