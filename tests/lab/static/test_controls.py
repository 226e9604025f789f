"""The page in a real Chromium, used as a person uses it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import playwright.sync_api as playwright
import pytest

from modgrok.experiments import Store

expect = playwright.expect

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def watched(chromium: Any, lab: Any, watch: Any) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    found = watch(context)
    yield found
    context.close()
    assert found.problems == []
    assert found.hosts <= {"127.0.0.1"}


def open_lab(page: Any, lab: Any, place: str = "") -> None:
    page.goto(lab.url)
    page.wait_for_url(re.compile(r"/$"))
    page.goto(f"http://127.0.0.1:{lab.port}/lab{place}")


def fill_small_run(page: Any) -> None:
    page.select_option("#preset", label="A small world")
    page.locator("#expert").evaluate("details => (details.open = true)")
    page.fill("#set-steps", "250")
    page.fill("#set-snapshots", "25")
    expect(page.locator("#estimate")).to_contain_text("About")


def test_train_scrub_look_inside_take_apart_share(
    watched: Any, lab: Any, tmp_path: Path, chromium: Any, watch: Any
) -> None:
    page = watched.page
    open_lab(page, lab)
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
    expect(page.locator("#times")).to_contain_text("grokked at step", timeout=60_000)
    expect(page.locator("#run-status.finished")).to_be_visible(timeout=60_000)
    expect(page.locator("#step")).to_have_text("step 250")
    expect(page.locator("html")).to_have_attribute("data-drawn", "250")
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
    found = 0
    box = page.locator("#plane-canvas").bounding_box()
    for x in range(60, int(box["width"]) - 20, 24):
        page.locator("#plane-canvas").click(position={"x": x, "y": box["height"] / 2})
        found = page.locator("#neuron-detail").is_visible()
        if found:
            break
    assert found
    expect(page.locator("#neuron-detail")).to_contain_text("one wave explains")

    # Remove frequencies one after another: in the end the accuracy falls, and undoing brings it back.
    page.locator("#whatif").scroll_into_view_if_needed()
    changed = page.locator('#whatif-scores [data-key="test_accuracy"]')
    before = changed.inner_text()
    page.locator(".ranking button").first.click()
    expect(page.locator(".made .chip")).to_have_count(1)
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
    expect(page.locator("#runs tbody tr")).to_have_count(3)
    page.locator("#runs tr", has_text="n·m").locator("button").click()
    expect(page.locator("#run-title")).to_have_text("n·m mod 11")

    # The replay file plays from disk, without a network.
    page.click("#open-runs")
    page.fill("#runs input[type=search]", "128")
    page.locator("#runs tbody button").first.click()
    expect(page.locator("#run-title")).to_have_text("n + m mod 23")
    page.click("#open-share")
    expect(page.locator("#command")).to_contain_text("modgrok train n+m --modulus 23")
    with page.expect_download() as download:
        page.click("#save-replay")
    file = tmp_path / "replay.html"
    download.value.save_as(file)
    replays(chromium, watch, file)


def replays(chromium: Any, watch: Any, file: Path) -> None:
    """The file shows the run, scrubs it, and asks nobody for anything."""
    context = chromium.new_context(offline=True)
    watched = watch(context)
    page = watched.page
    page.goto(file.as_uri())
    expect(page.locator("#times")).to_contain_text("grokked at step")
    expect(page.locator("html")).to_have_attribute("data-drawn", "250")
    page.locator("#panels").focus()
    page.keyboard.press("Home")
    expect(page.locator("html")).to_have_attribute("data-drawn", "0")
    page.locator("#theory").scroll_into_view_if_needed()
    expect(page.locator("#theory-words")).to_contain_text("pairs right")
    assert page.locator("#train").count() == 0
    context.close()
    assert watched.problems == []
    assert watched.hosts == set()


def test_a_reload_and_a_second_tab_show_the_same(watched: Any, lab: Any, store: Store) -> None:
    page = watched.page
    run, other = sorted((r.id for r in store), key=lambda name: not store.find(name).snapshots)
    table = store.folder / "sweeps" / "abc" / "table.csv"
    table.parent.mkdir(parents=True)
    table.write_text(f"task,fraction,run,status,grokked_at\nn*m,0.5,{other},finished,20\nn*m,0.6,{other},finished,\n")
    open_lab(page, lab)
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


def test_a_page_outlives_its_server_and_training_resumes(
    chromium: Any, store: Store, lab_process: Any, watch: Any
) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page = watch(context).page
    first = lab_process(store.folder)
    open_lab(page, first)
    fill_small_run(page)
    page.fill("#set-steps", "1000000")
    page.fill("#set-snapshots", "10")
    expect(page.locator("#estimate")).to_contain_text("min")
    page.click("#train")
    expect(page.locator("#run-status.busy")).to_contain_text("training", timeout=60_000)
    expect(page.locator("#step")).not_to_have_text("step 0", timeout=30_000)
    run = next(r for r in store if r.experiment.steps == 1_000_000)
    assert first.close()[0] == 130
    checkpoint = run.read_checkpoint()
    assert run.result is None
    assert checkpoint is not None
    assert checkpoint[0] > 0
    expect(page.locator("#notice")).to_contain_text("lost")

    second = lab_process(store.folder, first.port)
    expect(page.locator("#notice")).to_contain_text("started anew")
    tab = context.new_page()
    tab.goto(second.url)
    expect(page.locator("#notice")).to_be_hidden()
    expect(page.locator("#resume")).to_be_visible()
    page.click("#resume")
    expect(page.locator("#run-status.busy")).to_contain_text("training", timeout=60_000)
    page.click("#pause")
    expect(page.locator("#resume")).to_be_visible()
    resumed = run.read_checkpoint()
    assert resumed is not None
    assert resumed[0] >= checkpoint[0]
    context.close()
    assert second.close()[0] == 130


def test_a_run_is_forked_and_one_that_dies_says_so(watched: Any, lab: Any, store: Store) -> None:
    page = watched.page
    run = next(r.id for r in store if r.snapshots)
    open_lab(page, lab, f"#run={run}&step=0")
    expect(page.locator("#step")).to_have_text("step 0")
    page.click("#fork-here")
    expect(page.locator("#fork")).to_contain_text(f"{run} at step 0")
    page.fill("#set-lr", "0.2")
    expect(page.locator("#estimate")).to_contain_text("About")
    page.click("#train")
    expect(page.locator("#run-title")).not_to_have_attribute("title", f"run {run}")
    expect(page.locator("#run-status.finished")).to_be_visible(timeout=60_000)
    assert f"{run}@0" in {r.experiment.parent for r in store}
    expect(page.locator("#times")).to_contain_text("Forked at step 0.")
    expect(page.locator("#curves .legend")).to_contain_text("before the fork")

    fill_small_run(page)
    page.fill("#set-lr", "1e9")
    page.select_option("#set-optimizer", "gd")
    expect(page.locator("#estimate")).to_contain_text("About")
    page.click("#train")
    expect(page.locator("#times")).to_contain_text("Diverged at step", timeout=60_000)
    expect(page.locator("#run-status")).to_contain_text("diverged")


def test_a_port_in_use_is_named(lab: Any, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "from modgrok.cli import main; main()",
        "lab",
        "--no-browser",
        "--port",
        str(lab.port),
    ]
    again = subprocess.run([*command, "--store", str(tmp_path)], capture_output=True, text=True, timeout=30)
    assert again.returncode == 2
    assert f"Port {lab.port}" in again.stderr
