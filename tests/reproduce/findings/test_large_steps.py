"""The verdicts on large steps, on tables for which they hold and on controls for which they must not."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from modgrok.experiments.sweeps.logistic import Transition
from modgrok.reproduce.paper import find_paper

PAPER = find_paper("findings")
Outcomes = Callable[..., dict[str, str]]
FAILS, UNDECIDED = "does not hold here", "undecided here"
SIZES = {"modulus": 97, "width": 500, "steps": 10_000, "status": "finished"}


def cell(part: str, x: float, beta: float, fraction: float, groks: bool, **more: Any) -> list[dict[str, Any]]:
    found = {"part": part, "x": x, "beta": beta, "fraction": fraction, "grokked_at": 900 if groks else None}
    found |= {"accuracy": 1.0 if groks else 0.1, "train": 1.0, "most": 1.0 if groks else 0.4}
    return [SIZES | found | {"seed": seed} | more for seed in range(3)]


def critical(**values: float) -> list[dict[str, Any]]:
    return [
        {
            "x": float(x[1:]),
            "rate": float(x[1:]),
            "budget": 1000,
            "alpha": asdict(Transition(a, a - 0.005, a + 0.005, 0.01)),
        }
        for x, a in values.items()
    ]


SHARED = {"critical": critical(x1=0.28, x2=0.24, x4=0.2), "critical_adam": critical(x1=0.27, x3=0.18)}
ROWS = [
    row | SHARED
    for some in (
        *(cell("grid", x, beta, 0.2, x >= 2) for x in (0.5, 1.0, 2.0, 4.0) for beta in (0, 0.5)),
        *(cell("grid", x, beta, 0.3, True, most=0.5) for x in (0.5, 1.0, 2.0, 4.0) for beta in (0, 0.5)),
        cell("before", 0.5, 0, 0.2, False, order="small, then large"),
        cell("before", 2.0, 0, 0.2, False, order="large, then small"),
        cell("after", 2.0, 0, 0.2, True, order="small, then large"),
        cell("after", 0.5, 0, 0.2, False, order="large, then small"),
        cell("noise", 0.5, 0, 0.2, False, noise="noise 1e-9"),
        cell("adam", 0.0, 0, 0.2, False),
    )
    for row in some
]
CLAIMS = "less_data ceiling_decides edge_first now_decides noise_does_not adam_too".split()


def judged(outcomes: Outcomes, *changes: tuple[dict[str, Any], str, Any]) -> dict[str, str]:
    return outcomes(PAPER, {"large_steps": ROWS}, *(("large_steps", *change) for change in changes))


def test_what_should_hold_holds(outcomes: Outcomes) -> None:
    found = judged(outcomes)
    assert {name: found[name] for name in CLAIMS} == dict.fromkeys(CLAIMS, "holds")


@pytest.mark.parametrize(
    ("name", "where", "column", "value"),
    [
        ("less_data", {}, "critical", critical(x1=0.28, x4=0.27)),
        ("adam_too", {}, "critical_adam", critical(x1=0.28, x4=0.3)),
        ("ceiling_decides", {"beta": 0.5, "fraction": 0.2}, "accuracy", 1.0),
        ("ceiling_decides", {"fraction": 0.2}, "accuracy", 1.0),
        ("edge_first", {"part": "grid", "x": 4.0}, "most", 0.5),
        ("now_decides", {"part": "after", "order": "small, then large"}, "grokked_at", None),
        ("now_decides", {"part": "after", "order": "large, then small"}, "grokked_at", 900),
        ("noise_does_not", {"part": "noise"}, "grokked_at", 900),
    ],
)
def test_controls_fail(outcomes: Outcomes, name: str, where: dict[str, Any], column: str, value: Any) -> None:
    assert judged(outcomes, (where, column, value))[name] == FAILS


def test_what_cannot_be_told_is_undecided(outcomes: Outcomes) -> None:
    easy = judged(outcomes, ({"x": 0.5, "beta": 0}, "grokked_at", 900))
    assert easy["edge_first"] == easy["now_decides"] == easy["noise_does_not"] == UNDECIDED
    early = judged(outcomes, ({"part": "before"}, "grokked_at", 900))
    assert early["now_decides"] == UNDECIDED
    small = judged(outcomes, ({}, "modulus", 31))
    assert small["less_data"] == small["ceiling_decides"] == small["adam_too"] == UNDECIDED
