"""The letters say what the report says: every verdict, and the values they quote."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[3] / "docs"
QUOTED = {
    "dealing": {"scales_are_forgotten": "", "one_exponent": ""},
    "few-neurons": {"six_a_frequency": "p = 5", "norms_stop_early": "", "trained_reach_it": "", "limits_need_fewer": ""}
    | {"groups_below_cubes": ""},
    "alignment": {"few_pairs_align": "random labels", "worth_in_neurons": "off", "one_clock": "1.15"},
    "large-steps": {
        "less_data": "",
        "ceiling_decides": "rate",
        "now_decides": "large, then small: accuracy at α = 0.25",
    },
}
"""By page and claim, the labels (those that end so) whose measured values stand on the page word for word."""


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Any]:
    return json.loads((DOCS / "reproduction" / "findings" / "verdicts.json").read_text())


@pytest.mark.parametrize("page", QUOTED)
def test_the_page_says_what_the_report_says(page: str, verdicts: dict[str, Any]) -> None:
    text = (DOCS / "findings" / f"{page}.md").read_text()
    said = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", text, re.MULTILINE))
    assert set(QUOTED[page]) <= set(said)
    assert said == {name: verdicts[name]["outcome"] for name in said}
    for claim, ending in QUOTED[page].items():
        for label, value in verdicts[claim]["measured"].items():
            assert not label.endswith(ending) or value in text, (claim, label, value)
    for figure in re.findall(r"!\[.*\]\((.+)\)", text):
        assert (DOCS / "findings" / figure).exists()


@pytest.mark.parametrize("page", QUOTED)
def test_an_abstract_is_short(page: str) -> None:
    text = (DOCS / "findings" / f"{page}.md").read_text()
    assert len(text[text.index("**Abstract.**") : text.index("## What was known")].split()) <= 120


def test_agreements_of_the_race_are_the_report_s(verdicts: dict[str, Any]) -> None:
    text = (DOCS / "findings" / "dealing.md").read_text()
    measured = verdicts["race_names_neurons"]["measured"]
    shown = [("race", "gd"), ("race", "adam"), ("race", "adamw"), ("strongest", "gd"), ("shuffled", "gd")]
    for group in ("S4", "S3xS3", "S4xZ2", "A5"):
        medians = [measured[f"κ of {kind}, {group}, {rule}"].split()[0] for kind, rule in shown]
        assert f"| {group} | {' | '.join(medians)} |" in text


def test_the_tables_of_alignment_are_the_report_s(verdicts: dict[str, Any]) -> None:
    text = (DOCS / "findings" / "alignment.md").read_text()
    measured = verdicts["few_pairs_align"]["measured"]
    kinds = ("coherence", "coherence at a random frequency", "waves alone answer")
    for n in (1, 2, 3, 5, 9, 28, 94, 282):
        medians = [measured[f"{kind}, {n} pairs"].split(" (")[0] for kind in kinds]
        assert f"| {n} | {' | '.join(medians)} |" in text
    for claim in (
        "alignment_is_used",
        "memory_delays",
        "perfection_is_not_needed",
        "other_networks",
        "forgetting_reveals",
    ):
        for label, value in verdicts[claim]["measured"].items():
            quoted = value.replace(", 8 seeds", "").replace(", 4 seeds", "").replace(", 3 seeds", "")
            quoted = quoted.replace("(4 seeds)", "(all)").replace("(3 seeds)", "(all)")
            assert label.startswith("coherence") or quoted in text, (claim, label, quoted)


def test_noise_on_the_page_is_the_report_s(verdicts: dict[str, Any]) -> None:
    text = (DOCS / "findings" / "large-steps.md").read_text()
    measured = verdicts["noise_does_not"]["measured"]
    for alpha in ("0.225", "0.25"):
        kinds = (
            " and the same rate, no noise",
            *(f", noise {x}" for x in ("5e-10", "2e-09", "8e-09")),
            ", batches of 256",
        )
        medians = [measured[f"test accuracy at α = {alpha}{kind}"].split(" (")[0] for kind in kinds]
        assert f"| {alpha} | {' | '.join(medians)} |" in text
