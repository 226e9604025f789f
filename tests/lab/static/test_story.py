"""The story: its claims against the run it stands on, its numbers on the page, its pictures at every size."""

import functools
import json
import re
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import playwright.sync_api as playwright
import pytest

from modgrok.cli import main
from modgrok.closed_form import exact_width, solve
from modgrok.experiments import Experiment
from modgrok.lab import story
from modgrok.measures import circular_spread, neuron_waves, own_waves, waves_only
from modgrok.networks import Network, predictions, score_table, two_layer
from modgrok.networks.scoring import output_blocks
from modgrok.tasks import task

expect = playwright.expect
HEADER, ARRAYS = story.load()
MEASURED = {name: np.array(values) for name, values in HEADER["measured"].items()}
P = HEADER["modulus"]
ADDITION = task("n + m", P)
TRIANGLE, FIVE = task("group:S3"), task("group:S5")
DOCS = Path(__file__).parents[3] / "docs"
VERDICTS = DOCS / "reproduction" / "groups" / "verdicts.json"
RUN: Experiment = runpy.run_path(str(DOCS / "story.py"))["RUN"]
TRAINED = ARRAYS["trained"].astype(bool)
MOST_BYTES = 1_200_000
FITS = "document.documentElement.scrollWidth <= innerWidth"


def network_at(frame: int, of: str = "") -> Network:
    """The weights of a stored step, as rounded as the page has them; of the control run where told."""
    weights = (ARRAYS[f"{of}scales"][..., None] * ARRAYS[f"{of}blocks"])[frame].astype(np.float32)
    return two_layer(weights[:, :2], weights[:, 2].T)


def first(name: str, threshold: float) -> int:
    return int(MEASURED["step"][np.argmax(MEASURED[name] >= threshold)])


def at(name: str, step: int) -> float:
    return float(MEASURED[name][MEASURED["step"].tolist().index(step)])


MEMORIZED, GROKKED, EARLY = first("train_accuracy", 0.99), first("test_accuracy", 0.99), first("waves_only", 0.9)
END = HEADER["steps"][-1]
SILENCE = next(step for step in HEADER["measured"]["step"] if step >= 400)
CONTROL = HEADER["control"]


@functools.cache
def erased() -> dict[str, np.ndarray]:
    """What networks answer whose neurons, or lists, are each reduced to their strongest wave."""
    memorized = HEADER["steps"].index(MEMORIZED)
    by_heart = CONTROL["measured"]["step"][int(np.argmax(np.array(CONTROL["measured"]["train_accuracy"]) >= 0.99))]
    networks = {
        "sums": waves_only(network_at(memorized)),
        "untrained": waves_only(network_at(0)),
        "random": waves_only(network_at(CONTROL["steps"].index(by_heart), "control_")),
        "lists": own_waves(network_at(memorized)),
    }
    return {name: np.asarray(predictions(network)).reshape(-1) for name, network in networks.items()}


def unseen(answers: np.ndarray, table: np.ndarray = ADDITION.table) -> float:
    return float((answers == table.reshape(-1))[~TRAINED].mean())


