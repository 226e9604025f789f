"""The toy, and the paper's pipeline on small runs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.reproduce.liu2022.sizes import FULL, QUICK, TINY, TOY
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.pipeline import Request, reproduce
from modgrok.reproduce.sizes import Sizes
from modgrok.tasks import task

PAPER = find_paper("liu2022")


def test_the_task_has_fixed_codes() -> None:
    toys = task(TOY["task"])
    assert toys.codes is not None
    assert toys.codes.shape == (19, 30)
    assert np.array_equal(toys.codes, task(TOY["task"]).codes)
    assert len(toys.present) == 55
    assert task(toys.name).name == TOY["task"]
    assert PAPER.study("figE").needs(TINY)[0].resolve().loss == "mse"
    with pytest.raises(ModgrokError, match="add:10"):
        task("add:10,codes=")


def test_every_study_is_measured_drawn_and_judged(judge: Any) -> None:
    verdicts = judge(PAPER, Sizes("tiny", (), TINY.values))
    assert verdicts["phases_of_permutations"].outcome == "does not hold here"
    assert verdicts["critical_share"].outcome != "undecided here"


@pytest.mark.parametrize(("half", "outcome"), [(22, "holds"), (40, "does not hold here"), (60, "does not hold here")])
def test_the_share_from_which_sets_force_the_embedding(half: int, outcome: str, outcomes: Any) -> None:
    drawn = [{"sets": 100, "examples": n, "linear": 1 / (1 + np.exp(half - n))} for n in range(5, 56)]
    assert outcomes(PAPER, {"fig4": TIMES + drawn})["critical_share"] == outcome


def grid(name: str, rows: dict[float, str], y: str) -> list[dict[str, Any]]:
    """A diagram by initials of phases: rates of the decoder from slow to fast, and a row for each y."""
    names = {"C": "comprehension", "G": "grokking", "M": "memorization", "x": "confusion"}
    usual = {"diagram": name, "embedding_lr": 1e-3, "weight_decay": 0.0, "seed": 0, "steps": 100_000, "lag": 1000}
    found = [usual | {y: at, "lr": 10.0 ** (i - 5)} for at, row in rows.items() for i in range(len(row))]
    phases = [names[letter] for row in rows.values() for letter in row]
    return [one | {"phases": phases, "run_steps": 9} for one in found]


NEAR = {0.0: "CCCCGMM", 1.0: "CCCCGMM", 2.0: "CCCCGMM", 3.0: "xCCCGMM", 10.0: "xxxxxxx"}
"""Grokking is a band between comprehension and memorization."""
FAR = {0.0: "GCCCMMM", 1.0: "GCCCMMM", 2.0: "GCCCMMM", 3.0: "xCCCGMM", 10.0: "xxxxxxx"}
"""Grokking is beyond comprehension."""


def diagram(name: str, phases: dict[str, tuple[float, float, float]]) -> list[dict[str, Any]]:
    """Two runs a phase at a rate of the embedding, a decay and a rate of the decoder."""
    rows = [
        {"diagram": name, "embedding_lr": a, "weight_decay": b, "lr": c, "seed": seed, "steps": 100_000}
        for a, b, c in phases.values()
        for seed in range(2)
    ]
    return [row | {"phases": [p for p in phases for _ in range(2)], "run_steps": 9, "lag": 1000} for row in rows]


RATES = {"comprehension": (1e-2, 0.0, 1e-4), "grokking": (1e-2, 0.0, 1e-2), "memorization": (1e-4, 0.0, 1e-2)}
DECAYS = {"memorization": (1e-3, 0.0, 1e-3), "comprehension": (1e-3, 2.0, 1e-3), "confusion": (1e-3, 9.0, 1e-3)}
SIZES = {20: (None, None), 22: (2000, None), 45: (900, 800)}
TIMES = [
    {"steps": 10_000, "examples": n, "seed": i, "linear_at": time, "rate": 3000 / (time or 1e9)}
    for n, times in SIZES.items()
    for i, time in enumerate(times)
]
PLANE = {"roundness": [0.5, 0.1], "effective_dimension": [50.0, 2.0], "test_accuracy": 1.0}
TABLES: dict[str, list[dict[str, Any]]] = {
    "fig4": TIMES,
    "fig6": diagram("a", RATES) + diagram("b", DECAYS),
    "fig6d": diagram("d", DECAYS),
    "figP": [PLANE | {"seed": seed} for seed in range(4)],
    "figO": [
        {"dropout": rate, "seed": seed, "memorized_at": 100, "grokked_at": time}
        for rate, times in {0.0: (5000, None, 4000), 0.3: (900, 9000, 800)}.items()
        for seed, time in enumerate(times)
    ],
}
for one in TABLES["fig6"]:
    one["phases"] = [p for some in (RATES, DECAYS) for p in some for _ in range(2)]
HOLDS, REMARK, FAILS, UNDECIDED = "holds", "holds with a remark", "does not hold here", "undecided here"
NOT_AT_ZERO = ("fig6d", {"weight_decay": 2.0}, "weight_decay", 0.0)


@pytest.mark.parametrize(
    ("claim", "outcome", "changes"),
    [
        ("transition_in_training", HOLDS, []),
        ("transition_in_training", FAILS, [("fig4", {"examples": 22}, "linear_at", None)]),
        ("time_from_theory", HOLDS, []),
        ("time_from_theory", REMARK, [("fig4", {"linear_at": time}, "rate", 500 / time) for time in (2000, 900, 800)]),
        ("time_from_theory", FAILS, [("fig4", {"linear_at": 2000}, "rate", 9.0)]),
        ("phases_of_rates", HOLDS, []),
        ("phases_of_decay", HOLDS, []),
        ("phases_of_decay", FAILS, [("fig6", {"weight_decay": 9.0}, "lr", 1e-5)]),
        ("phases_of_permutations", HOLDS, []),
        ("phases_of_permutations", FAILS, [NOT_AT_ZERO]),
        ("circle", HOLDS, []),
        ("circle", FAILS, [("figP", {}, "roundness", [0.5, 0.4])]),
        ("circle", FAILS, [("figP", {}, "test_accuracy", 0.5)]),
        (
            "circle",
            REMARK,
            [("figP", {"seed": 1}, "test_accuracy", 0.5), ("figP", {"seed": 2}, "roundness", [0.5, 0.4])],
        ),
        ("dropout_removes_the_delay", HOLDS, []),
        ("dropout_removes_the_delay", FAILS, [("figO", {"dropout": 0.0}, "grokked_at", 600)]),
        ("dropout_removes_the_delay", FAILS, [("figO", {"dropout": 0.3, "seed": 0}, "grokked_at", None)]),
    ],
)
def test_what_is_claimed_can_hold_and_fail(claim: str, outcome: str, changes: Any, outcomes: Any) -> None:
    assert outcomes(PAPER, TABLES, *changes)[claim] == outcome


def bands(rows: dict[float, str], steps: int = 100_000) -> dict[str, list[dict[str, Any]]]:
    """The same bands in all diagrams."""
    squared = grid("a", {at + 1: row for at, row in rows.items()}, "embedding_lr") + grid("b", rows, "weight_decay")
    for one in squared:
        one["phases"] = 2 * squared[-1]["phases"]
    tables = TABLES | {"fig6": squared, "figT": grid("e", rows, "weight_decay")}
    return {name: [row | {"steps": steps} for row in some] for name, some in tables.items()}


@pytest.mark.parametrize("claim", ["grokking_between", "phases_of_the_transformer"])
def test_grokking_is_nearer_to_memorization_or_not(claim: str, outcomes: Any) -> None:
    assert outcomes(PAPER, bands(NEAR))[claim] == HOLDS
    assert outcomes(PAPER, bands(NEAR, steps=10_000))[claim] == HOLDS
    assert outcomes(PAPER, bands(FAR))[claim] == FAILS
    assert outcomes(PAPER, bands(FAR, steps=10_000))[claim] == UNDECIDED
    assert outcomes(PAPER, bands({0.0: "CCCMMMM", 1.0: "CCCMMMM"}))[claim] == FAILS


def test_few_places_do_not_tell_phases_from_chance(outcomes: Any) -> None:
    assert outcomes(PAPER, bands({0.0: "CCGM", 1.0: "CCCM"}))["phases_of_the_transformer"] == FAILS


def ends(weak: str = "M", strong: str = "x") -> dict[str, list[dict[str, Any]]]:
    """The corners of three diagrams, those of the last as given."""
    rows = [row for name in "bcd" for row in grid(name, {0.0: "M", 10.0: "x"}, "weight_decay")]
    last = grid("d", {0.0: weak, 10.0: strong}, "weight_decay")[0]["phases"]
    return TABLES | {"corners": [row | {"phases": 2 * rows[0]["phases"] + last} for row in rows]}


def test_corners_hold_and_fail(outcomes: Any) -> None:
    assert outcomes(PAPER, ends())["corners"] == HOLDS
    assert outcomes(PAPER, ends(), ("corners", {}, "steps", 10_000))["corners"] == REMARK
    assert outcomes(PAPER, ends(weak="C"))["corners"] == FAILS
    assert outcomes(PAPER, ends(strong="M"))["corners"] == FAILS


def test_one_circle_is_a_remark(outcomes: Any) -> None:
    assert outcomes(PAPER, TABLES | {"figP": TABLES["figP"][:1]})["circle"] == REMARK


def test_the_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("liu2022", "tiny", only=("fig6",), out=tmp_path), say=lambda line: None)
    assert set(outcome.verdicts) == {claim.name for claim in PAPER.claims}
    assert "too little to decide. So far: Not so:" in outcome.verdicts["phases_of_rates"].sentence
    assert outcome.verdicts["circle"].outcome == "undecided here"
    text = (tmp_path / "report.md").read_text()
    assert "add:10,codes=30:unordered" in text.replace("\\", "")
    assert "None" not in text


def test_profiles_keep_what_they_promise() -> None:
    diagrams = PAPER.study("fig6").needs(FULL)
    assert len(diagrams) >= 600
    assert {e.steps for e in diagrams} == {100_000}
    assert not FULL.left_out
    assert PAPER.study("figP").needs(FULL)[0].resolve().width == 256
    assert sum(e.steps or 0 for study in PAPER.chosen((), QUICK) for e in study.needs(QUICK)) < 400_000
