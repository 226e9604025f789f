"""Keys and menus."""

from typing import Any

import playwright.sync_api as playwright

expect = playwright.expect


def test_keys_and_menus(open_lab: Any, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['tiny']}")
    expect(page.locator("#step")).to_have_text("step 30")
    page.focus("#scrubber")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#step")).not_to_have_text("step 30")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#step")).to_have_text("step 30")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("play or pause")
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    menu = page.locator("#curves .menu")
    for close in (lambda: page.keyboard.press("Escape"), lambda: page.mouse.click(5, 400)):
        menu.locator("summary").click()
        expect(menu.locator("button", has_text="PNG")).to_be_visible()
        close()
        expect(menu.locator("button", has_text="PNG")).to_be_hidden()
    page.keyboard.press("Home")
    page.locator("#panels").focus()
    page.keyboard.press("Space")
    expect(page.locator("#step")).to_have_text("step 30")
    expect(page.locator("#play")).to_have_attribute("aria-label", "Play")