def test_what_the_story_claims_is_so() -> None:
    chance = 1 / P
    assert GROKKED >= 10 * MEMORIZED, "a delay of at least tenfold"
    assert at("test_accuracy", MEMORIZED) < chance, "by heart: worse than nothing elsewhere"
    between = (MEASURED["step"] > MEMORIZED) & (MEASURED["step"] < SILENCE)
    assert MEASURED["test_accuracy"][between].max() < 0.1, "silence: the test accuracy hardly moves"
    assert MEASURED["train_accuracy"][between].min() > 0.99, "nothing left to learn from the examples"
    assert EARLY < MEMORIZED
    assert at("train_accuracy", EARLY) < 0.5, "already, with … of its own examples right"
    assert MEASURED["waves_only"][MEASURED["step"] >= EARLY].min() > 0.88, "and from then on"
    assert at("spread", 0) > 2
    assert at("spread", MEMORIZED) < 0.4, "phases agree long before the table flips"
    waves = neuron_waves(network_at(-1), ADDITION.structure.coordinate)
    clear = waves.explained > HEADER["pure"]
    assert circular_spread(waves.residual[clear]).deviation < at("spread", MEMORIZED), "clear waves agree still better"
    assert circular_spread(waves.residual[~clear]).deviation > 2 * at("spread", MEMORIZED), "the others drift apart"
    assert len({pow(2, exponent, P) for exponent in range(P - 1)}) == P - 1, "all but 0 are powers of 2"
    assert at("pure", MEMORIZED) == 0
    assert at("explained", END) > 4 * at("explained", MEMORIZED), "what goes on unseen is a clearing-away"
    assert 0.5 < at("pure", END) < 0.95, "most neurons are waves at the end, the others never cleared up"
    after = MEASURED["step"] > 1.2 * GROKKED
    assert after.sum() >= 10
    assert MEASURED["test_accuracy"][after].min() > 0.99, "a plateau after"
    assert (parts_at_answers() > 0).sum(axis=0).min() > len(parts_at_answers()) / 2, "most waves agree at the answer"
    others = {other["task"]: other["curves"] for other in HEADER["others"]}
    assert others["n^3+n*m^2+m"]["train_accuracy"][-1] > 0.99
    assert abs(others["n^3+n*m^2+m"]["test_accuracy"][-1] - chance) < 0.02, "at chance"
    assert 0.5 < others["n^2+m^2+n*m"]["test_accuracy"][-1] < 0.97, "still … of the rest come out right"
    orders = {other["task"]: other["structure"] for other in HEADER["others"]}
    assert orders == {"n*m": "product", "n^2+m^2": "sum", "n^2+m^2+n*m": "none", "n^3+n*m^2+m": "none"}
    assert {other["width"] for other in HEADER["others"]} > {HEADER["width"]}, "some of them wider"
    assert min(others[name]["test_accuracy"][-1] for name in ("n*m", "n^2+m^2")) > 0.98
    assert RUN.resolve().as_dict().items() >= {name: HEADER[name] for name in ("lr", "fraction")}.items()


def test_what_the_story_claims_of_other_moves_is_so() -> None:
    assert (TRIANGLE.table != TRIANGLE.table.T).any(), "a flip followed by a turn is not the turn followed by the flip"
    for moves, faithful, small in ((TRIANGLE, 2, 1), (FIVE, 2, 1)):
        basis = moves.structure.basis
        assert basis is not None
        assert basis.representations[faithful].is_faithful
        assert [one.dimension for one in basis.representations[:2]] == [1, 1]
        assert not basis.representations[small].is_faithful, "it only tells even from odd, turns from flips"
        for numbers in (None, (faithful,)):
            written = solve(moves, "exact", frequencies=numbers)
            assert score_table(written, moves.table).accuracy == 1
        out = np.concatenate(list(output_blocks(solve(moves, "exact", dtype=np.float64))))
        np.testing.assert_allclose(out, np.eye(moves.modulus)[moves.table.reshape(-1)], atol=1e-9)
    verdicts = json.loads(VERDICTS.read_text())
    for claim in ("one_representation", "rank_one", "shared"):
        assert verdicts[claim]["outcome"] == "holds", "trained networks come to the same"


def test_the_eraser_leaves_sums_only_where_they_were_learned() -> None:
    answers = erased()
    assert unseen(answers["sums"]) > 0.98
    assert unseen(answers["untrained"]) < 0.05, "the eraser cannot add alone"
    assert unseen(answers["random"]) < 0.05
    assert unseen(answers["lists"]) < 0.3, "that a neuron has one frequency is the eraser's doing"
    waiting = next(i for i, step in enumerate(HEADER["steps"]) if step >= 400)
    lists = np.asarray(predictions(own_waves(network_at(waiting)))).reshape(-1)
    assert unseen(lists) > 0.5 > 5 * at("test_accuracy", HEADER["steps"][waiting]), (
        "they come to share it by themselves"
    )
    n, m = np.indices((P, P))
    assert max(unseen(answers["sums"], (n - m) % P), unseen(answers["sums"], (n + m + 1) % P)) < 0.05, "sign, offset"
    labels = ARRAYS["control_answers"].reshape(-1)
    np.testing.assert_array_equal(labels[~TRAINED], ADDITION.table.reshape(-1)[~TRAINED])
    assert (labels == ADDITION.table.reshape(-1))[TRAINED].mean() < 0.05, "the control's examples are random"
    assert max(CONTROL["measured"]["train_accuracy"]) == 1


