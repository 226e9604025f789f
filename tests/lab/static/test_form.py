"""The fields of the next run."""

from typing import Any

import playwright.sync_api as playwright

expect = playwright.expect


def test_the_form_survives_a_reload_and_is_filled_by_a_run(open_lab: Any, settled: Any, runs: dict[str, str]) -> None:
    page = open_lab()
    page.fill("#set-task", "n + 5*m")
    page.fill("#set-modulus", "31")
    settled(page)
    expect(page.locator("#estimate")).to_contain_text("About")
    page.reload()
    expect(page.locator("#set-task")).to_have_value("n + 5*m")
    expect(page.locator("#set-modulus")).to_have_value("31")
    page.click("#open-runs")
    page.locator(f'[data-run="{runs["product"]}"]').click()
    expect(page.locator("#set-task")).to_have_value("n*m")
    expect(page.locator("#set-modulus")).to_have_value("11")


def test_another_network_leaves_open_what_the_one_before_had(open_lab: Any, settled: Any, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['tiny']}")
    expect(page.locator("#set-parametrization")).to_have_value("mean-field")
    page.locator("#expert summary").click()
    page.locator("#set-network").select_option("transformer")
    settled(page)
    expect(page.locator("#mistake")).to_be_hidden()
    expect(page.locator("#train")).to_be_enabled()
    assert [page.input_value(f"#set-{name}") for name in ("parametrization", "loss", "lr")] == ["", "", ""]
    assert [page.input_value(f"#set-{name}") for name in ("width", "modulus", "steps")] == ["64", "13", "30"]


def test_symbols_that_the_page_prints_can_be_typed(open_lab: Any, settled: Any) -> None:
    page = open_lab()
    page.fill("#set-task", "n²·m − 3")
    page.fill("#set-modulus", "13")
    settled(page)
    expect(page.locator("#mistake")).to_be_hidden()
    expect(page.locator("#estimate")).to_contain_text("About")


def test_a_mistake_is_pointed_at_however_long_the_expression(open_lab: Any, settled: Any) -> None:
    page = open_lab()
    text = "+".join(["n*m^2"] * 30) + "+ $ +" + "+".join(["n"] * 30)
    page.fill("#set-task", text)
    settled(page)
    expect(page.locator("#mistake")).to_contain_text("▲")
    shown, caret, *_ = page.locator("#mistake").inner_text().split("\n")
    assert shown[caret.index("▲")] == "$"
    assert len(shown) < 45


def test_tasks_without_a_modulus_are_offered_and_leave_the_field_alone(open_lab: Any, settled: Any) -> None:
    page = open_lab()
    offered = page.locator("#tasks option").evaluate_all("all => all.map((option) => option.value)")
    assert len(offered) > 5
    for task in offered:
        page.fill("#set-task", task)
        settled(page)
        expect(page.locator("#train")).to_be_enabled()
        expect(page.locator("#set-modulus")).to_have_value("59")
        has_none = task.startswith(("group", "parity", "add"))
        assert page.locator("#set-modulus").is_disabled() == has_none, task
        assert page.locator("#set-fraction").is_disabled() == task.startswith("parity"), "there is no table to share"
