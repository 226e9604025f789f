"""A run from the form to the last panel, used as a person uses it."""

from pathlib import Path
from typing import Any

import playwright.sync_api as playwright

from modgrok.experiments import Store

expect = playwright.expect


def fill_small_run(page: Any) -> None:
    page.select_option("#preset", label="A small world")
    page.locator("#expert").evaluate("details => (details.open = true)")
    page.fill("#set-steps", "250")
    page.fill("#set-snapshots", "25")
    expect(page.locator("#estimate")).to_contain_text("About")


FIRST_NEURON = """async (canvas) => {
  const { planePlaces } = await import("lab/panels/plane.js");
  const { state } = await import("lab/store.js");
  const [, x, y] = planePlaces(state.frame, 0, canvas.clientWidth, canvas.clientHeight).places[0];
  return [x, y];
}"""


def test_train_scrub_look_inside_take_apart_share(
    open_lab: Any, settled: Any, runs: dict[str, str], tmp_path: Path, offline_window: Any
) -> None:
    page = open_lab()
    page.evaluate(
        "() => { window.said = []; new MutationObserver(() => window.said.push("
        "document.getElementById('run-status').textContent)).observe(document.getElementById('run-status'),"
        " { childList: true, subtree: true }); }"
    )

    # A broken expression is explained where it breaks.
    page.fill("#set-task", "n + * m")
    expect(page.locator("#mistake")).to_contain_text("Column 5")
    expect(page.locator("#train")).to_be_disabled()
    page.fill("#set-task", "n + m")
    expect(page.locator("#verdict")).to_contain_text("Closed forms")
    expect(page.locator("#mistake")).to_be_hidden()

    # Train until it groks.
    fill_small_run(page)
    page.click("#train")
    expect(page.locator("#times")).to_contain_text("grokked at step")
    expect(page.locator("#run-status.finished")).to_be_visible()
    expect(page.locator("#step")).to_have_text("step 250")
    expect(page.locator("html")).to_have_attribute("data-drawn", "250")
    trained = page.locator("#run-title").get_attribute("title").removeprefix("run ")
    assert not any("paused" in text for text in page.evaluate("window.said"))
    expect(page.locator("#notice")).to_be_hidden()

    # Scrub back: all panels follow.
    page.locator("#panels").focus()
    page.keyboard.press("Home")
    expect(page.locator("#step")).to_have_text("step 0")
    expect(page.locator("html")).to_have_attribute("data-drawn", "0")
    page.locator("#curves .chart").scroll_into_view_if_needed()
    box = page.locator("#curves .chart").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 30, box["y"] + 80, steps=4)
    page.mouse.up()
    expect(page.locator("#step")).not_to_have_text("step 0")
    page.keyboard.press("End")
    expect(page.locator("#step")).to_have_text("step 250")

    # Click a neuron.
    page.locator("#plane-canvas").scroll_into_view_if_needed()
    settled(page)
    x, y = page.locator("#plane-canvas").evaluate(FIRST_NEURON)
    page.locator("#plane-canvas").click(position={"x": x, "y": y})
    expect(page.locator("#neuron-detail")).to_contain_text("one wave explains")

    # Remove frequencies one after another: in the end the accuracy falls, and undoing brings it back.
    page.locator("#whatif").scroll_into_view_if_needed()
    changed = page.locator('#whatif-scores [data-key="test_accuracy"]')
    settled(page)
    before = changed.inner_text()
    strongest = page.locator(".ranking button").first
    for chips, pressed in ((1, "true"), (0, "false"), (1, "true")):  # removed, put back, removed
        strongest.click()
        expect(page.locator(".made .chip")).to_have_count(chips)
        expect(strongest).to_have_attribute("aria-pressed", pressed)
    page.fill("#keep-top", "1")
    page.press("#keep-top", "Enter")
    expect(changed).not_to_have_text(before)
    page.click("#undo-changes")
    expect(changed).to_have_text(before)

    # Every panel can be saved.
    for panel, formats in (("curves", ("SVG", "PNG", "CSV")), ("weights", ("PNG", "CSV")), ("whatif", ("SVG",))):
        for name in formats:
            page.locator(f"#{panel} .menu summary").click()
            with page.expect_download() as download:
                page.locator(f"#{panel} .menu button", has_text=name).click()
            assert download.value.suggested_filename.endswith(f"{panel}.{name.lower()}")
            assert Path(download.value.path()).stat().st_size > 100

    # Open a run that was in the store.
    page.click("#open-runs")
    page.locator(f'[data-run="{runs["product"]}"]').click()
    expect(page.locator("#run-title")).to_have_text("n·m mod 11")

    # The replay file plays from disk, without a network.
    page.click("#open-runs")
    page.fill("#runs input[type=search]", f"quadratic {trained}")
    expect(page.locator("#runs tbody tr")).to_have_count(1)
    page.locator("#runs tbody button").click()
    expect(page.locator("#run-title")).to_have_text("n + m mod 23")
    page.click("#open-share")
    expect(page.locator("#command")).to_contain_text("modgrok train n+m --modulus 23")
    with page.expect_download() as download:
        page.click("#save-replay")
    file = tmp_path / "replay.html"
    download.value.save_as(file)
    replays(offline_window, file)


def replays(window: Any, file: Path) -> None:
    """The file shows the run, scrubs it, and asks nobody for anything."""
    page = window.open(file.as_uri())
    expect(page.locator("#times")).to_contain_text("grokked at step")
    expect(page.locator("html")).to_have_attribute("data-drawn", "250")
    page.locator("#panels").focus()
    page.keyboard.press("Home")
    expect(page.locator("html")).to_have_attribute("data-drawn", "0")
    page.locator("#theory").scroll_into_view_if_needed()
    expect(page.locator("#theory-words")).to_contain_text("pairs right")
    assert page.locator("#train").count() == 0
    assert window.leave() == []
    assert window.hosts == set()


def test_a_run_is_forked_and_one_that_dies_says_so(open_lab: Any, many: Path, runs: dict[str, str]) -> None:
    run = runs["tiny"]
    page = open_lab(f"#run={run}&step=0")
    expect(page.locator("#step")).to_have_text("step 0")
    page.click("#fork-here")
    expect(page.locator("#fork")).to_contain_text(f"{run} at step 0")
    page.fill("#set-lr", "0.2")
    expect(page.locator("#estimate")).to_contain_text("About")
    page.click("#train")
    expect(page.locator("#run-title")).not_to_have_attribute("title", f"run {run}")
    expect(page.locator("#run-status.finished")).to_be_visible()
    assert f"{run}@0" in {r.experiment.parent for r in Store(many)}
    expect(page.locator("#times")).to_contain_text("Forked at step 0.")
    expect(page.locator("#curves .legend")).to_contain_text("before the fork")

    fill_small_run(page)
    page.fill("#set-lr", "1e9")
    page.select_option("#set-optimizer", "gd")
    expect(page.locator("#estimate")).to_contain_text("About")
    page.click("#train")
    expect(page.locator("#times")).to_contain_text("Diverged at step")
    expect(page.locator("#run-status")).to_contain_text("diverged")


def test_the_example_trains_after_a_bad_expression(open_lab: Any) -> None:
    page = open_lab()
    page.fill("#set-task", "n + * m")
    expect(page.locator("#train")).to_be_disabled()
    page.click("#first-run")
    expect(page.locator("#run-title")).to_have_text("n + m mod 59")
    expect(page.locator("#pause")).to_be_visible()
    page.click("#stop")
    expect(page.locator("#train")).to_be_visible()
