"""The page as a whole: no wider than any screen, and legible to everyone."""

import re
from typing import Any

import playwright.sync_api as playwright
import pytest

expect = playwright.expect


LONG = "+".join(["n*m^2"] * 60)


def test_no_width_and_no_zoom_makes_it_wider_than_the_screen(
    open_lab: Any, settled: Any, fits: Any, runs: dict[str, str]
) -> None:
    page = open_lab(f"#run={runs['long']}", 390, theme="dark")
    expect(page.locator("#run-title")).to_contain_text("mod 13")
    assert fits(page)
    page.click("#toggle-controls")
    page.fill("#set-task", LONG)
    settled(page)
    expect(page.locator("#estimate")).to_contain_text("About")
    for width in (390, 619, 640, 820, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 400 if width == 640 else 800})
        page.wait_for_function("width => innerWidth === width", arg=width)
        settled(page)
        assert fits(page), width
        page.locator("#clock").scroll_into_view_if_needed()
        expect(page.locator("#play")).to_be_visible()
        for cursor in page.locator(".chart .cursor").all():
            chart = cursor.locator("xpath=..")
            assert chart.evaluate("chart => getComputedStyle(chart).overflow") == "hidden"


@pytest.mark.parametrize(("width", "name"), [(390, "transformer"), (1280, "small"), (1920, "vectors")])
def test_it_can_be_read_by_everyone(
    open_lab: Any, settled: Any, fits: Any, runs: dict[str, str], width: int, name: str, accessibility: Any
) -> None:
    page = open_lab(f"#run={runs[name]}&neuron=3&compare={runs['seed1']}", width, theme="light")
    expect(page.locator("html")).to_have_attribute("data-drawn", re.compile(r"\d+"))
    page.locator("#expert").evaluate("details => (details.open = true)")
    for theme in ("light", "dark"):
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        settled(page)
        assert fits(page)
        assert accessibility(page) == []
        page.click("#theme")
    if width == 1280:
        page.click("#open-runs")
        expect(page.locator("#runs")).to_be_visible()
        assert accessibility(page) == []
