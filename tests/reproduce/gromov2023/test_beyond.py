"""Answers to open questions: tables that make each hold, hold with a remark, and fail."""

from collections.abc import Callable
from typing import Any

import pytest

from modgrok.reproduce.claim import Claim
from modgrok.reproduce.gromov2023 import followed as networks
from modgrok.reproduce.gromov2023 import memorizer, statements
from modgrok.reproduce.gromov2023.memorizer import RANDOM, SHARE, SHARES, SIGNS, UNSTRUCTURED
from modgrok.reproduce.paper import find_paper, members

PAPER = find_paper()

HOLDS, REMARK, FAILS, NOT_RUN = "holds", "holds with a remark", "does not hold here", "undecided here"
HELD = {"as it is": 0.03, "waves": 1.0, "own waves": 0.01, "waves, readouts shuffled": 0.02, "coherence": 0.6}
HELD |= {"train_accuracy": 1.0, "test_accuracy": 0.01, "ipr": 0.01, "share": SHARE, "examples": 282}
FLOW = {
    "part": "flow",
    "step": [0, 40, 160, 300],
    "predicted": [0.04, 0.15, 0.48, 0.8],
    "measured": [0.04, 0.16, 0.45, 0.75],
    "applies": [True, True, True, False],
    "test_accuracy": [0.01, 0.01, 0.0, 0.5],
}


def followed(start: float, between: float, end: float) -> list[float]:
    """A value at the start, at snapshots from memorization to grokking, and at the end."""
    return [start, *[between] * 21, end]


SNAPSHOTS: dict[str, Any] = {"memorized_at": 40, "grokked_at": 80, "step": [0, *range(40, 81, 2), 100]}
SHARPNESS = SNAPSHOTS | {"status": "finished", "sharpness": [1.0, *(1.2**i for i in range(1, 22)), 60.0]}
KERNEL = SNAPSHOTS | {
    "drift": followed(0, 1, 9.0),
    "like_start": followed(1.0, 0.9, 0.8),
    "like_target": followed(0.1, 0.2, 0.3),
    "regression_accuracy": followed(0.0, 0.02, 1.0),
    "test_accuracy": followed(0.01, 0.02, 1.0),
}
STRUCTURES = {
    "√(n + m)": "function_of_sum",
    "log(n·m)": "function_of_product",
    "n^m": "power",
    "m-th root of n": "root",
}
STRUCTURES |= {"log of m to base n": "logarithm"}
TABLES = {
    "memorizer": [
        *(HELD | {"part": "pairs", "share": share, "examples": round(9409 * share)} for share in SHARES),
        HELD | {"part": "steps", "step": 0, "waves": 0.01, "coherence": 0.04},
        HELD | {"part": RANDOM, "waves": 0.01, "coherence": 0.03},
        HELD | {"part": "width", "width": 125},
        HELD | {"part": "function", "task": UNSTRUCTURED, "waves": 0.01},
        *({"part": "signs", "task": text, "answered": [1.0 if text == o else 0.01 for o in SIGNS]} for text in SIGNS),
        *(FLOW | {"share": share} for share in (0.03, 0.5)),
    ],
    "sharpness": [
        SHARPNESS | {"rate": 1e6, "over_limit": followed(0.01, 0.5, 0.3)},
        SHARPNESS | {"rate": 2e6, "over_limit": followed(0.01, 0.5, 1.01)},
    ],
    "tangent_kernel": [KERNEL],
    "powers": [
        {"name": name, "modulus": 31, "structure": kind, "commonest": 0.06, "seed": seed, "best_test_accuracy": 1.0}
        for name, kind in STRUCTURES.items()
        for seed in (0, 1)
    ],
}
"""As in the report."""
FEW, NOISE = {"part": "pairs", "share": SHARE}, {"part": RANDOM}
SLOW, FAST = {"rate": 1e6}, {"rate": 2e6}

