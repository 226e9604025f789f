"""The verdicts on how neurons are dealt, on tables for which they hold and on controls for which they must not."""

from collections.abc import Callable
from typing import Any

from modgrok.reproduce.paper import find_paper

PAPER = find_paper("findings")
Outcomes = Callable[..., dict[str, str]]
FAILS, UNDECIDED = "does not hold here", "undecided here"
AGREE = {"race": 0.7, "strongest": 0.4, "shuffled": 0.01}
NETWORK = {
    **{"clear": 0.9, "dimensions": [1, 2, 3], "types": [1, 1, 1], "grokked_at": 100, "memorized_at": 30, **AGREE},
    **{"counts": [10, 57, 156], "race_counts": [10, 57, 156], "norms": [10.0, 56.6, 155.9], "at": [0, 20, 60, 200]},
    **{"same": [0.5, 0.7, 0.95, 1.0], "changed": [0.0, 0.02, 0.01, 0.0], "largest": [0.9, 0.8, 0.7, 0.7]},
    **{"largest_at_end": 0.7},
}
SMALL = {"largest": [0.1, 0.1, 0.5, 0.68], "largest_at_end": 0.68, "changed": [0.1, 0.6, 0.3, 0.0]}
ROWS: list[dict[str, Any]] = [
    *({"group": g, "rule": r, "scale": None, "seed": 0} | NETWORK for g in ("S4", "A5") for r in ("gd", "adamw")),
    *({"group": "S4", "rule": "adamw", "scale": 1.0, "seed": seed} | NETWORK for seed in (0, 1)),
    *({"group": "S4", "rule": "adamw", "scale": 0.5, "seed": seed} | NETWORK | SMALL for seed in (0, 1)),
]
CLAIMS = "race_names_neurons dealt_before_grokking scales_are_forgotten one_exponent norms_meet_the_demand".split()


def test_what_should_hold_holds(outcomes: Outcomes) -> None:
    found = outcomes(PAPER, {"dealing": ROWS})
    assert {name: found[name] for name in CLAIMS} == dict.fromkeys(CLAIMS, "holds")


def test_controls_fail(outcomes: Outcomes) -> None:
    rescaled = {"scale": 0.5}
    for name, where, column, value in (
        ("race_names_neurons", {"rule": "gd"}, "race", 0.45),
        ("race_names_neurons", {"rule": "adamw"}, "race", 0.2),
        ("race_names_neurons", {"rule": "gd"}, "strongest", 0.65),
        ("race_names_neurons", {"rule": "gd"}, "shuffled", 0.3),
        ("dealt_before_grokking", {"rule": "gd"}, "same", [0.5, 0.6, 0.7, 1.0]),
        ("dealt_before_grokking", {"rule": "gd"}, "same", [0.95, 0.95, 0.95, 1.0]),
        ("scales_are_forgotten", rescaled, "largest_at_end", 0.5),
        ("scales_are_forgotten", rescaled, "largest", [0.8, 0.8, 0.8, 0.7]),
        ("scales_are_forgotten", rescaled, "changed", [0.0, 0.1, 0.0, 0.0]),
        ("scales_are_forgotten", {"scale": 1.0}, "changed", [0.0, 0.2, 0.0, 0.0]),
        ("one_exponent", {"rule": "gd"}, "counts", [10, 80, 270]),
        ("norms_meet_the_demand", rescaled, "norms", [10.0, 100.0, 400.0]),
    ):
        assert outcomes(PAPER, {"dealing": ROWS}, ("dealing", where, column, value))[name] == FAILS, (name, column)


def test_networks_that_do_not_grok_decide_nothing(outcomes: Outcomes) -> None:
    found = outcomes(PAPER, {"dealing": ROWS}, ("dealing", {}, "grokked_at", None))
    assert {name: found[name] for name in CLAIMS} == dict.fromkeys(CLAIMS, UNDECIDED)
    unclear = outcomes(PAPER, {"dealing": ROWS}, ("dealing", {"scale": 0.5}, "clear", 0.5))
    assert unclear["scales_are_forgotten"] == UNDECIDED
    one_rule = outcomes(PAPER, {"dealing": ROWS}, ("dealing", {"rule": "adamw"}, "clear", 0.5))
    assert one_rule["race_names_neurons"] == one_rule["one_exponent"] == UNDECIDED
