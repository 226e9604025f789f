"""The verdicts on how few neurons there can be, on tables for which they hold and on controls for which they fail."""

from collections.abc import Callable
from typing import Any

from modgrok.closed_form.limiting import EXACT, LIMIT, NEITHER
from modgrok.reproduce.paper import find_paper

PAPER = find_paper("findings")
Outcomes = Callable[..., dict[str, str]]
FAILS, UNDECIDED, STUDY = "does not hold here", "undecided here", "few_neurons"
MANY = {"starts": 64, "steps": 300}


def margins(power: int, values: dict[int, float]) -> list[dict[str, Any]]:
    return [
        {"part": "margin", "power": power, "p": 5, "width": width, "margin": value, "six": 1.0, **MANY}
        for width, value in values.items()
    ]


def limits(group: str, bound: int, closed_form: int, kinds: dict[int, str]) -> list[dict[str, Any]]:
    return [
        {"part": "limit", "group": group, "width": width, "kind": kind, "power": 1.0, "losses": [1.0] * 5, **MANY}
        | {"bound": bound, "closed_form": closed_form}
        for width, kind in kinds.items()
    ]


ROWS: list[dict[str, Any]] = [
    *({"part": "answers", "p": 5, "width": width, "accuracy": 1.0} for width in (2, 3)),
    {"part": "answers", "p": 5, "width": 1, "accuracy": 0.2},
    *margins(3, {width: min(1.0, width / 12) for width in range(2, 15)}),
    *margins(2, {width: min(0.29, 0.29 * width / 7) for width in range(2, 15)}),
    *({"part": "trained", "p": 5, "width": 12, "seed": seed, "margin": 0.95} for seed in (0, 1)),
    *limits("Z5", 7, 9, {6: NEITHER, 7: LIMIT, 8: EXACT}),
    *limits("S3", 9, 10, {8: NEITHER, 9: LIMIT}),
]
CLAIMS = (
    "two_are_enough six_a_frequency norms_stop_early trained_reach_it limits_need_fewer bound_reached_in_the_limit "
    "groups_below_cubes"
).split()


def test_what_should_hold_holds(outcomes: Outcomes) -> None:
    found = outcomes(PAPER, {STUDY: ROWS})
    assert {name: found[name] for name in CLAIMS} == dict.fromkeys(CLAIMS, "holds")


def test_controls_fail(outcomes: Outcomes) -> None:
    z7, s9 = {"group": "Z5", "width": 7}, {"group": "S3", "width": 9}
    for name, where, column, value in (
        ("two_are_enough", {"part": "answers", "width": 2}, "accuracy", 0.96),
        ("two_are_enough", {"part": "answers", "width": 1}, "accuracy", 0.5),
        ("six_a_frequency", {"power": 3}, "six", 0.9),
        ("six_a_frequency", {"power": 3, "width": 11}, "margin", 0.995),
        ("six_a_frequency", {"power": 3, "width": 14}, "margin", 1.1),
        ("norms_stop_early", {"power": 2, "width": 14}, "margin", 0.4),
        ("norms_stop_early", {"power": 2, "width": 4}, "margin", 0.28),
        ("trained_reach_it", {"part": "trained", "seed": 1}, "margin", 0.7),
        ("limits_need_fewer", z7, "kind", NEITHER),
        ("bound_reached_in_the_limit", z7, "kind", NEITHER),
        ("bound_reached_in_the_limit", {"group": "Z5", "width": 6}, "kind", LIMIT),
        ("groups_below_cubes", s9, "kind", NEITHER),
    ):
        assert outcomes(PAPER, {STUDY: ROWS}, (STUDY, where, column, value))[name] == FAILS, (name, where, column)
    climbed = outcomes(PAPER, {STUDY: ROWS}, (STUDY, {"power": 3, "width": 12}, "margin", 0.95))
    assert climbed["six_a_frequency"] == "holds with a remark"


def test_too_few_starts_decide_nothing(outcomes: Outcomes) -> None:
    few = (STUDY, {}, "starts", 4)
    found = outcomes(PAPER, {STUDY: ROWS}, few, (STUDY, {"part": "limit"}, "kind", NEITHER))
    for name in ("six_a_frequency", "norms_stop_early", "bound_reached_in_the_limit", "groups_below_cubes"):
        assert found[name] == UNDECIDED
    assert found["limits_need_fewer"] == UNDECIDED
    one_seed = outcomes(PAPER, {STUDY: ROWS}, (STUDY, {"part": "trained"}, "seed", 0))
    assert one_seed["trained_reach_it"] == UNDECIDED
