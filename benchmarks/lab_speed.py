"""How fast the page is: first motion of the story, training the default, scrubbing idle and while a run trains.

    python benchmarks/lab_speed.py > benchmarks/results/lab_speed.txt

Needs Chromium on PATH and Playwright. The store is fresh, so that nothing comes from an earlier run.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import expect, sync_playwright

from modgrok.lab import assets, story

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
MOVED = (
    "const wait = () => Number(document.getElementById('watch')?.dataset.drawn ?? 0) >= 3"
    " ? (window.moved = performance.now()) : requestAnimationFrame(wait); requestAnimationFrame(wait);"
)
SCRUB = """async () => {
  const slider = document.getElementById("scrubber");
  const seen = [];
  for (let i = 0; i < 12; i++) {
    slider.value = (i % 2 ? 300 : 1000) + 31 * i;
    const before = document.documentElement.dataset.drawn;
    const began = performance.now();
    slider.dispatchEvent(new Event("input"));
    while (document.documentElement.dataset.drawn === before && performance.now() - began < 5000) {
      await new Promise((next) => setTimeout(next, 2));
    }
    seen.push(performance.now() - began);
  }
  return seen.sort((a, b) => a - b);
}"""


def main() -> None:
    print("The lab's page on this machine: python benchmarks/lab_speed.py")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        _weigh(Path(folder))
        _watch_story(browser, Path(folder))
        command = [sys.executable, "-m", "modgrok", "lab", "--no-browser", "--port", "0", "--store", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as lab:
            try:
                _train(browser, lab)
            finally:
                lab.terminate()


def _weigh(folder: Path) -> None:
    page = sum(len(assets.content(name)) for name in assets.names())
    exported = story.export(folder / "story").stat().st_size
    print(f"bytes of all files of the page: {page}; of the exported story: {exported}")


def _watch_story(browser: Any, folder: Path) -> None:
    times = []
    for _ in range(5):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script(MOVED)
        page.goto((folder / "story" / "index.html").as_uri())
        page.wait_for_function("window.moved")
        times.append(page.evaluate("window.moved"))
        page.close()
    print(f"milliseconds from opening the story to its motion, best and worst of 5: {min(times):.0f}, {max(times):.0f}")


def _train(browser: Any, lab: subprocess.Popen[str]) -> None:
    assert lab.stdout is not None
    address = next(found[0] for line in lab.stdout if (found := re.search(r"http://\S+", line)))
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address)
    page.wait_for_url(re.compile(r"/$"))
    page.goto(f"{address.split('?')[0]}lab")
    expect(page.locator("#train")).to_be_enabled()
    began = time.perf_counter()
    page.click("#train")
    expect(page.locator("#times")).to_contain_text("Memorized", timeout=120_000)
    expect(page.locator("#times")).to_contain_text("grokked at step", timeout=240_000)
    print(
        f"seconds from Train to the grokking step on the page, compilation included: {time.perf_counter() - began:.1f}"
    )
    expect(page.locator("#run-status.finished")).to_be_visible(timeout=240_000)
    _scrub(page, "nothing trains")
    page.locator("#expert").evaluate("details => (details.open = true)")
    page.fill("#set-steps", "200000")
    expect(page.locator("#estimate")).to_contain_text("min")
    page.click("#train")
    expect(page.locator("#run-status.busy")).to_contain_text("training", timeout=60_000)
    expect(page.locator("#step")).to_contain_text(re.compile(r"\d{3,}"), timeout=60_000)
    _scrub(page, "a run trains")


def _scrub(page: Any, when: str) -> None:
    times = page.evaluate(SCRUB)
    print(
        f"milliseconds from a move of the slider to the picture while {when}, median and worst of 12: "
        f"{times[len(times) // 2]:.0f}, {times[-1]:.0f}"
    )


if __name__ == "__main__":
    main()
