"""The drawer of runs, and runs beside the open one."""

import re
from typing import Any

import playwright.sync_api as playwright

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
