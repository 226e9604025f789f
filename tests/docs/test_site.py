"""The site builds without a warning, every link in it leads somewhere, and nothing in it is fetched from elsewhere."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.skipif(
    not all(map(find_spec, ("mkdocs", "ziamath"))), reason="the extra docs is not installed"
)

ROOT = Path(__file__).parents[2]
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src"}


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.followed: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids |= {name for name in (found.get("id"), found.get("name")) if name}
        if tag == "a" and found.get("href"):
            self.followed.append(str(found["href"]))
        if tag in LOADED and found.get(LOADED[tag]) and found.get("rel") != "canonical":
            self.loaded.append(str(found[LOADED[tag]]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    usual = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"}
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", out]
    ran = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, env=usual)
    assert (ran.returncode, ran.stderr) == (0, "")
    return out


def parsed(page: Path) -> Links:
    links = Links()
    links.feed(page.read_text())
    return links


def test_links_lead_somewhere(site: Path) -> None:
    pages = {page: parsed(page) for page in site.rglob("*.html") if page.name != "404.html"}
    assert len(pages) > 25
    for page, links in pages.items():
        for target in links.followed + links.loaded:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https", "data", "mailto"):
                continue
            there = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert there.exists(), f"{page.relative_to(site)} links to {target}"
            if parts.fragment and there.suffix == ".html":
                known = pages[there].ids | {"__skip"}
                assert unquote(parts.fragment) in known, f"{page.relative_to(site)} links to {target}"


def test_nothing_is_fetched(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert not [url for url in parsed(page).loaded if urlsplit(url).scheme in ("http", "https")], page
    assert "http" not in (site / "site.css").read_text()


def test_formulas_are_typeset(site: Path) -> None:
    theory = (site / "theory.html").read_text()
    assert theory.count("<math ") > 100
    assert "arithmatex" not in theory
    for page in site.rglob("*.html"):
        assert not re.search(r"<m[ion]>[^<]*\$", page.read_text()), f"{page.relative_to(site)} shows TeX"
    settings = (site / "reference" / "settings.html").read_text()
    assert "weight_decay" in settings


def test_the_reference_lists_flags_and_settings(site: Path) -> None:
    commands = (site / "reference" / "commands.html").read_text()
    for command in ("train", "runs pack", "sweep show"):
        assert f">modgrok {command}<" in commands
    assert commands.count("--weight-decay") >= 4
    assert (site / "reference" / "api.html").read_text().count("All settings as keywords") == 4


def test_the_lab_is_in_the_navigation_and_search_hides_where_it_cannot_work(site: Path) -> None:
    page = (site / "index.html").read_text()
    assert 'href="lab.html"' in page
    assert 'src="from_disk.js"' in page
    assert "[data-md-copying] .gp" in (site / "site.css").read_text()  # A copied command has no prompt.
