"""The story of one run as a page of its own: served first by the lab, or exported as one file that needs no server."""

import base64
import gzip
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.lab import assets
from modgrok.lab.frames import unpack

REPLAY = assets.FOLDER / "story" / "story.replay"
"""The run that the story stands on, made by `docs/story.py`."""


def load() -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of the shipped replay."""
    return unpack(gzip.decompress(REPLAY.read_bytes()))


def export(folder: Path) -> Path:
    """Writes the story into a folder as one HTML file, and returns its path."""
    head = "\n".join(
        [
            assets.bundle("story/main.js"),
            f'<script type="text/plain" id="story-replay">{base64.b64encode(REPLAY.read_bytes()).decode()}</script>',
        ]
    )
    path = folder / "index.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(assets.text("story.html").replace("<!-- head -->", head), encoding="utf-8")
    except OSError as error:
        raise ModgrokError(f"The story cannot be written to {path}: {error.strerror or error}.") from error
    return path
