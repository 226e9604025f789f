"""Small things that were wrong once, each seen as a person sees it."""

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import playwright.sync_api as playwright
import pytest

from modgrok.experiments import Run, Store
from modgrok.lab import form

expect = playwright.expect
pytestmark = pytest.mark.xdist_group("browser")
LONG = "+".join(["n*m^2"] * 60)


@pytest.fixture(scope="module")
def shared(many: Path, start_lab: Any) -> Iterator[Any]:
    """One lab for all tests of this file; none of them trains to the end."""
    lab = start_lab(many)
    yield lab
    lab.close()


@pytest.fixture
def runs(many: Path, kinds: dict[str, Run]) -> dict[str, str]:
    """Runs by what they are."""
    found = {name: run.id for name, run in kinds.items()}
    for run in Store(many):
        e = run.experiment
        if run.id in found.values():
            continue
        if e.modulus == 7:
            found["small"] = run.id
            continue
        name = {"n*m": "product", "n+m": "tiny" if e.seed == 0 else f"seed{e.seed}"}.get(e.task, "long")
        found[name] = run.id
    return found


@pytest.fixture
def open_lab(chromium: Any, watch: Any, shared: Any) -> Iterator[Any]:
    """Opens the lab's page at a place; its mistakes fail the test."""
    opened = []

    def opening(place: str = "", width: int = 1280, height: int = 800, refused: bool = False, **options: Any) -> Any:
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        watched = watch(context)
        opened.append((context, watched, ["422"] if refused else []))
        watched.page.goto(shared.url)
        watched.page.wait_for_url(re.compile(r"/$"))
        watched.page.goto(f"http://127.0.0.1:{shared.port}/lab{place}")
        expect(watched.page.locator("#estimate")).to_contain_text("About")
        return watched.page

    yield opening
    for context, watched, expected in opened:
        context.close()
        assert [text for text in watched.problems if not any(code in text for code in expected)] == []


def fits(page: Any) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [390, 619, 640, 820, 1280, 1920])
def test_no_width_and_no_zoom_makes_it_wider_than_the_screen(open_lab: Any, runs: dict[str, str], width: int) -> None:
    page = open_lab(f"#run={runs['long']}", width, 400 if width == 640 else 800, color_scheme="dark")
    expect(page.locator("#run-title")).to_contain_text("mod 13")
    assert fits(page)
    if not page.locator("#set-task").is_visible():
        page.click("#toggle-controls")
    page.fill("#set-task", LONG)
    expect(page.locator("#estimate")).to_contain_text("About")
    assert fits(page)
    page.locator("#clock").scroll_into_view_if_needed()
    expect(page.locator("#play")).to_be_visible()
    for cursor in page.locator(".chart .cursor").all():
        chart = cursor.locator("xpath=..")
        assert chart.evaluate("chart => getComputedStyle(chart).overflow") == "hidden"


@pytest.mark.parametrize(("width", "name"), [(390, "transformer"), (820, "small"), (1280, "tiny"), (1920, "embedding")])
def test_it_can_be_read_by_everyone(
    open_lab: Any, runs: dict[str, str], width: int, name: str, accessibility: Any
) -> None:
    page = open_lab(f"#run={runs[name]}&neuron=3&compare={runs['seed1']}", width, color_scheme="light")
    expect(page.locator("html")).to_have_attribute("data-drawn", re.compile(r"\d+"))
    page.locator("#expert").evaluate("details => (details.open = true)")
    for theme in ("light", "dark"):
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        assert fits(page)
        assert accessibility(page) == []
        page.click("#theme")
    if width == 1280:
        page.click("#open-runs")
        assert accessibility(page) == []


SHOWN = {
    "tiny": {"answers", "curves", "weights", "plane", "circle", "path", "whatif", "ipr", "theory"},
    "small": {"answers", "curves", "weights", "plane", "circle", "path", "network", "whatif", "ipr", "theory"},
    "three": {"curves", "weights", "plane", "circle", "whatif", "ipr", "theory"},
    "transformer": {"answers", "curves", "embedding"},
    "embedding": {"answers", "curves", "embedding"},
    "group": {"answers", "curves", "embedding"},
    "integers": {"answers", "curves", "embedding"},
    "codes": {"curves", "embedding"},
    "parity": {"curves"},
    "teacher": {"curves"},
}


