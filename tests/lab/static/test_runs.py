"""The drawer of runs, and runs beside the open one."""

import re
from pathlib import Path
from typing import Any

import playwright.sync_api as playwright

from modgrok.experiments import Store

expect = playwright.expect


def test_comparisons_are_named_by_what_differs_and_a_sixth_is_refused(open_lab: Any, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['tiny']}")
    page.click("#open-runs")
    for name in ("seed1", "seed2", "seed3", "seed4", "seed5", "product"):
        box = page.get_by_label(f"Compare {runs[name]}")
        if name == "product":
            box.click()
            expect(page.locator("#notice")).to_contain_text("At most 5")
            expect(box).not_to_be_checked()
        else:
            box.check()
            page.wait_for_function("run => location.hash.includes(run)", arg=runs[name])
    page.keyboard.press("Escape")
    for panel in ("curves", "ipr"):
        page.locator(f"#{panel}").scroll_into_view_if_needed()
        legend = page.locator(f"#{panel} .legend")
        expect(legend).to_contain_text("seed 1")
        expect(legend).not_to_contain_text("record")
        assert not re.search("[0-9a-f]{12}", legend.inner_text())
        keys = legend.locator("i.dashed").evaluate_all("keys => keys.map((key) => key.style.getPropertyValue('--key'))")
        assert len(set(keys)) >= 5


def test_runs_are_searched_sorted_and_told_apart(open_lab: Any, fits: Any, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['tiny']}")
    expect(page).to_have_title("n + m mod 13")
    page.click("#open-runs")
    rows, count = page.locator("#runs tbody tr"), page.locator("#runs h2")
    page.get_by_label("Search runs").fill("n+m 13 two-layer")
    expect(count).to_have_text(re.compile(r"Runs \(\d+ of \d+\)"))
    told = {
        row.locator("button").inner_text(): row.locator('[data-head="differs in"]').inner_text() for row in rows.all()
    }
    assert told[runs["seed3"]] == "rate 0.1, seed 3"
    assert told[runs["seed9"]] == "rate 0.001, seed 9"
    head = page.locator("#runs th", has_text="test")
    for wanted in ("descending", "ascending"):
        head.get_by_role("button").press("Enter")
        expect(head).to_have_attribute("aria-sort", wanted)
        shares = [float(text.split()[0]) for text in page.locator('#runs [data-head="test"]').all_inner_texts()]
        assert shares == sorted(shares, reverse=wanted == "descending")
    page.locator("#runs select").select_option("not grokked")
    expect(page.locator(f'[data-run="{runs["seed9"]}"]')).to_be_visible()
    expect(page.locator(f'[data-run="{runs["seed3"]}"]')).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 800})
    box = page.locator('#runs [data-head="test"]').first.bounding_box()
    assert box["x"] + box["width"] < 390, "the outcome is in sight on a phone"


def test_runs_lie_side_by_side_on_one_clock(open_lab: Any, settled: Any, many: Path, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['tiny']}&compare={runs['seed9']}")
    page.locator("#beside").scroll_into_view_if_needed()
    captions, drawn = (
        page.locator("#beside .caption"),
        "all => all.map((table) => table.getContext('2d').getImageData(9, 9, 1, 1).data[3])",
    )
    for key, row in (("Home", 0), ("End", -1)):
        page.locator("#panels").focus()
        page.keyboard.press(key)
        settled(page)
        for i, name in enumerate(("tiny", "seed9")):
            history = Store(many).find(runs[name]).history
            test = f"{100 * history['test_accuracy'][row]:.1f}"
            expect(captions.nth(i)).to_have_text(re.compile(rf"step {history['step'][row]}: train .*, test {test}\s%"))
    assert page.locator("#beside canvas").evaluate_all(drawn) == [255, 255]
    page.fill("#keep-top", "1")
    page.press("#keep-top", "Enter")
    settled(page)
    changed = page.locator('#whatif-scores [data-key="test_accuracy"]').inner_text()
    page.locator("#beside").scroll_into_view_if_needed()  # panels are drawn while they are in sight
    expect(page.locator("#beside figcaption").first).to_have_text("n + m mod 13, changed")
    expect(captions.first).to_contain_text(f"test {changed}")
    expect(captions.last).to_contain_text(f"test {test}")
    page.click("#open-runs")
    page.get_by_label(f"Compare {runs['seed9']}").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("#beside")).to_be_hidden()
