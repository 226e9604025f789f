"""Panels: which of them a run has, what they show, and what they are saved as."""

import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import playwright.sync_api as playwright
import pytest

from modgrok.experiments import Run
from modgrok.measures import neuron_vectors, representation_accuracies
from modgrok.measures.circuit import Circuit
from modgrok.measures.cosets import coset_order
from modgrok.measures.progress_measures import key_frequencies, restricted_loss

expect = playwright.expect


SHOWN = {
    "tiny": {"answers", "curves", "weights", "plane", "circle", "path", "whatif", "ipr", "theory"},
    "small": {"answers", "curves", "weights", "plane", "circle", "path", "network", "whatif", "ipr", "theory"},
    "three": {"curves", "weights", "plane", "circle", "whatif", "ipr", "theory"},
    "transformer": {"answers", "curves", "embedding", "circuit"},
    "embedding": {"answers", "curves", "embedding"},
    "group": {"answers", "curves", "embedding"},
    "vectors": {"answers", "curves", "representations"},
    "integers": {"answers", "curves", "embedding"},
    "codes": {"curves", "embedding"},
    "parity": {"curves"},
    "teacher": {"curves"},
}


def test_runs_of_every_kind_open_with_the_panels_that_apply(
    open_lab: Any,
    settled: Any,
    runs: dict[str, str],
    lab: Any,
    offline_window: Any,
    blank_on_paper: Any,
    tmp_path: Path,
) -> None:
    page = open_lab()
    for name, shown in SHOWN.items():
        page.evaluate(f"location.hash = 'run={runs[name]}'")
        expect(page.locator("#run-title")).to_have_attribute("title", f"run {runs[name]}")
        settled(page)
        live = shown | {"sweep"}
        assert set(page.locator("#panels > .panel:visible").evaluate_all("all => all.map((one) => one.id)")) == live
        for panel in live:
            page.locator(f"#{panel}").scroll_into_view_if_needed()
            expect(page.locator(f"#{panel} .body")).to_be_visible()
        page.locator("#panels").focus()
        page.keyboard.press("Home")
        expect(page.locator("#step")).to_have_text("step 0")
    page.evaluate(f"location.hash = 'run={runs['embedding']}'")
    page.locator("#embedding").scroll_into_view_if_needed()
    expect(page.locator("#embedding .sentence")).to_contain_text("of the power")
    assert page.locator("#curves select option", has_text="rqi").count() == 1
    page.evaluate(f"location.hash = 'run={runs['vectors']}'")
    page.locator("#representations").scroll_into_view_if_needed()
    expect(page.locator("#representations .sentence")).to_contain_text("in one representation of S3")
    page.evaluate(f"location.hash = 'run={runs['integers']}'")
    expect(page.locator("#embedding .sentence")).not_to_contain_text("of the power")
    expect(page.locator("#embedding .histogram")).to_be_hidden()
    for name in ("transformer", "parity", "small", "vectors"):
        file = tmp_path / f"{name}.html"
        address = f"http://127.0.0.1:{lab.port}/api/runs/{runs[name]}/replay"
        file.write_bytes(page.request.get(address, headers={"x-modgrok-token": lab.token}).body())
        replay = offline_window.open(file.as_uri())
        expect(replay.locator("#panels > .panel:visible")).to_have_count(len(SHOWN[name] - {"whatif"}))
        settled(replay)
        assert blank_on_paper(replay) == []
        expect(replay.locator(".ablation button")).to_have_count(0)  # There is no other network in the file.
        assert (offline_window.leave(), offline_window.hosts) == ([], set())


