"""One browser, one window and one lab for all tests of the page; none finds what another has kept, or leaves a run
training.

They wait for what the page announces (see pending.js), never for a time.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import playwright.sync_api as playwright
import pytest

from modgrok.experiments import Run, Store

AXE = Path(__file__).parents[3] / ".axe" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 120_000
"""Milliseconds after which a state that never came is a failure, however busy the machine."""
IDLE = "import('lab/source.js').then(({ source }) => source.state()).then(({ training }) => training.status === 'idle')"
expect = playwright.expect
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests; under CI its absence is a failure."""
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("The browser tests need Chromium on PATH.")
        pytest.skip("Chromium is not on PATH.")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Watched:
    """A page whose mistakes and requests are remembered."""

    def __init__(self, context: Any) -> None:
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.problems: list[str] = []
        self.hosts: set[str] = set()
        self.page.on("console", lambda m: self.problems.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", self._request)

    def _request(self, request: Any) -> None:
        found = re.match(r"(\w+):(?://([^/:]*))?", request.url)
        assert found
        if found[1] not in ("data", "blob", "file", "about"):
            self.hosts.add(found[2])


class Window(Watched):
    """One page for many tests, which takes half the work of a new one for each."""

    def open(
        self, address: str, width: int = 1280, height: int = 800, theme: str = "light", motion: str = "no-preference"
    ) -> Any:
        """Goes to a place as a visitor who has never been there."""
        self.page.mouse.move(0, 0)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme=theme, reduced_motion=motion)
        self.page.goto(address)
        return self.page

    def leave(self) -> list[str]:
        """Forgets what the place keeps; the mistakes that it made."""
        self.page.unroute_all(behavior="wait")
        self.page.evaluate("localStorage.clear(), sessionStorage.clear()")
        self.page.goto("about:blank")
        problems, self.problems = self.problems, []
        return problems


@pytest.fixture(scope="session")
def watch() -> type[Watched]:
    """Makes watched pages in a context."""
    return Watched


@pytest.fixture(scope="session")
def window(chromium: Any) -> Iterator[Window]:
    context = chromium.new_context()
    yield Window(context)
    context.close()


@pytest.fixture(scope="session")
def offline_window(chromium: Any) -> Iterator[Window]:
    context = chromium.new_context(offline=True)
    yield Window(context)
    context.close()


@pytest.fixture(scope="session")
def accessibility() -> Callable[[Any], list[str]]:
    """Runs axe-core on a page and returns its violations; `make test` fetches axe-core with npm."""
    if not AXE.exists():
        if os.environ.get("CI"):
            pytest.fail("The accessibility tests need axe-core: make axe, which needs npm.")
        return lambda page: pytest.skip("axe-core is missing: `make axe` fetches it with npm.")
    source = AXE.read_text()

    def violations(page: Any) -> list[str]:
        page.evaluate(source)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]}" for v in found]

    return violations


@pytest.fixture(scope="session")
def lab(many: Path, start_lab: Any) -> Iterator[Any]:
    """One lab for all tests that do not end it; its store has a sweep."""
    product = next(run.id for run in Store(many) if run.experiment.task == "n*m" and run.experiment.width == 24)
    table = many / "sweeps" / "abc" / "table.csv"
    table.parent.mkdir(parents=True)
    rows = [f"n*m,0.5,{product},finished,20", f"n*m,0.6,{product},finished,"]
    table.write_text("\n".join(["task,fraction,run,status,grokked_at", *rows, ""]))
    lab = start_lab(many)
    yield lab
    lab.close()


@pytest.fixture(scope="session")
def runs(many: Path, kinds: dict[str, Run]) -> dict[str, str]:
    """Runs by what they are."""
    found = {name: run.id for name, run in kinds.items()}
    for run in Store(many):
        e = run.experiment
        if run.id in found.values():
            continue
        if e.modulus == 7:
            found["small"] = run.id
            continue
        name = {"n*m": "product", "n+m": "tiny" if e.seed == 0 else f"seed{e.seed}"}.get(e.task, "long")
        found[name] = run.id
    return found


@pytest.fixture(scope="session")
def settled() -> Callable[[Any], None]:
    """Waits until nothing is under way on a page."""

    def settled(page: Any) -> None:
        expect(page.locator("html")).to_have_attribute("data-pending", "0")

    return settled


@pytest.fixture(scope="session")
def fits() -> Callable[[Any], bool]:
    """Whether a page is no wider than its window."""
    return lambda page: page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture(scope="session")
def blank_on_paper() -> Callable[[Any], list[str]]:
    """Prints a page, and returns the pictures on it on which nothing is drawn."""

    def blank(page: Any) -> list[str]:
        assert page.pdf().startswith(b"%PDF")
        page.emulate_media(media="print")
        found = page.evaluate(
            """() => [...document.querySelectorAll("canvas")]
              .filter((canvas) => canvas.checkVisibility())
              .filter((canvas) => {
                const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                return !data.some(Boolean);
              })
              .map((canvas) => canvas.closest("section").id + ": " + (canvas.ariaLabel ?? canvas.className))"""
        )
        page.emulate_media(media="null")
        return found

    return blank


@pytest.fixture
def open_lab(window: Window, lab: Any, settled: Any) -> Iterator[Any]:
    """Opens the lab's page at a place, and returns it when nothing is under way; its mistakes fail the test."""
    expected = []

    def opening(
        place: str = "",
        width: int = 1280,
        height: int = 800,
        refused: bool = False,
        theme: str = "light",
        motion: str = "no-preference",
    ) -> Any:
        expected.extend(["422"] if refused else [])
        address = f"http://127.0.0.1:{lab.port}/lab?token={lab.token}{place}"
        page = window.open(address, width, height, theme, motion)
        settled(page)
        return page

    yield opening
    window.page.evaluate("import('lab/source.js').then(({ source }) => source.stop())")
    window.page.wait_for_function(IDLE)
    assert [text for text in window.leave() if not any(code in text for code in expected)] == []
    assert window.hosts <= {"127.0.0.1"}