CASES: list[tuple[str, str, tuple[dict[str, Any], str, Any]]] = [
    ("memorizer_waves", REMARK, ({"part": "width"}, "waves", 0.4)),
    ("memorizer_waves", FAILS, (FEW, "waves", 0.6)),
    ("memorizer_waves", FAILS, (FEW, "test_accuracy", 0.3)),
    ("memorizer_waves", FAILS, ({"part": "steps"}, "waves", 0.9)),
    ("memorizer_waves", FAILS, (NOISE, "waves", 0.9)),
    ("memorizer_projection", FAILS, (FEW, "own waves", 0.5)),
    ("memorizer_projection", FAILS, (FEW, "waves, readouts shuffled", 0.7)),
    ("memorizer_projection", FAILS, ({"part": "signs", "task": "n + m"}, "answered", [1.0, 0.01, 0.6, 0.01])),
    ("memorizer_projection", FAILS, ({"part": "signs", "task": "n - m"}, "answered", [0.01, 0.01, 0.2, 0.01])),
    ("memorizer_alignment", REMARK, ({"part": "flow"}, "measured", [0.04, 0.16, 0.45, 0.6])),
    ("memorizer_alignment", FAILS, ({"part": "flow"}, "measured", [0.04, 0.05, 0.05, 0.06])),
    ("memorizer_alignment", FAILS, (NOISE, "coherence", 0.5)),
    ("memorizer_alignment", NOT_RUN, ({"part": "flow"}, "predicted", [0.04, 0.05, 0.06, 0.07])),
    ("sharpness_rises", REMARK, ({}, "sharpness", followed(1.0, 50.0, 50.0))),
    ("sharpness_rises", FAILS, ({}, "sharpness", followed(1.0, 2.0, 4.0))),
    ("sharpness_rises", NOT_RUN, ({}, "memorized_at", 60)),
    ("sharpness_rises", NOT_RUN, ({}, "grokked_at", None)),
    ("edge_of_stability", FAILS, (SLOW, "over_limit", followed(0.01, 0.5, 0.95))),
    ("edge_of_stability", FAILS, (FAST, "over_limit", followed(0.01, 0.5, 0.5))),
    ("edge_of_stability", FAILS, (SLOW, "over_limit", followed(0.01, 0.5, 1.4))),
    ("edge_of_stability", NOT_RUN, ({}, "status", "diverged")),
    ("kernel_drifts", REMARK, ({}, "like_start", followed(1.0, 0.99, 0.95))),
    ("kernel_drifts", FAILS, ({}, "like_target", followed(0.1, 0.1, 0.1))),
    ("kernel_drifts", NOT_RUN, ({}, "grokked_at", None)),
    ("kernel_learns", FAILS, ({}, "regression_accuracy", followed(0.9, 1.0, 1.0))),
    ("kernel_learns", FAILS, ({}, "regression_accuracy", followed(0.0, 0.0, 0.3))),
    ("kernel_learns", FAILS, ({}, "regression_accuracy", followed(0.0, 0.9, 1.0))),
    ("kernel_learns", NOT_RUN, ({}, "grokked_at", None)),
    ("kernel_learns", NOT_RUN, ({}, "memorized_at", 60)),
    ("roots_and_logarithms", FAILS, ({"name": "√(n + m)"}, "best_test_accuracy", 0.6)),
    ("structure_predicts", FAILS, ({"name": "n^m"}, "best_test_accuracy", 0.9)),
    ("structure_predicts", FAILS, ({"name": "n^m"}, "structure", "unknown")),
]


@pytest.mark.parametrize(("name", "outcome", "change"), CASES)
def test_tables_decide(name: str, outcome: str, change: Any, outcomes: Callable[..., dict[str, str]]) -> None:
    (study,) = (claim.studies[0] for claim in PAPER.claims if claim.name == name)
    assert outcomes(PAPER, TABLES, (study, *change))[name] == outcome


def test_every_answer_can_hold_and_fail(outcomes: Callable[..., dict[str, str]]) -> None:
    held = outcomes(PAPER, TABLES)
    outlook = [claim for claim in members(Claim, statements) if claim.beyond]
    for claim in (*members(Claim, memorizer, networks), *outlook):
        assert claim.beyond
        assert held[claim.name] == HOLDS, claim.name
        assert FAILS in {outcome for case, outcome, _ in CASES if case == claim.name}, claim.name
