"""Draws the story's pictures in `docs/images` anew, from the story as it is exported.

    python docs/pictures.py

Needs Chromium on PATH and Playwright.
"""

import shutil
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from modgrok.lab import story

IMAGES = Path(__file__).parent / "images"
PICTURES = {
    "story": ("watch", 795),
    "story-eraser": ("eraser", 452),
    "story-phases": ("phases", 1000),
}
"""By file: the scene, and where on its time line, in thousandths."""
COLORS = 64


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        address = story.export(Path(folder)).as_uri()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1120, "height": 720}, reduced_motion="reduce")
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        page.click('[data-guess="all"]')
        page.get_by_role("button", name="Hold").click()
        for name, (scene, time) in PICTURES.items():
            _draw(page, scene, time, IMAGES / f"{name}.png")
        browser.close()


def _draw(page: Any, scene: str, time: int, path: Path) -> None:
    page.locator(f"#{scene}").evaluate("scene => scene.scrollIntoView()")
    slider = page.locator(f"#{scene} .timeline input")
    slider.fill(str(time))
    slider.blur()
    page.wait_for_timeout(300)  # Scenes are drawn once they are in sight.
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
