"""What became of a run, in a sentence."""

import re
from typing import Any

import playwright.sync_api as playwright

expect = playwright.expect


def test_what_became_of_a_run_is_said_in_a_sentence(open_lab: Any) -> None:
    page = open_lab()
    base = {"settings": {"lr": 0.3, "modulus": 97, "fraction": 0.2, "threshold": 0.99}, "auto": {"lr": 0.5}}
    base |= {"task": {"structure": "sum"}, "status": "finished", "parent": None, "result": None}
    rows = [
        {"step": 0, "train_accuracy": 0.1, "test_accuracy": 0.0},
        {"step": 40, "train_accuracy": 1, "test_accuracy": 0.1},
    ]
    grokked = {"step": 900, "train_accuracy": 1, "test_accuracy": 1}
    fresh = [row | {"train_accuracy": None} for row in (rows[0], grokked)]
    cases = {
        "Memorized at step 40, grokked at step 900, 23 times as long.": base | {"rows": [*rows, grokked]},
        "Memorized at step 40, not grokked in 40 steps (test 10.0 %). α = 0.2 is little data": base | {"rows": rows},
        "Not memorized yet.": base | {"rows": rows[:1], "status": "unfinished"},
        "Not memorized in 0 steps. Train longer": base | {"rows": rows[:1]},
        "Not memorized in 0 steps. The rate 0.3 may be too large for p = 97; auto is 0.001.": base
        | {"rows": rows[:1], "auto": {"lr": 0.001}},
        "The rate 0.3 is too large for p = 97; auto is 0.5.": base | {"rows": rows, "status": "diverged"},
        "Forked at step 100. Its training pairs were memorized before the fork, grokked at step 1 000.": base
        | {"parent": {"step": 100, "rows": []}, "rows": [rows[1] | {"step": 0}, grokked]},
        "Learned at step 900. Every batch is new, so there is nothing to memorize.": base | {"rows": fresh},
        "Not learned in 0 steps (test 0.0 %). Every batch is new": base | {"rows": fresh[:1]},
        "Not learned yet (test 0.0 %).": base | {"rows": fresh[:1], "status": "unfinished"},
    }
    for wanted, run in cases.items():
        said = page.evaluate("async (run) => (await import('lab/outcome.js')).sentence(run)", run)
        assert wanted in re.sub(r"[\u00a0\u202f]", " ", said)


def test_a_finished_run_that_failed_gets_advice(open_lab: Any, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['seed9']}")
    expect(page.locator("#times")).to_contain_text("Not memorized in 30 steps")
    expect(page.locator("#times")).to_contain_text("0.001 is too small for p = 13; auto is")
    expect(page.locator("#times")).not_to_contain_text("yet")


def test_nothing_is_said_that_the_run_denies(open_lab: Any, settled: Any, runs: dict[str, str]) -> None:
    page = open_lab()

    def altered(route: Any) -> None:
        """A run on fresh examples, forked at step 100."""
        answer = route.fetch()
        details = answer.json() | {"parent": {"run": runs["tiny"], "step": 100, "rows": []}}
        details["rows"] = [row | {"train_accuracy": None, "train_loss": row["step"] and 0.5} for row in details["rows"]]
        route.fulfill(response=answer, json=details)

    page.route(f"**/api/runs/{runs['parity']}", altered)
    page.evaluate(f"location.hash = 'run={runs['tiny']}'")
    expect(page.locator("#times")).to_contain_text("Memorized at step")
    expect(page.locator("#clock .train")).to_be_visible()
    page.evaluate(f"location.hash = 'run={runs['parity']}'")
    expect(page.locator("#times")).to_contain_text("Forked at step 100. Not learned in 104 steps")
    expect(page.locator("#step")).to_have_text("step 104")
    expect(page.locator("#curves .legend")).to_have_text("the batch seennew examples")
    expect(page.locator("#run-status")).to_contain_text("fresh examples")
    expect(page.locator("#clock .train")).to_have_count(0)
    page.click("#open-tour")
    expect(page.locator("#tour")).to_contain_text("What it cannot learn")
    page.keyboard.press("Escape")
    settled(page)
    for panel in ("answers", "circle", "weights", "ipr", "theory", "embedding"):  # hidden, and silent of the run before
        words = page.locator(f"#{panel} .sentence, #{panel} .legend").all_text_contents()
        assert "".join(words) == "", panel
