"""The files of the page: our own, and the plotly.js that the installed plotly carries."""

import importlib.util
import json
from functools import cache
from pathlib import Path

from modgrok.errors import ModgrokError

FOLDER = Path(__file__).parent / "static"
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
MODULES = "lab/"
"""Modules import each other as `lab/clock.js`; an import map says where that is, in the page and in a replay file."""


@cache
def names() -> frozenset[str]:
    """All files of the page, relative to their folder; nothing else is ever served."""
    return frozenset(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.suffix in TYPES)


def text(name: str) -> str:
    return (FOLDER / name).read_text()


@cache
def plotly_path() -> Path:
    """Where plotly.js lies, found without importing plotly."""
    spec = importlib.util.find_spec("plotly")
    path = Path(spec.origin).parent / "package_data" / "plotly.min.js" if spec and spec.origin else None
    if path is None or not path.exists():
        raise ModgrokError(
            "The charts are drawn by the plotly.js inside the package plotly; install it with pip install plotly."
        )
    return path


def modules() -> list[str]:
    """The names of all JavaScript modules."""
    return sorted(name for name in names() if name.endswith(".js"))


def page(nonce: str) -> str:
    """The page as the server delivers it."""
    imports = json.dumps({"imports": {MODULES: "/static/"}})
    head = (
        '<link rel="stylesheet" href="/static/lab.css">\n'
        f'<script type="importmap" nonce="{nonce}">{imports}</script>\n'
        '<script src="/static/plotly.min.js" defer></script>\n'
        '<script type="module" src="/static/main.js"></script>'
    )
    return text("index.html").replace("<!-- head -->", head)
