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


def test_a_finished_run_that_failed_gets_advice(open_lab: Any, runs: dict[str, str]) -> None:
    page = open_lab(f"#run={runs['seed9']}")
    expect(page.locator("#times")).to_contain_text("Not memorized in 30 steps")
    expect(page.locator("#times")).to_contain_text("0.001 is too small for p = 13; auto is")
    expect(page.locator("#times")).not_to_contain_text("yet")