def test_runs_of_every_kind_open_with_the_panels_that_apply(
    open_lab: Any, runs: dict[str, str], shared: Any, chromium: Any, watch: Any, tmp_path: Path
) -> None:
    page = open_lab()
    for name, shown in SHOWN.items():
        page.evaluate(f"location.hash = 'run={runs[name]}'")
        expect(page.locator("#run-title")).to_have_attribute("title", f"run {runs[name]}")
        if shown != {"curves"}:
            expect(page.locator("html")).to_have_attribute("data-drawn", re.compile(r"\d+"))
        expect(page.locator("#panels > .panel:visible")).to_have_count(len(shown))
        assert set(page.locator("#panels > .panel:visible").evaluate_all("all => all.map((one) => one.id)")) == shown
        for panel in shown:
            page.locator(f"#{panel}").scroll_into_view_if_needed()
            expect(page.locator(f"#{panel} .body")).to_be_visible()
        page.locator("#panels").focus()
        page.keyboard.press("Home")
        expect(page.locator("#step")).to_have_text("step 0")
    page.evaluate(f"location.hash = 'run={runs['embedding']}'")
    page.locator("#embedding").scroll_into_view_if_needed()
    expect(page.locator("#embedding .sentence")).to_contain_text("of the power")
    assert page.locator("#curves select option", has_text="rqi").count() == 1
    page.evaluate(f"location.hash = 'run={runs['integers']}'")
    expect(page.locator("#embedding .sentence")).not_to_contain_text("of the power")
    expect(page.locator("#embedding .histogram")).to_be_hidden()
    context = chromium.new_context(offline=True)
    for name in ("transformer", "parity"):
        file = tmp_path / f"{name}.html"
        file.write_bytes(page.request.get(f"http://127.0.0.1:{shared.port}/api/runs/{runs[name]}/replay").body())
        replayed = watch(context)
        replayed.page.goto(file.as_uri())
        expect(replayed.page.locator("#panels > .panel:visible")).to_have_count(len(SHOWN[name]))
        expect(replayed.page.locator("#step")).to_have_text("step 4")
        assert (replayed.problems, replayed.hosts) == ([], set())
    context.close()


def test_a_network_is_drawn_while_its_neurons_are_few(open_lab: Any, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['tiny']}")
    expect(page.locator("html")).to_have_attribute("data-drawn", "30")
    expect(page.locator("#network")).to_be_hidden()
    page.locator("#whatif").scroll_into_view_if_needed()
    expect(page.locator("#whatif-scores")).to_contain_text(
        "test MSE"
    )  # panels take their place when they come into view
    page.locator("#whatif").get_by_text("Swap in one frequency").click()
    expect(page.locator("#network")).to_be_visible()
    page.locator("#network").scroll_into_view_if_needed()
    expect(page.locator("#network .sentence")).to_contain_text("5 neurons at (n, m) = (1, 2): the answer is 3")
    expect(page.locator("#network .sentence")).to_contain_text("the network says 3")
    page.locator('#answers input[aria-label="n"]').fill("9")
    page.locator('#answers input[aria-label="n"]').blur()
    expect(page.locator("#network .sentence")).to_contain_text("(9, 2): the answer is 11, the network says 11")


def test_ticks_fit_and_differ(open_lab: Any) -> None:
    page = open_lab()
    found = page.evaluate(
        """async () => {
          const { logTicks, linearTicks, stepTicks } = await import("lab/ticks.js");
          const labels = (ticks) => ticks.map(([, label]) => label);
          return {
            close: labels(logTicks(0.00998, 0.01013, 120)),
            equal: labels(logTicks(0.01, 0.01, 120)),
            diverged: labels(logTicks(1e-4, 1e30, 120)),
            usual: labels(logTicks(2e-5, 0.02, 120)),
            linear: labels(linearTicks(0, 1, 120)),
            steps: labels(stepTicks(1e6, true, 300)),
          };
        }"""
    )
    for name, labels in found.items():
        assert len(set(labels)) == len(labels), (name, labels)
        assert 1 <= len(labels) <= 7, (name, labels)
    assert found["usual"] == ["10⁻⁴", "10⁻³", "10⁻²"]


def test_the_example_trains_after_a_bad_expression(open_lab: Any, shared: Any) -> None:
    page = open_lab()
    page.fill("#set-task", "n + * m")
    expect(page.locator("#train")).to_be_disabled()
    page.click("#first-run")
    expect(page.locator("#run-title")).to_have_text("n + m mod 59")
    expect(page.locator("#pause")).to_be_visible()
    page.click("#stop")
    expect(page.locator("#train")).to_be_visible()


