"""The guided tour."""

from pathlib import Path
from typing import Any

import playwright.sync_api as playwright

from modgrok.experiments import Store

expect = playwright.expect


BESIDE = """panel => {
  const [words, shown] = ["tour", panel].map((id) => document.getElementById(id).getBoundingClientRect());
  return words.left >= shown.right && shown.top - 40 < words.top && words.top < shown.bottom;
}"""


def test_the_tour_acts_and_says_what_is_so(
    open_lab: Any, settled: Any, fits: Any, many: Path, runs: dict[str, str]
) -> None:
    page = open_lab(f"#run={runs['tiny']}", motion="reduce")
    run = Store(many).find(runs["tiny"])
    history = run.history
    page.click("#open-tour")
    tour, nextly = page.locator("#tour"), page.locator("#tour .primary")

    def beside(panel: str) -> Any:
        """The tour, which stands beside that panel, top beside top."""
        expect(page.locator(f"#{panel}.toured")).to_be_visible()
        page.wait_for_function(BESIDE, arg=panel)
        return tour

    expect(beside("answers")).to_contain_text(f"{100 * history['test_accuracy'][0]:.1f}")
    expect(page.locator("#step")).to_have_text("step 0")
    nextly.click()
    result = run.result
    assert result is not None
    expect(tour).to_contain_text(f"By step {result['memorized_at']} it knows")
    nextly.click()
    expect(beside("curves")).to_contain_text("What will become")
    tour.get_by_text("They stay wrong").click()
    expect(tour).to_contain_text(f"at step {result['grokked_at']}")
    nextly.click()
    expect(beside("circle")).to_contain_text("spread is now")
    nextly.click()
    expect(beside("weights")).to_contain_text("of 64 neurons")
    expect(page.locator("#step")).to_have_text("step 30")
    expect(page.locator("#play")).to_have_attribute("aria-label", "Play")
    nextly.click()
    expect(beside("whatif")).to_contain_text("is the strongest")
    tour.get_by_text("Hardly any").click()
    expect(page.locator(".made .chip")).to_have_count(1)
    expect(tour).to_contain_text("before,")
    settled(page)
    now = page.locator('#whatif-scores [data-key="test_accuracy"]').inner_text()
    expect(tour).to_contain_text(f"{now} now")
    nextly.click()
    expect(page.locator(".made .chip")).to_have_count(0)
    expect(beside("theory")).to_contain_text("written down")
    nextly.click()
    expect(tour).to_contain_text("Train it")
    page.keyboard.press("Escape")
    expect(tour).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 800})
    page.click("#open-tour")
    expect(page.locator("#answers #tour")).to_be_visible()
    settled(page)
    assert fits(page)
