"""The verdicts on alignment before knowledge, on tables for which they hold and on controls for which they must not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from modgrok.reproduce.findings.alignment import RENAMED, WAYS
from modgrok.reproduce.paper import find_paper

PAPER = find_paper("findings")
Outcomes = Callable[..., dict[str, str]]
FAILS, UNDECIDED = "does not hold here", "undecided here"
SIZES = {"modulus": 97, "width": 500, "steps": 10_000}
TIMES = {"unchanged": 1000, "zero-strongest": 980, "kept-strongest": 1100, "random-strongest": 1700}
TIMES |= {"zero": 900, "kept": 400, "random": 700}
WIDTHS = (1, 10, 30, 100, 400)
CURVE = {1: 0.01, 10: 0.1, 30: 0.6, 100: 1.0, 400: 1.0}


def answered(n: float) -> float:
    return float(np.interp(np.log(n), np.log(WIDTHS), [*CURVE.values()]))


def few(labels: str, frequency: str, examples: int, coherence: float, worth: float) -> dict[str, Any]:
    found = {"part": "pairs", "labels": labels, "frequency": frequency, "examples": examples, "coherence": coherence}
    found |= {"effective_width": worth, "waves": answered(worth), "train_accuracy": 1.0, "test_accuracy": 0.01}
    return SIZES | found | {"seed": 0}


ROWS: list[dict[str, Any]] = [
    few("right", "strongest", 9, 0.3, 25.0),
    few("right", "strongest", 28, 0.4, 60.0),
    few("right", "strongest", 282, 0.6, 150.0),
    few("right", "drawn", 9, 0.1, 1.5),
    few("right", "drawn", 28, 0.12, 15.0),
    few("right", "drawn", 282, 0.15, 30.0),
    few("random labels", "strongest", 282, 0.05, 1.5),
    *({"part": "reference", "modulus": 97, "n": n, "accuracy": a, "labels": "right"} for n, a in CURVE.items()),
    *(
        {"part": "clock", "pairs": pairs, "seed": 0, "flow": [0.05, 0.2, 0.3], "measured": [0.05, 0.22, 0.6]}
        | {"applies": [True, True, pairs > 100], "best_accuracy": 0.01, "memory_time": 2.0 * pairs}
        | ({"measured": [0.05, 0.2, 0.33]} if pairs > 100 else {})
        for pairs in (9, 94, 940)
    ),
    *(
        SIZES | {"part": "memorized", "fraction": 0.25, "seed": seed, "train_accuracy": 1.0, "test_accuracy": 0.01}
        for seed in range(5)
    ),
    *(
        SIZES | {"part": "turned", "fraction": 0.25, "seed": seed, "way": way, "grokked_at": TIMES[way] + seed}
        for seed in range(5)
        for way in WAYS
    ),
    *(
        SIZES
        | {"part": "kinds", "kind": kind, "seed": 0, "train_accuracy": [0.5, 1.0], "test_accuracy": [0.01, 0.02]}
        | {"score": [2.0, 1.0 if kind == "random labels" else 9.0]}
        for kind in ("n + m", "random labels", "n·m", "ReLU", "transformer")
    ),
]
CLAIMS = (
    "few_pairs_align worth_in_neurons one_clock alignment_is_used perfection_is_not_needed memory_delays "
    "seen_without_coordinates other_networks"
).split()
TURNED = {"part": "turned"}


RENAMED_ROWS = [
    SIZES
    | {"part": "kinds", "kind": kind, "seed": 0, "train_accuracy": [1.0], "test_accuracy": [0.01], "score": [score]}
    | {"coherence": 0.05}
    for kind, score in ((RENAMED, 6.0), ("random labels", 1.0))
]


def judged(outcomes: Outcomes, *changes: tuple[dict[str, Any], str, Any]) -> dict[str, str]:
    return outcomes(PAPER, {"alignment": ROWS}, *(("alignment", *change) for change in changes))


def test_what_should_hold_holds(outcomes: Outcomes) -> None:
    found = judged(outcomes)
    assert {name: found[name] for name in CLAIMS} == dict.fromkeys(CLAIMS, "holds")


@pytest.mark.parametrize(
    ("name", "where", "column", "value"),
    [
        ("few_pairs_align", {"labels": "random labels"}, "coherence", 0.5),
        ("few_pairs_align", {"examples": 282, "frequency": "drawn"}, "coherence", 0.5),
        ("few_pairs_align", {"examples": 282, "labels": "right"}, "coherence", 0.2),
        ("few_pairs_align", {"examples": 282}, "test_accuracy", 0.5),
        ("worth_in_neurons", {"frequency": "strongest"}, "effective_width", 3.0),
        ("one_clock", {"pairs": 94}, "measured", [0.05, 0.5, 0.6]),
        ("one_clock", {"pairs": 940}, "memory_time", 100.0),
        ("one_clock", {"pairs": 940}, "best_accuracy", 0.3),
        ("alignment_is_used", TURNED | {"way": "random-strongest"}, "grokked_at", 1100),
        ("alignment_is_used", TURNED | {"way": "random"}, "grokked_at", 400),
        ("perfection_is_not_needed", TURNED | {"way": "zero-strongest"}, "grokked_at", 500),
        ("memory_delays", TURNED | {"way": "kept"}, "grokked_at", 1000),
        ("seen_without_coordinates", {"kind": "n·m"}, "score", [2.0, 3.0]),
        ("seen_without_coordinates", {"kind": "random labels"}, "score", [2.0, 8.0]),
        ("seen_without_coordinates", {"kind": "n + m"}, "test_accuracy", [0.01, 0.3]),
        ("other_networks", {"kind": "ReLU"}, "score", [0.0, 0.5]),
    ],
)
def test_controls_fail(outcomes: Outcomes, name: str, where: dict[str, Any], column: str, value: Any) -> None:
    assert judged(outcomes, (where, column, value))[name] == FAILS


def test_what_cannot_be_told_is_undecided(outcomes: Outcomes) -> None:
    ignorant = judged(outcomes, ({"part": "memorized"}, "train_accuracy", 0.9))
    assert ignorant["alignment_is_used"] == ignorant["memory_delays"] == UNDECIDED
    assert ignorant["perfection_is_not_needed"] == UNDECIDED
    assert judged(outcomes, ({"part": "turned"}, "seed", 0))["alignment_is_used"] == UNDECIDED
    assert judged(outcomes, ({"part": "kinds"}, "train_accuracy", [0.5, 0.6]))["other_networks"] == UNDECIDED
    assert judged(outcomes, ({"part": "clock"}, "flow", [0.0, 0.1, 0.1]))["one_clock"] == UNDECIDED
    assert judged(outcomes, ({"part": "pairs"}, "waves", 0.5))["worth_in_neurons"] == UNDECIDED


def test_other_names(outcomes: Outcomes) -> None:
    for change, outcome in (((), "holds"), (("score", [3.0]), FAILS), (("coherence", 0.4), FAILS)):
        changes = [("renamed", {"kind": RENAMED}, *change)] if change else []
        assert outcomes(PAPER, {"renamed": RENAMED_ROWS}, *changes)["names_do_not_matter"] == outcome


def test_forgetting(outcomes: Outcomes) -> None:
    left = {"unchanged": (1.0, 0.0), "kept": (0.1, 0.12), "random": (0.01, 0.01)}
    rows = [
        SIZES | {"way": w, "train": a, "test": b, "seed": n, "fraction": 0.3}
        for w, (a, b) in left.items()
        for n in range(3)
    ]
    for way, column, value, outcome in (
        ("kept", "train", 0.1, "holds"),
        ("kept", "train", 0.9, FAILS),
        ("kept", "test", 0.01, FAILS),
        ("random", "test", 0.1, FAILS),
        ("unchanged", "train", 0.9, UNDECIDED),
    ):
        assert (
            outcomes(PAPER, {"erased": rows}, ("erased", {"way": way}, column, value))["forgetting_reveals"] == outcome
        )
