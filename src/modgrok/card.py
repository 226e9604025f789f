"""How a value looks in a notebook: a small picture beside its key numbers, as one piece of HTML without scripts."""

import base64
import colorsys
import html
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from modgrok.palette import EMPTY, TEST, TRAIN
from modgrok.shapes import Float, Int
from modgrok.text import NONE

SIDE = 96
"""Pixels of a picture."""
MOST_ROWS = 20


def card(caption: str, rows: Mapping[str, Any], picture: str = "") -> str:
    """A table of two columns, the picture to its left."""
    cells = "".join(
        f'<tr><th style="text-align:left">{html.escape(name)}</th>'
        f'<td style="text-align:left">{html.escape(NONE if value is None else str(value))}</td></tr>'
        for name, value in rows.items()
    )
    numbers = f'<table><caption style="text-align:left"><b>{html.escape(caption)}</b></caption>{cells}</table>'
    return f'<div style="display:flex;gap:1em;align-items:center">{picture}{numbers}</div>'


def grid(columns: Sequence[str], rows: Sequence[Sequence[Any]], total: int) -> str:
    """The first rows of a table, and how many there are."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(NONE if x is None else str(x))}</td>" for x in row) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = f"<p>{total} rows, the first {MOST_ROWS} shown</p>" if total > MOST_ROWS else ""
    return f"<table><tr>{head}</tr>{body}</table>{more}"


def table_picture(table: Int[np.ndarray, "n m"], answers: int) -> str:
    """A table of answers, the hue for the answer, gray where an input does not occur."""
    from PIL import Image

    stride = -(-max(table.shape) // 256)
    small = table[::stride, ::stride]
    hues = small * 255 // answers
    pixels = np.where(small < 0, 255, hues).astype(np.uint8)
    wheel = [colorsys.hsv_to_rgb(i / 255, 0.75, 0.95) for i in range(255)]
    palette = bytes(round(255 * part) for color in wheel for part in color) + bytes.fromhex(EMPTY[1:])
    drawn = io.BytesIO()
    picture = Image.fromarray(pixels)
    picture.putpalette(palette)
    picture.save(drawn, "png")
    style = f"width:{SIDE}px;height:{SIDE}px;image-rendering:pixelated"
    data = base64.b64encode(drawn.getvalue()).decode()
    return f'<img alt="table of answers" style="{style}" src="data:image/png;base64,{data}">'


def curves_picture(train: Float[np.ndarray, "t"], test: Float[np.ndarray, "t"]) -> str:
    """Two accuracies over the evaluations of a run."""
    lines = []
    for curve, color in ((train, TRAIN), (test, TEST)):
        known = np.flatnonzero(np.isfinite(curve))
        x = (SIDE - 4) * known / max(1, len(curve) - 1) + 2
        points = " ".join(f"{a:.1f},{(SIDE - 4) * (1 - b) + 2:.1f}" for a, b in zip(x, curve[known], strict=True))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
    return f'<svg width="{SIDE}" height="{SIDE}" role="img" aria-label="accuracies">{"".join(lines)}</svg>'
