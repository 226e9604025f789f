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


def one_file(name: str, main: str, *data: str) -> str:
    """A page that works without a server: its HTML, with styles, modules and data in its head."""
    urls = {f"{MODULES}{part}": f"data:text/javascript;base64,{base64_of(content(part))}" for part in modules(main)}
    styles = "\n".join(text(style) for style in STYLES)
    head = [
        f"<style>{styles}</style>",
        f'<script type="importmap">{json.dumps({"imports": urls})}</script>',
        f'<script type="module">import "{MODULES}{main}";</script>',
    ]
    return text(name).replace("<!-- head -->", "\n".join([*head, *data]))


def base64_of(content: bytes) -> str:
    """Bytes as a text for a page."""
    return base64.b64encode(content).decode()
