"""Phases of wrong labels, verdicts that can fail, and the pipeline of what came after the paper."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modgrok.reproduce.followups.corruption import PHASES, five_phases, phase
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.pipeline import Request, reproduce
from modgrok.reproduce.table import Table

PAPER = find_paper("followups")
Outcomes = Callable[..., dict[str, str]]
Change = tuple[str, dict[str, Any], str, Any]


def test_phases_of_wrong_labels() -> None:
    assert phase(1.0, 1.0, 0.3) == "coexistence"
    assert phase(0.8, 1.0, 0.3) == "partial inversion"
    assert phase(0.7, 1.0, 0.3) == "full inversion"
    assert phase(0.9, 1.0, 0.1) == "full inversion"
    assert phase(1.0, 0.1, 0.3) == "memorization"
    assert phase(0.1, 0.1, 0.3) == "forgetting"


SEED = {"modulus": 13, "closed_form": 1.0, "closed_form_width": 54, "pure": 1.0, "mismatch": 0.01, "least": 0.9}
WHOLE = [1.0, 1.0, 1.0]
TABLES: dict[str, list[dict[str, Any]]] = {
    "figM": [SEED | {"seed": 0, "margins": [-0.5, 0.3, 0.95, 0.99]}],
    "figC": [
        {"weight_decay": decay, "phase": phase}
        for decay, phases in {0.0: ("coexistence", "memorization", "forgetting"), 5.0: PHASES}.items()
        for phase in (*phases, *phases)
    ],
    "figP": [
        {"seed": 0, "wrong_labels": 0.3, "low": [WHOLE, [0.75, 0.99, 0.2]], "high": [WHOLE, [0.8, 0.3, 0.9]]},
    ],
    "figF": [
        {"iteration": i + 1, "train_loss": 1e-20, "test_accuracy": accuracy, "deviation": deviation}
        for i, (accuracy, deviation) in enumerate(
            zip([0.0] * 6 + [0.6, 0.99], [None, 0.8, 0.5] + [0.2] * 5, strict=True)
        )
    ],
}
"""As the authors say."""


def test_what_the_authors_say_holds(outcomes: Outcomes) -> None:
    assert set(outcomes(PAPER, TABLES).values()) == {"holds"}


def replaced(old: str, new: str, decay: float) -> Change:
    return "figC", {"weight_decay": decay, "phase": old}, "phase", new


FAILURES: list[tuple[str, Change]] = [
    ("largest_margin", ("figM", {}, "margins", [0.3, 0.5, 0.7, 0.8])),
    ("largest_margin", ("figM", {}, "margins", [0.3, 0.5, 0.9, 1.1])),
    ("margin_is_fourier", ("figM", {}, "pure", 0.5)),
    ("margin_is_fourier", ("figM", {}, "mismatch", 0.7)),
    ("margin_is_fourier", ("figM", {}, "least", 0.2)),
    ("decay_inverts", replaced("memorization", "full inversion", 0.0)),
    ("decay_inverts", replaced("coexistence", "memorization", 0.0)),
    ("pruning", ("figP", {}, "low", [WHOLE, [0.75, 0.99, 0.4]])),
    ("pruning", ("figP", {}, "low", [WHOLE, [0.95, 0.92, 0.2]])),
    ("pruning", ("figP", {}, "low", [WHOLE, [0.7, 0.8, 0.1]])),
    ("pruning", ("figP", {}, "high", [WHOLE, [0.3, 0.6, 0.3]])),
    ("machine_groks", ("figF", {}, "train_loss", 0.1)),
    ("machine_groks", ("figF", {}, "test_accuracy", 0.9)),
    ("machine_groks", ("figF", {}, "test_accuracy", 0.0)),
    ("features_first", ("figF", {"deviation": 0.5}, "test_accuracy", 0.5)),
]


@pytest.mark.parametrize(("name", "change"), FAILURES, ids=[f"{i}-{name}" for i, (name, _) in enumerate(FAILURES)])
def test_claims_can_fail(name: str, change: Change, outcomes: Outcomes) -> None:
    assert outcomes(PAPER, TABLES, change)[name] == "does not hold here"


def test_claims_can_fail_by_several_rows(outcomes: Outcomes) -> None:
    never = [replaced("partial inversion", "memorization", 5.0), replaced("full inversion", "memorization", 5.0)]
    found = outcomes(PAPER, TABLES, *never, *[("figF", {"deviation": value}, "deviation", 0.8) for value in (0.5, 0.2)])
    assert found["decay_inverts"] == found["features_first"] == found["five_phases"] == "does not hold here"


def test_remarks_and_what_cannot_be_said(outcomes: Outcomes) -> None:
    found = outcomes(
        PAPER,
        TABLES,
        ("figF", {"iteration": 7}, "test_accuracy", 0.0),
        ("figF", {"iteration": 8}, "test_accuracy", 0.7),
        replaced("partial inversion", "full inversion", 5.0),
        ("figP", {}, "low", [[0.7, 1.0, 0.0]] * 2),
    )
    assert found["machine_groks"] == "holds with a remark"
    assert found["five_phases"] == "does not hold here"
    assert found["pruning"] == "undecided here"


def test_a_phase_that_one_network_shows_is_a_remark() -> None:
    rows = [row for i, row in enumerate(TABLES["figC"]) if row["phase"] != "forgetting" or i == 2]
    assert five_phases.verdict({"figC": Table(rows).to_json(5)}).outcome == "holds with a remark"
    absent = [row for row in rows if row["phase"] != "forgetting"]
    assert "forgetting" in five_phases.verdict({"figC": Table(absent).to_json(5)}).sentence


def test_the_whole_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("followups", "tiny", out=tmp_path), say=lambda line: None)
    assert outcome.verdicts.keys() == {claim.name for claim in PAPER.claims}
    assert outcome.verdicts["largest_margin"].outcome == "holds"
    assert "too little to decide. So far: Not so:" in outcome.verdicts["five_phases"].sentence
    assert "None" not in (tmp_path / "report.md").read_text()
