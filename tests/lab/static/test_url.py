"""The view in the address: reloads, second tabs, links, and nothing written over."""

import re
from typing import Any

import playwright.sync_api as playwright

expect = playwright.expect


def test_a_reload_and_a_second_tab_show_the_same(open_lab: Any, lab: Any, runs: dict[str, str]) -> None:
    run, other = runs["tiny"], runs["product"]
    page = open_lab()
    page.goto(f"http://127.0.0.1:{lab.port}/#run={run}&step=0&time=linear&table=margin&cell=3,4&compare={other}")
    page.reload()
    page.wait_for_url(re.compile("/lab#"))
    expect(page.locator("#curves .legend")).to_contain_text("n·m")
    expect(page.locator("#step")).to_have_text("step 0")
    expect(page.locator('.choice [data-value="margin"]')).to_have_attribute("aria-pressed", "true")
    page.locator("#answers").scroll_into_view_if_needed()
    expect(page.locator("#answers .sentence")).to_contain_text("(3, 4): the answer is 7")
    second = page.context.new_page()
    second.goto(page.url)
    expect(second.locator("#step")).to_have_text("step 0")
    second.close()
    page.click("#theme")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator("#sweep").scroll_into_view_if_needed()
    expect(page.locator("#sweep-map thead")).to_contain_text("fraction")
    expect(page.locator("#sweep select[aria-label=Outcome]")).to_have_value("grokked_at")
    page.locator("#sweep-map td button").first.click()
    expect(page.locator("#run-title")).to_have_text("n·m mod 11")


def test_a_link_pasted_into_the_open_tab_is_followed(open_lab: Any, settled: Any, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['product']}")
    expect(page.locator("#run-title")).to_have_text("n·m mod 11")
    page.evaluate(f"location.hash = 'run={runs['tiny']}&step=0&table=margin'")
    expect(page.locator("#run-title")).to_have_text("n + m mod 13")
    expect(page.locator("#step")).to_have_text("step 0")
    expect(page.locator('.choice [data-value="margin"]')).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#set-task")).to_have_value("n+m")
    settled(page)
    assert page.url.endswith(f"#run={runs['tiny']}&step=0&table=margin")
    page.evaluate(f"history.replaceState(null, '', '#run={runs['product']}')")
    page.reload()  # The form says what it said; a link that is followed fills it.
    expect(page.locator("#run-title")).to_have_text("n·m mod 11")
    expect(page.locator("#set-task")).to_have_value("n+m")


def test_an_address_that_somebody_else_wrote_is_not_written_over(
    open_lab: Any, settled: Any, runs: dict[str, str]
) -> None:
    page = open_lab(f"#run={runs['tiny']}")
    foreign = f"#run={runs['product']}"
    page.evaluate(
        """async (foreign) => {
          (await import("lab/store.js")).setView({ cell: [3, 4] });
          history.replaceState(null, "", foreign);
        }""",
        foreign,
    )
    settled(page)
    assert page.url.endswith(foreign)


def test_the_clock_bar_and_the_address_tell_of_changes(open_lab: Any, settled: Any, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['tiny']}", refused=True)
    expect(page.locator("html")).to_have_attribute("data-drawn", "30")
    page.locator("#whatif").scroll_into_view_if_needed()
    changed = page.locator('#whatif-scores [data-key="test_accuracy"]')
    settled(page)
    before = changed.inner_text()
    page.fill("#keep-top", "1")
    page.press("#keep-top", "Enter")
    expect(page.locator(".made .chip")).to_have_count(1)
    expect(changed).not_to_have_text(before)
    settled(page)
    expect(page.locator("#clock .test")).to_contain_text(changed.inner_text())
    page.fill("#ablate-frequency", "999")
    page.press("#ablate-frequency", "Enter")
    expect(page.locator("#notice")).to_contain_text("999")
    expect(page.locator(".made .chip")).to_have_count(1)
    settled(page)
    assert "999" not in page.url
    assert "changes=top" in page.url
    page.click("#undo-changes")
    expect(page.locator("#clock .test")).to_contain_text(before)