def test_a_mistake_is_pointed_at_however_long_the_expression(open_lab: Any) -> None:
    page = open_lab()
    text = "+".join(["n*m^2"] * 30) + "+ $ +" + "+".join(["n"] * 30)
    page.fill("#set-task", text)
    expect(page.locator("#mistake")).to_contain_text("▲")
    shown, caret, *_ = page.locator("#mistake").inner_text().split("\n")
    assert shown[caret.index("▲")] == "$"
    assert len(shown) < 45


def test_symbols_that_the_page_prints_can_be_typed(open_lab: Any) -> None:
    page = open_lab()
    page.fill("#set-task", "n²·m − 3")
    page.fill("#set-modulus", "13")
    expect(page.locator("#mistake")).to_be_hidden()
    expect(page.locator("#estimate")).to_contain_text("About")


def test_the_form_survives_a_reload_and_is_filled_by_a_run(open_lab: Any, runs: dict[str, str]) -> None:
    page = open_lab()
    page.fill("#set-task", "n + 5*m")
    page.fill("#set-modulus", "31")
    page.wait_for_timeout(400)
    expect(page.locator("#estimate")).to_contain_text("About")
    page.reload()
    expect(page.locator("#set-task")).to_have_value("n + 5*m")
    expect(page.locator("#set-modulus")).to_have_value("31")
    page.click("#open-runs")
    page.locator(f'[data-run="{runs["product"]}"]').click()
    expect(page.locator("#set-task")).to_have_value("n*m")
    expect(page.locator("#set-modulus")).to_have_value("11")


def test_a_link_pasted_into_the_open_tab_is_followed(open_lab: Any, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['product']}")
    expect(page.locator("#run-title")).to_have_text("n·m mod 11")
    page.evaluate(f"location.hash = 'run={runs['tiny']}&step=0&table=margin'")
    expect(page.locator("#run-title")).to_have_text("n + m mod 13")
    expect(page.locator("#step")).to_have_text("step 0")
    expect(page.locator('.choice [data-value="margin"]')).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#set-task")).to_have_value("n+m")
    page.evaluate(f"history.replaceState(null, '', '#run={runs['product']}')")
    page.reload()  # The form says what it said; a link that is followed fills it.
    expect(page.locator("#run-title")).to_have_text("n·m mod 11")
    expect(page.locator("#set-task")).to_have_value("n+m")


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


def test_the_clock_bar_and_the_address_tell_of_changes(open_lab: Any, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['tiny']}", refused=True)
    expect(page.locator("html")).to_have_attribute("data-drawn", "30")
    page.locator("#whatif").scroll_into_view_if_needed()
    changed = page.locator('#whatif-scores [data-key="test_accuracy"]')
    before = changed.inner_text()
    page.fill("#keep-top", "1")
    page.press("#keep-top", "Enter")
    expect(page.locator(".made .chip")).to_have_count(1)
    expect(changed).not_to_have_text(before)
    expect(page.locator("#clock .test")).to_contain_text(changed.inner_text())
    page.fill("#ablate-frequency", "999")
    page.press("#ablate-frequency", "Enter")
    expect(page.locator("#notice")).to_contain_text("999")
    expect(page.locator(".made .chip")).to_have_count(1)
    page.wait_for_timeout(300)
    assert "999" not in page.url
    page.click("#undo-changes")
    expect(page.locator("#clock .test")).to_contain_text(before)


def test_a_finished_run_that_failed_gets_advice(open_lab: Any, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['seed9']}")
    expect(page.locator("#times")).to_contain_text("Not memorized in 30 steps")
    expect(page.locator("#times")).to_contain_text("0.001 is too small for p = 13; auto is")
    expect(page.locator("#times")).not_to_contain_text("yet")


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


def test_pictures_are_saved_as_lines_and_text(open_lab: Any, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['tiny']}")
    expect(page.locator("html")).to_have_attribute("data-drawn", "30")
    for panel, has_image in (("curves", False), ("plane", False), ("circle", False), ("weights", True)):
        page.locator(f"#{panel}").scroll_into_view_if_needed()
        page.locator(f"#{panel} .menu summary").click()
        with page.expect_download() as download:
            page.locator(f"#{panel} .menu button", has_text="SVG").click()
        text = Path(download.value.path()).read_text()
        assert ("<image" in text) == has_image
        assert "<text" in text
        if panel == "curves":
            assert text.count("<path") > 8
            assert "accuracy" in text
            for x, label in re.findall(r'<text x="([\d.-]+)"[^>]*text-anchor="end"[^>]*>([^<]*)<', text):
                assert float(x) - 6.5 * len(label) > -4, "a label is cut off"
        page.locator(f"#{panel} .menu summary").click()
        with page.expect_download() as download:
            page.locator(f"#{panel} .menu button", has_text="PNG").click()
        image = Path(download.value.path()).read_bytes()
        assert image.startswith(b"\x89PNG")
        wide, tall = struct.unpack(">II", image[16:24])
        drawn = re.search(r'viewBox="-8 -[\d.]+ ([\d.]+) ([\d.]+)"', text)
        assert drawn is not None
        assert wide / tall == pytest.approx(float(drawn[1]) / float(drawn[2]), rel=0.01), "squeezed"


