"""The story of one run as a page of its own: served first by the lab, or exported as one file that needs no server."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.disk import write_bytes
from modgrok.lab import assets
from modgrok.lab.frames import unpack

REPLAY = assets.FOLDER / "story" / "story.replay"
"""The run that the story stands on, made by `docs/story.py`."""


def load() -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of the shipped replay."""
    return unpack(gzip.decompress(REPLAY.read_bytes()))


def export(folder: Path) -> Path:
    """Writes the story into a folder as one HTML file, and returns its path."""
    path, run = folder / "index.html", assets.base64_of(REPLAY.read_bytes())
    data = f'<script type="text/plain" id="story-replay">{run}</script>'
    write_bytes(path, assets.one_file("story.html", "story/main.js", data).encode())
    return path
