"""The files of the page: served one by one, or bundled into one file."""

import base64
import json
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "static"
TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".replay": "application/octet-stream",
}
MODULES = "lab/"
"""Modules import each other as `lab/clock.js`; an import map says where that is, in the page and in a bundle."""
STYLES = ("base.css", "lab.css", "story.css")


@cache
def names() -> frozenset[str]:
    """All files of the page, relative to their folder; nothing else is ever served."""
    return frozenset(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.suffix in TYPES)


def text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def content(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


def modules(main: str) -> list[str]:
    """A JavaScript module and all that it imports, directly or not."""
    found, new = set(), [main]
    while new:
        found.add(name := new.pop())
        new += set(re.findall(f'^import .*"{MODULES}(.+)";', text(name), re.MULTILINE)) - found
    return sorted(found)


def page(name: str, main: str, nonce: str) -> str:
    """A page as the server delivers it: its HTML, and the module that runs it."""
    imports = json.dumps({"imports": {MODULES: "/static/"}})
    head = [f'<link rel="stylesheet" href="/static/{style}">' for style in STYLES]
    head += [
        f'<script type="importmap" nonce="{nonce}">{imports}</script>',
        f'<script type="module" src="/static/{main}"></script>',
    ]
    return text(name).replace("<!-- head -->", "\n".join(head))


def bundle(main: str) -> str:
    """Styles and modules for the head of a page that is one file."""
    urls = {f"{MODULES}{name}": _data_url(text(name)) for name in modules(main)}
    styles = "\n".join(text(style) for style in STYLES)
    parts = [
        f"<style>{styles}</style>",
        f'<script type="importmap">{json.dumps({"imports": urls})}</script>',
        f'<script type="module">import "{MODULES}{main}";</script>',
    ]
    return "\n".join(parts)


def _data_url(source: str) -> str:
    return "data:text/javascript;base64," + base64.b64encode(source.encode()).decode()