def test_the_circuit_of_a_transformer_is_measured_step_by_step(
    open_lab: Any, settled: Any, runs: dict[str, str], kinds: dict[str, Run]
) -> None:
    page = open_lab(f"#run={runs['transformer']}&cell=2,5")
    page.locator("#circuit").scroll_into_view_if_needed()
    settled(page)
    run = kinds["transformer"]
    circuit, task = Circuit(run.network), run.task
    keys = key_frequencies(circuit.neuron_logits)
    restricted = restricted_loss(circuit.logits, task.table, keys)
    said = page.locator("#circuit .sentence").first
    expect(said).to_contain_text(f"Key frequencies at the end: {', '.join(map(str, keys))};")
    expect(said).to_contain_text(re.compile(f"restricted {restricted:.2f}"[:-1]))
    expect(page.locator("#circuit .sentence").last).to_contain_text("Attention at (n, m) = (2, 5)")
    page.wait_for_function(
        "count => import('lab/measured.js').then(({ measuredRows }) => measuredRows().length === count)",
        arg=len(run.snapshots),
    )
    shown = page.evaluate(
        """async () => {
          const { state } = await import("lab/store.js");
          const p = state.run.settings.modulus;
          return Array.from(state.frame.attention.slice((2 * p + 5) * 6, (2 * p + 6) * 6));
        }"""
    )
    np.testing.assert_allclose(np.array(shown) / 255, circuit.attention[2, 5].reshape(-1), atol=0.003)
    page.locator("#circuit .chart").hover(position={"x": 300, "y": 300})
    expect(page.locator("#circuit .hover")).to_contain_text("most at k =")
    page.locator("#circuit .menu summary").click()
    with page.expect_download() as download:
        page.locator("#circuit .menu button", has_text="CSV").click()
    assert "restricted,excluded,embedding_1" in Path(download.value.path()).read_text().splitlines()[0]


def test_a_network_on_a_group_is_taken_apart_and_its_table_ordered(
    open_lab: Any, runs: dict[str, str], kinds: dict[str, Run]
) -> None:
    page = open_lab(f"#run={runs['vectors']}")
    run = kinds["vectors"]
    network, basis, table = run.network, run.task.structure.basis, run.task.table
    without, alone = representation_accuracies(network, table, neuron_vectors(network, basis))
    expect(page.locator("#answers .caption")).to_contain_text("of H = Z3. Between two lines 3 answers occur.")
    page.locator("#representations").scroll_into_view_if_needed()
    rows = page.locator("#representations tbody tr")
    expect(rows).to_have_count(len(without.keys() - {0}))
    for row, k in enumerate(sorted(without.keys() - {0})):
        shares = [f"{100 * part[k]:.1f}\u00a0%" for part in (without, alone)]
        assert rows.nth(row).locator("button").all_inner_texts() == shares
    only = rows.last.locator("button").last
    only.click()
    expect(only).to_have_attribute("aria-pressed", "true")
    page.locator("#table-canvas").scroll_into_view_if_needed()
    expect(page.locator("#answers .legend")).to_contain_text(f"{100 * alone[max(alone)]:.1f}\u00a0% of all pairs right")
    page.locator("#changed").click()
    expect(page.locator("#changed")).to_be_hidden()
    # The vectors of a neuron, as angles.
    found = neuron_vectors(network, basis)
    page.evaluate("import('lab/store.js').then(({ setView }) => setView({ neuron: 3 }))")
    page.locator("#representations").scroll_into_view_if_needed()
    angles = np.degrees(np.arccos(np.minimum(1, found.agreement[3]))).round().astype(int)
    told = ", ".join(f"{name} {angle}°" for name, angle in zip("abc", angles.tolist(), strict=True))
    expect(page.locator("#representations .caption").last).to_have_text(
        re.compile(rf"Neuron 3, dimension {basis.names[found.representation[3]]} with .*: {told} apart\.")
    )
    # A cell of the picture is the pair that stands there, in either order.
    order = coset_order(table)
    assert order is not None
    box = page.locator("#table-canvas").bounding_box()
    for name, (n, m) in {"by cosets": [int(part[4]) for part in order.orders], "by number": [4, 4]}.items():
        page.get_by_role("button", name=name).click()
        page.locator("#table-canvas").scroll_into_view_if_needed()
        page.locator("#table-canvas").click(position={"x": box["width"] * 4.5 / 6, "y": box["width"] * 4.5 / 6})
        expect(page.locator("#answers .sentence")).to_contain_text(f"(n, m) = ({n}, {m}): the answer is {table[n, m]}")
    expect(page.locator("#answers .caption")).to_be_hidden()


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
    page.locator("#network").scroll_into_view_if_needed()
    expect(page.locator("#network .sentence")).to_contain_text("(9, 2): the answer is 11, the network says 11")


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
