"""How long the lab takes from pressing Train to the grokking jump on screen, compilation included.

    python benchmarks/lab_speed.py [--times 3] > benchmarks/results/lab_speed.txt

The first preset: AdamW, p = 97, N = 500. Needs Chromium on PATH and Playwright. Every time has a fresh store, so that
nothing comes from an earlier run.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time

from playwright.sync_api import expect, sync_playwright

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def main() -> None:
    times = int(sys.argv[2]) if sys.argv[1:2] == ["--times"] else 3
    print("seconds from Train to the grokking step on the page, compilation included: python benchmarks/lab_speed.py")
    for _ in range(times):
        with tempfile.TemporaryDirectory() as store:
            command = [shutil.which("modgrok") or "modgrok", "lab", "--no-browser", "--port", "0", "--store", store]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as lab:
                try:
                    print(f"{_measure(lab):.1f}", flush=True)
                finally:
                    lab.terminate()


def _measure(lab: subprocess.Popen[str]) -> float:
    assert lab.stdout is not None
    address = next(found[0] for line in lab.stdout if (found := re.search(r"http://\S+", line)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(address)
        expect(page.locator("#train")).to_be_enabled()
        began = time.perf_counter()
        page.click("#train")
        expect(page.locator("#times")).to_contain_text("grokked at step", timeout=120_000)
        return time.perf_counter() - began


if __name__ == "__main__":
    main()