@pytest.mark.parametrize("step", [0, HEADER["steps"][len(HEADER["steps"]) // 2], END])
def test_the_stored_weights_are_those_that_were_measured(step: int) -> None:
    frame = HEADER["steps"].index(step)
    network = network_at(frame)
    right = np.asarray(predictions(network)).reshape(-1) == ADDITION.table.reshape(-1)
    kept = ARRAYS["margins"][frame] > 0
    assert kept[TRAINED].mean() == pytest.approx(at("train_accuracy", step), abs=1e-5)
    assert kept[~TRAINED].mean() == pytest.approx(at("test_accuracy", step), abs=1e-5)
    assert right[~TRAINED].mean() == pytest.approx(at("test_accuracy", step), abs=0.01)
    waves = neuron_waves(network, ADDITION.structure.coordinate)
    assert circular_spread(waves.residual).deviation == pytest.approx(at("spread", step), abs=0.1)
    assert float(np.mean(waves.explained)) == pytest.approx(at("explained", step), abs=0.01)
    alone = np.asarray(predictions(waves_only(network, ADDITION.structure.coordinate))).reshape(-1)
    assert (alone == ADDITION.table.reshape(-1))[~TRAINED].mean() == pytest.approx(at("waves_only", step), abs=0.02)


def test_the_exported_story_is_one_small_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["lab", "--export-story", str(tmp_path / "story")])
    (path,) = (tmp_path / "story").iterdir()
    assert str(path) in capsys.readouterr().err.replace("\n", "")
    text = path.read_text()
    assert len(text.encode()) < MOST_BYTES
    assert not re.search(r'(src|href)="(/static|https?:)', text)
    with pytest.raises(SystemExit) as refused:
        main(["lab", "--export-story", str(path)])
    assert refused.value.code == 2


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> str:
    return story.export(tmp_path_factory.mktemp("story")).as_uri()


@pytest.fixture
def reader(offline_window: Any, exported: str) -> Iterator[Callable[..., Any]]:
    """Opens the exported story, without a network."""

    def open_story(width: int = 1280, theme: str = "light", motion: str = "no-preference") -> Any:
        page = offline_window.open(exported, width, 844, theme, motion)
        expect(page.locator("html")).to_have_attribute("data-ready", "true")
        return page

    yield open_story
    assert offline_window.leave() == []
    assert offline_window.hosts == set()


@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_every_screen_in_both_themes(reader: Any, width: int, accessibility: Any) -> None:
    page = reader(width, "light", motion="reduce")
    use_eraser(page)
    scenes = page.locator("section.scene")
    count = scenes.count()
    assert count == 12
    for theme in ("light", "dark"):
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        for i in range(count):
            scenes.nth(i).locator("figure").scroll_into_view_if_needed()
            expect(scenes.nth(i)).to_have_attribute("data-drawn", re.compile(r"\d+"))
        assert page.evaluate(FITS)
        assert accessibility(page) == []
        page.evaluate("for (const scene of document.querySelectorAll('.scene')) delete scene.dataset.drawn")
        page.click("#theme")
    for wide in (820, 1920, 2560):
        page.set_viewport_size({"width": wide, "height": 1080})
        page.wait_for_function("wide => innerWidth === wide", arg=wide)
        assert page.evaluate(FITS)
        shares = "all => all.map((figure) => figure.getBoundingClientRect().width / innerWidth)"
        assert min(page.locator(".scene figure").evaluate_all(shares)) >= 0.5


def test_every_picture_is_printed(reader: Any, blank_on_paper: Any) -> None:
    page = reader(theme="dark")
    assert blank_on_paper(page) == []
    expect(page.locator("#revealed")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_it_moves_by_itself_before_all_of_it_is_built(chromium: Any, exported: str) -> None:
    """How soon is measured by benchmarks/lab_speed.py."""
    context = chromium.new_context(viewport={"width": 1280, "height": 844}, offline=True)
    page = context.new_page()
    page.add_init_script(
        "new MutationObserver(() => window.first ??= document.documentElement.dataset.ready ?? 'building')"
        ".observe(document, { subtree: true, attributeFilter: ['data-drawn'] });"
    )
    page.goto(exported)
    page.wait_for_function("Number(document.getElementById('watch').dataset.drawn) >= 3")
    assert page.evaluate("window.first") == "building"
    step = page.locator("#watch .score b").first
    before = step.inner_text()
    expect(step).not_to_have_text(before)
    context.close()


def test_every_number_of_the_prose_is_the_runs_own(reader: Any) -> None:
    page = reader(motion="reduce")
    page.wait_for_function("document.getElementById('formula').dataset.checked")
    use_eraser(page)
    shown = {
        element.get_attribute("data-number"): re.sub(r"[\s\u202f\u00a0]", "", element.inner_text())
        for element in page.locator("[data-number]").all()
    }
    others = {other["task"]: other for other in HEADER["others"]}
    last_waves = neuron_waves(network_at(-1), ADDITION.structure.coordinate)
    share = share_text
    parts = parts_at_answers()[:, 48, 51]
    neuron = int(shown["neuron"])
    answers = erased()
    n, m = np.indices((P, P))
    expected = {
        "p": P,
        "last": P - 1,
        "n": 48,
        "m": 51,
        "answer": (48 + 51) % P,
        "pairs": P * P,
        "shown": int(TRAINED.sum()),
        "unseen": int((~TRAINED).sum()),
        "width": HEADER["width"],
        "chance": f"{100 / P:.1f}%",
        "memorized": MEMORIZED,
        "trainMemorized": share(at("train_accuracy", MEMORIZED)),
        "testMemorized": share(at("test_accuracy", MEMORIZED)),
        "silenceSteps": SILENCE - MEMORIZED,
        "testSilence": share(at("test_accuracy", SILENCE)),
        "erasedSums": share(unseen(answers["sums"])),
        "erasedUntrained": share(unseen(answers["untrained"])),
        "erasedRandom": share(unseen(answers["random"])),
        "erasedLists": share(unseen(answers["lists"])),
        "erasedMinus": share(unseen(answers["sums"], (n - m) % P)),
        "erasedNext": share(unseen(answers["sums"], (n + m + 1) % P)),
        "wavesEarly": EARLY,
        "trainEarly": share(at("train_accuracy", EARLY)),
        "spreadStart": f"{at('spread', 0):.2f}",
        "spreadMemorized": f"{at('spread', MEMORIZED):.2f}",
        "spreadPure": f"{circular_spread(last_waves.residual[last_waves.explained > HEADER['pure']]).deviation:.2f}",
        "explainedMemorized": share(at("explained", MEMORIZED)),
        "explainedEnd": share(at("explained", END)),
        "flipStart": SILENCE,
        "flipFrom": share(at("test_accuracy", SILENCE)),
        "flipTo": share(at("test_accuracy", GROKKED)),
        "grokked": GROKKED,
        "ratio": round(GROKKED / MEMORIZED),
        "pureCount": round(at("pure", END) * HEADER["width"]),
        "frequencies": len(set(last_waves.frequency[last_waves.explained > HEADER["pure"]].tolist())),
        "agreeing": int((parts > 0).sum()),
        "wavesAdded": len(parts),
        "neuron": neuron,
        "frequency": int(last_waves.frequency[neuron]),
        "formulaFrequencies": "onefrequency",
        "formulaWidth": "5neurons",
        "formulaAccuracy": "100%",
        "formulaMargin": shown["formulaMargin"],
        "exactWidth": exact_width(ADDITION.structure.coordinate),  # type: ignore[arg-type]
        "cubicShown": "90%",
        "cubicTrain": share(others["n^3+n*m^2+m"]["curves"]["train_accuracy"][-1]),
        "cubicTest": share(others["n^3+n*m^2+m"]["curves"]["test_accuracy"][-1]),
        "mixedTest": share(others["n^2+m^2+n*m"]["curves"]["test_accuracy"][-1]),
        "triangleWidth": solve(TRIANGLE, "exact").width,
        "trianglePairs": TRIANGLE.table.size,
        "triangleOne": solve(TRIANGLE, "exact", frequencies=(2,)).width,
        "fiveOrders": FIVE.modulus,
        "fiveWidth": solve(FIVE, "exact").width,
        "fiveOne": solve(FIVE, "exact", frequencies=(2,)).width,
        "fivePairs": FIVE.table.size,
        "settings": shown["settings"],
    }
    assert shown == {name: str(value) for name, value in expected.items()}


@functools.cache
def parts_at_answers() -> np.ndarray:
    """What the waves of each frequency add to the right answer of every pair, at the end."""
    network = network_at(-1)
    frequency = neuron_waves(network, ADDITION.structure.coordinate).frequency
    n, m = np.indices((P, P))
    hidden = (network.w_in[:, 0][:, n] + network.w_in[:, 1][:, m]) ** 2
    added = hidden * network.w_out.T[:, (n + m) % P]
    return np.stack([added[frequency == k].sum(axis=0) for k in np.unique(frequency)])


def use_eraser(page: Any) -> None:
    """Guesses and erases all, by keyboard."""
    page.locator("#eraser figure").scroll_into_view_if_needed()
    page.locator('[data-guess="half"]').press("Enter")
    page.get_by_role("slider", name="Eraser", exact=True).press("End")
    expect(page.locator('[data-number="erasedNext"]')).to_have_text(re.compile("%"))
    expect(page.locator("#revealed")).to_be_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_eraser_in_the_readers_hand(reader: Any, width: int) -> None:
    page = reader(width)
    answers, score = erased(), page.locator("#eraser .score .test b")
    slider, hold = page.get_by_role("slider", name="Eraser", exact=True), page.get_by_role("button", name="Hold")

    def leaves(name: str) -> None:
        expect(score).to_have_text(re.compile(re.escape(share_text(unseen(answers[name]))[:-1]) + "\\s%"))

    page.locator("#eraser figure").scroll_into_view_if_needed()
    expect(slider).to_be_disabled()  # The reader guesses first.
    expect(page.locator("#revealed")).to_be_hidden()
    page.click('[data-guess="few"]')
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    points = [{"x": box["x"] + 6 + i * box["width"] / 2, "y": box["y"] + box["height"] / 2} for i in range(3)]
    hand = page.context.new_cdp_session(page)
    hand.send("Emulation.setTouchEmulationEnabled", {"enabled": width < 800})

    def touch(kind: str, *fingers: dict[str, float]) -> None:
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(fingers)})

    if width < 800:
        touch("touchStart", points[0])
        for point in points[1:]:
            touch("touchMove", point)
    else:
        page.mouse.move(*points[0].values())
        page.mouse.down()
        page.mouse.move(*points[2].values(), steps=3)
    leaves("sums")
    assert slider.bounding_box() == box, "what appears does not push the slider from under the finger"
    touch("touchEnd") if width < 800 else page.mouse.up()
    expect(slider).to_have_value("0")
    expect(score).to_have_text(re.compile(share_text(at("test_accuracy", MEMORIZED))[:-1]))
    hand.detach()
    # The honest half, by keyboard: the same eraser where there is nothing to find.
    page.locator('#eraser [data-value="untrained"]').press("Enter")
    expect(hold).to_have_attribute("aria-pressed", "true")
    leaves("untrained")
    page.locator('#eraser [data-value="random"]').press("Enter")
    leaves("random")
    page.locator('#eraser [data-value="sums"]').press("Enter")
    page.locator('#eraser [data-value="list"]').press("Enter")
    leaves("lists")
    # Time can be dragged under an eraser that is held.
    page.locator('#eraser [data-value="neuron"]').press("Enter")
    page.get_by_role("slider", name="Time under the eraser").press("Home")
    leaves("untrained")
    hold.press("Enter")
    expect(slider).to_have_value("0")


def share_text(x: float) -> str:
    return f"{100 * x:.{1 if 0 < x < 0.1 or 0.985 < x < 1 else 0}f}%"


def test_the_page_computes_what_the_library_computes(reader: Any) -> None:
    page = reader(motion="reduce")
    found = page.evaluate(
        """async (steps) => {
          const { Replay } = await import("lab/story/replay.js");
          const { answersOf, outputTable } = await import("lab/network.js");
          const { closedForm } = await import("lab/closedform.js");
          const { activation, refusal } = await import("lab/activations.js");
          const replay = await Replay.load();
          const answer = (n, m) => (n + m) % replay.modulus;
          const right = (frame) => {
            const { predictions } = answersOf(outputTable(frame), replay.modulus, answer);
            return Array.from(predictions);
          };
          const half = (replay.modulus - 1) / 2;
          const all = Array.from({ length: half }, (_, i) => i + 1);
          const exact = answersOf(outputTable(closedForm(replay.modulus, all)), replay.modulus, answer);
          return {
            trained: steps.map((step) => right(replay.frame(step))),
            phases: steps.map((step) => Array.from(replay.frame(step).phases)),
            frequency: steps.map((step) => Array.from(replay.frame(step).frequency)),
            explained: steps.map((step) => Array.from(replay.frame(step).explained)),
            one: right(closedForm(replay.modulus, [1])),
            margins: [Math.min(...exact.margins), Math.max(...exact.margins)],
            unknown: [activation("softplus"), refusal("softplus"), refusal("x^3")],
            activations: ["quadratic", "relu", "gelu", "abs", "tanh", "silu", "x^3"].map(
              (name) => activation(name)(-0.7)),
          };
        }""",
        [HEADER["steps"][0], END],
    )
    table = ADDITION.table.reshape(-1)
    for place, frame in enumerate((0, -1)):
        network = network_at(frame)
        mine = np.asarray(predictions(network)).reshape(-1)
        assert (np.array(found["trained"][place]) == mine).mean() > 0.999
        waves = neuron_waves(network, ADDITION.structure.coordinate)
        np.testing.assert_array_equal(found["frequency"][place], waves.frequency)
        np.testing.assert_allclose(
            np.exp(1j * np.array(found["phases"][place])), np.exp(1j * waves.phases).reshape(-1), atol=1e-3
        )
        np.testing.assert_allclose(found["explained"][place], waves.explained, atol=1e-4)
    assert found["one"] == table.tolist()
    np.testing.assert_allclose(found["margins"], 1, atol=1e-5)
    assert found["unknown"][0] is None
    assert "softplus" in found["unknown"][1]
    assert found["unknown"][2] is None
    assert np.isfinite(found["activations"]).all()


def test_the_reader_can_touch_it(reader: Any) -> None:
    page = reader()
    # Ask for a sum: every scene follows.
    page.locator("#question").scroll_into_view_if_needed()
    page.locator('#question input[aria-label="n"]').fill("7")
    page.locator('#question input[aria-label="m"]').fill("58")
    expect(page.locator("#question .reply")).to_contain_text(f"7 + 58 is {65 % P}")
    expect(page.locator("#question .reply")).to_contain_text(f"at the end {65 % P}")
    expect(page.locator('#through [data-number="answer"]')).to_have_text(str(65 % P))
    # Touch a cell of the table, and drag the time.
    page.locator("#watch").scroll_into_view_if_needed()
    box = page.locator("#watch canvas.cells").bounding_box()
    page.locator("#watch canvas.cells").click(position={"x": box["width"] * 2.5 / P, "y": box["width"] * 3.5 / P})
    expect(page.locator("#watch .edged")).to_contain_text(str(P - 1))
    expect(page.locator("#watch .reply")).to_contain_text("3 + 2 = ?")
    page.locator('#watch input[type="range"]').fill("1000")
    expect(page.locator("#watch .score .test")).to_contain_text("100")
    expect(page.locator("#watch .round")).to_have_attribute("aria-label", re.compile("^Play: "))
    # Unwrap a neuron, choose another, choose a function that cannot be learned.
    page.locator("#waves").scroll_into_view_if_needed()
    page.get_by_role("button", name="Unwrap the circle").click()
    before = page.locator('#waves [data-number="neuron"]').inner_text()
    page.locator('#waves input[aria-label^="Neuron"]').fill("60")
    expect(page.locator('#waves [data-number="neuron"]')).not_to_have_text(before)
    page.locator("#formula").scroll_into_view_if_needed()
    neurons = page.get_by_role("slider", name="Number of neurons")
    lead, right = (page.locator(f'[data-number="formula{name}"]') for name in ("Margin", "Accuracy"))
    neurons.press("End")
    expect(page.locator('[data-number="formulaWidth"]')).to_have_text(f"{2 * P - 1} neurons")
    expect(lead).to_have_text(re.compile(r"100\s%"))
    for count, share in ((1, 1 / P), (2, 1), (3, 1)):  # Two are enough, one is not.
        neurons.fill(str(count - 1))
        expect(page.locator("#formula")).to_have_attribute("data-checked", str(count))
        expect(right).to_have_text(re.compile(share_text(share)[:-1]))
        expect(page.locator("#formula .reply")).to_contain_text(f"{right.inner_text()} of all sums are right")
    page.locator("#limits").scroll_into_view_if_needed()
    page.locator('#limits [data-value="n*m"]').click()
    expect(page.locator("#limits .reply")).to_contain_text("n·m mod")


def test_moves_instead_of_clocks(reader: Any) -> None:
    page = reader(390)
    scene = page.locator("#groups")
    scene.locator("figure").scroll_into_view_if_needed()

    def is_right(n: int, kinds: str, right: int) -> None:
        expect(scene).to_have_attribute("data-filled", f"{n}:{kinds}:{right}")
        expect(scene.locator(".score .test b")).to_have_text(re.compile(rf"^{right:,} of".replace(",", "\u202f")))
        expect(scene.locator(".score")).not_to_contain_text("so far")

    is_right(3, "1,2", 36)
    expect(scene.locator(".score b").first).to_have_text("10")
    scene.locator('[data-kind="1"]').press("Enter")
    is_right(3, "2", 36)
    expect(scene.locator(".score b").first).to_have_text("9")
    scene.locator('[data-kind="1"]').press("Enter")
    scene.locator('[data-kind="2"]').press("Enter")
    is_right(3, "1", 0)
    # Two moves, by the sliders and by touching the table; the other way round it is another one.
    scene.get_by_role("slider", name="first move").fill("3")
    scene.get_by_role("slider", name="second move").fill("1")
    expect(scene.locator(".reply")).to_have_text(
        "First turn right, then flip, top fixed: flip, right fixed. The other way round: flip, left fixed."
    )
    expect(scene.locator("figure > .above")).to_contain_text("number 5 is “flip, right fixed”")
    assert TRIANGLE.table[3, 1] == 5
    assert TRIANGLE.table[1, 3] == 2
    box = scene.locator("canvas.cells").bounding_box()
    scene.locator("canvas.cells").click(position={"x": box["width"] * 4.5 / 6, "y": box["width"] * 3.5 / 6})
    expect(scene.locator(".reply")).to_contain_text(
        "First turn right, then turn left: stay. The other way round: the same."
    )
    # Five things, with one kind of matrices.
    scene.locator('[data-value="5"]').click()
    for kind in (1, 3, 4, 5, 6):
        scene.locator(f'[data-kind="{kind}"]').click()
    is_right(5, "2", 14400)
    expect(scene.locator(".score b").first).to_have_text("65")


def test_the_matrices_of_the_page_multiply_as_moves_do(reader: Any) -> None:
    found = reader(motion="reduce").evaluate(
        """async () => {
          const { permutations, products, representations } = await import("lab/symmetric.js");
          const elements = permutations(4);
          const table = products(elements);
          const kinds = representations(4, elements, table);
          return {
            table: Array.from(table),
            kinds: kinds.map(({ name, dimension, matrices }) => [name, dimension, Array.from(matrices)]),
          };
        }"""
    )
    moves = task("group:S4")
    table, basis = np.array(found["table"]).reshape(24, 24), moves.structure.basis
    np.testing.assert_array_equal(table, moves.table)
    assert basis is not None
    assert [name for name, *_ in found["kinds"]] == basis.names
    for _, d, entries in found["kinds"]:
        rho = np.array(entries).reshape(24, d, d)
        np.testing.assert_allclose(np.einsum("xij,yjk->xyik", rho, rho), rho[table], atol=1e-12)
        np.testing.assert_allclose(np.square(np.trace(rho, axis1=1, axis2=2)).sum(), 24)


def test_it_is_the_first_thing_the_lab_shows_and_leads_to_its_own_run(
    chromium: Any, lab: Any, watch: Any, runs: dict[str, str]
) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    watched = watch(context)
    page = watched.page
    sizes: list[int] = []
    asked: list[dict[str, Any]] = []
    page.on(
        "response", lambda answer: sizes.append("/api/" not in answer.url and int(answer.headers["content-length"]))
    )

    def check(route: Any) -> None:
        """As if a run of the store were the story's."""
        asked.append(route.request.post_data_json)
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"run": runs["tiny"]})

    page.route("**/api/check", check)
    page.goto(lab.url)
    page.wait_for_url(re.compile(r"/$"))
    expect(page.locator("html")).to_have_attribute("data-ready", "true")
    page.locator(".end .button").click()
    expect(page.locator("#train")).to_be_visible()
    page.wait_for_url(re.compile(f"run={runs['tiny']}&step=30"))  # It was played, so the clock holds its last step.
    assert Experiment.from_dict(asked[-1]).resolve().id == RUN.resolve().id
    table, curves = (page.locator(f"#{panel}").bounding_box() for panel in ("answers", "curves"))
    assert table["x"] + table["width"] <= curves["x"]
    assert curves["y"] == table["y"]
    assert sum(sizes) < MOST_BYTES, "story and lab together"
    context.close()
    assert watched.problems == []
