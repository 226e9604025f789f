"""The server seen from the page: lost, restarted, and training resumed."""

from typing import Any

import playwright.sync_api as playwright

from modgrok.experiments import Store

expect = playwright.expect


def test_a_page_outlives_its_server_and_training_resumes(
    chromium: Any, store: Store, lab_process: Any, watch: Any, settled: Any
) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page = watch(context).page
    first = lab_process(store.folder)
    page.goto(first.url)
    expect(page.locator("html")).to_have_attribute("data-ready", "true")
    page.goto(f"http://127.0.0.1:{first.port}/lab")
    page.select_option("#preset", label="A small world")
    page.locator("#expert").evaluate("details => (details.open = true)")
    page.fill("#set-steps", "1000000")
    page.fill("#set-snapshots", "10")
    settled(page)
    page.click("#train")
    expect(page.locator("#run-status.busy")).to_contain_text("training")
    expect(page.locator("#step")).not_to_have_text("step 0")
    run = next(r for r in store if r.experiment.steps == 1_000_000)
    assert first.close()[0] == 130
    checkpoint = run.read_checkpoint()
    assert run.result is None
    assert checkpoint is not None
    assert checkpoint[0] > 0
    expect(page.locator("#notice")).to_contain_text("lost")

    second = lab_process(store.folder, first.port)
    expect(page.locator("#notice")).to_contain_text("has been restarted")
    tab = context.new_page()
    tab.goto(second.url)
    expect(page.locator("#notice")).to_be_hidden()
    expect(page.locator("#resume")).to_be_visible()
    page.click("#resume")
    expect(page.locator("#run-status.busy")).to_contain_text("training")
    page.click("#pause")
    expect(page.locator("#resume")).to_be_visible()
    resumed = run.read_checkpoint()
    assert resumed is not None
    assert resumed[0] >= checkpoint[0]
    context.close()
    assert second.close()[0] == 130