def test_the_tour_acts_and_says_what_is_so(open_lab: Any, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['tiny']}", reduced_motion="reduce")
    run = Store(Path(page.evaluate("fetch('/api/state').then((a) => a.json())")["store"])).find(runs["tiny"])
    history = run.history
    page.click("#open-tour")
    tour, nextly = page.locator("#tour"), page.locator("#tour .primary")

    def beside(panel: str) -> Any:
        """The tour, which stands beside that panel, top beside top."""
        expect(page.locator(f"#{panel}.toured")).to_be_visible()
        words, shown = tour.bounding_box(), page.locator(f"#{panel}").bounding_box()
        assert words["x"] >= shown["x"] + shown["width"]
        assert shown["y"] - 40 < words["y"] < shown["y"] + shown["height"]
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
    assert fits(page)


def test_estimates_do_not_jump() -> None:
    large, tiny = {"task": "n + m"}, {"task": "n + m", "modulus": 13, "width": 32}
    before = form.check(large)["seconds"]
    assert form.check(tiny)["seconds"] < before
    assert form.check(large)["seconds"] == before


def test_what_became_of_a_run_is_said_in_a_sentence(open_lab: Any) -> None:
    page = open_lab()
    base = {"settings": {"lr": 0.3, "modulus": 97, "fraction": 0.2, "threshold": 0.99}, "auto": {"lr": 0.5}}
    base |= {"task": {"structure": "sum"}, "status": "finished", "parent": None, "result": None}
    rows = [
        {"step": 0, "train_accuracy": 0.1, "test_accuracy": 0.0},
        {"step": 40, "train_accuracy": 1, "test_accuracy": 0.1},
    ]
    grokked = {"step": 900, "train_accuracy": 1, "test_accuracy": 1}
    cases = {
        "Memorized at step 40, grokked at step 900, 23 times as long.": base | {"rows": [*rows, grokked]},
        "Memorized at step 40, not grokked in 40 steps (test 10.0 %). α = 0.2 is little data": base | {"rows": rows},
        "Not memorized yet.": base | {"rows": rows[:1], "status": "unfinished"},
        "Not memorized in 0 steps. Train longer": base | {"rows": rows[:1]},
        "The rate 0.3 is too large for p = 97; auto is 0.5.": base | {"rows": rows, "status": "diverged"},
        "Forked at step 100. Its training pairs were memorized before the fork, grokked at step 1 000.": base
        | {"parent": {"step": 100, "rows": []}, "rows": [rows[1] | {"step": 0}, grokked]},
    }
    for wanted, run in cases.items():
        said = page.evaluate("async (run) => (await import('lab/outcome.js')).sentence(run)", run)
        assert wanted in re.sub(r"[\u00a0\u202f]", " ", said)


def test_a_run_without_weights_shows_its_curves_whatever_their_names(open_lab: Any, runs: dict[str, str]) -> None:
    page = open_lab()

    def other_kind(route: Any) -> None:
        answer = route.fetch()
        details = answer.json() | {"panels": ["curves", "sweep"], "snapshots": []}
        details["task"] |= {"table": None, "trained": None, "index": None}
        details["settings"]["modulus"] = None
        for row in details["rows"]:
            row["coherence"] = row["step"] / 30
        route.fulfill(response=answer, json=details)

    page.route(f"**/api/runs/{runs['tiny']}", other_kind)
    page.evaluate(f"location.hash = 'run={runs['tiny']}'")
    expect(page.locator("#run-title")).to_have_text("n + m")
    expect(page.locator("#step")).to_have_text("step 30")
    for panel in ("answers", "weights", "plane", "circle", "whatif", "ipr", "theory", "path"):
        expect(page.locator(f"#{panel}")).to_be_hidden()
    page.get_by_label("Another curve").select_option("coherence")
    expect(page.locator("#curves .chart")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("#panels").focus()
    page.keyboard.press("Home")
    expect(page.locator("#step")).to_have_text("step 0")
