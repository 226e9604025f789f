"""Verdicts on made-up landscapes, and every study on made-up runs."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from modgrok.reproduce.omnigrok2022 import sizes
from modgrok.reproduce.omnigrok2022.landscape import SYSTEMS
from modgrok.reproduce.omnigrok2022.sizes import FULL, QUICK, SETTINGS, TINY, too_large
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.table import Table

PAPER = find_paper("omnigrok2022")


def landscape(test: tuple[float, ...] = (1.0, 0.1, 1.0), train: tuple[float, ...] = (1.0, 0.01, 0.01)) -> list[Any]:
    """Losses with a valley at the norm 10."""
    losses = zip((0.1, 1.0, 10.0), test, train, strict=True)
    return [{"scale": s, "norm": 10 * s, "test_loss": a, "train_loss": b} for s, a, b in losses]


SHARED = {"landscape": landscape(), "critical_norm": 10.0, "predicted": [1100.0, 550.0], "lr": 1e-3}
HELD = {"part": "held", "init_scale": 1.0, "weight_decay": 0.0, "memorized_at": 100, "steps": 10_000}
FREE = {"part": "free", "init_scale": 4.0, "memorized_at": 100, "norm_when_known": 11.0}
TIMES = {0.5: (1000, 1020), 1.0: (500, 510)}
TABLE = [HELD | SHARED | {"seed": seed, "grokked_at": time} for seed, time in enumerate((150, 120))] + [
    FREE | SHARED | {"weight_decay": decay, "seed": seed, "grokked_at": time}
    for decay, times in TIMES.items()
    for seed, time in enumerate(times)
]
"""Times that are inverse to decay."""


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize(
    ("claim", "where", "column", "value", "outcome"),
    [
        ("landscape", {}, "seed", 0, "holds"),
        ("landscape", {}, "landscape", landscape(test=(1.0, 0.1, 0.05)), "does not hold here"),
        ("landscape", {}, "landscape", landscape(train=(1.0, 0.01, 0.5)), "does not hold here"),
        ("no_delay", {}, "seed", 0, "holds"),
        ("no_delay", {"part": "held"}, "grokked_at", 600, "does not hold here"),
        ("no_delay", {"part": "held", "seed": 0}, "grokked_at", None, "does not hold here"),
        ("inverse_decay", {}, "seed", 0, "holds"),
        ("inverse_decay", {}, "predicted", [300.0, 150.0], "holds with a remark"),
        ("inverse_decay", {}, "predicted", [], "holds with a remark"),
        ("inverse_decay", {"weight_decay": 1.0}, "grokked_at", 900, "does not hold here"),
        ("inverse_decay", {"weight_decay": 0.5}, "grokked_at", None, "does not hold here"),
    ],
)
def test_verdicts(
    system: str, claim: str, where: dict[str, Any], column: str, value: Any, outcome: str, outcomes: Any
) -> None:
    figure = SYSTEMS[system][0]
    assert outcomes(PAPER, {figure: TABLE}, (figure, where, column, value))[f"{claim}_{system}"] == outcome


U, L = (0.9, 0.02, 0.8), (0.9, 0.0, 0.0)


@pytest.mark.parametrize(
    ("test", "train", "outcome"),
    [
        (U, L, "holds"),
        ((0.9, 0.02, 0.01), L, "does not hold here"),
        (U, (0.9, 0.0, 0.3), "does not hold here"),
    ],
)
def test_digits_are_judged_by_errors(test: Any, train: Any, outcome: str, outcomes: Any) -> None:
    losses = landscape(train=(1.0, 0.01, 0.5))
    places = [
        place | {"test_accuracy": 1 - a, "train_accuracy": 1 - b}
        for place, a, b in zip(losses, test, train, strict=True)
    ]
    rows = [row | {"task": "digits", "landscape": places} for row in TABLE]
    assert outcomes(PAPER, {"figD": rows})["landscape_digits"] == outcome


def test_few_steps_do_not_decide_a_landscape(outcomes: Callable[..., dict[str, str]]) -> None:
    early = ("figS", {"part": "held"}, "steps", 1_500)
    rising = ("figS", {}, "landscape", landscape(train=(1.0, 0.01, 0.5)))
    assert outcomes(PAPER, {"figS": TABLE}, early)["landscape_teacher"] == "holds"
    assert outcomes(PAPER, {"figS": TABLE}, early, rising)["landscape_teacher"] == "undecided here"


def test_the_second_term_is_what_the_time_leaves() -> None:
    """(1010 − 400) · 0.001 · 0.5 and (505 − 200) · 0.001 · 1."""
    rows = [row | {"predicted": [400.0, 200.0]} for row in TABLE]
    claim = next(claim for claim in PAPER.claims if claim.name == "inverse_decay_teacher")
    verdict = claim.verdict({"figS": Table(rows).to_json(5)})
    assert verdict.measured["h tan θ, the measured time · ηγ less ln(w0/wc)"] == "0.305 (2 decays)"
    assert verdict.outcome == "holds with a remark"


def test_digits_have_the_papers_batches() -> None:
    found = [(tags["part"], e.resolve()) for tags, e in PAPER.study("figD").runs(FULL)]
    assert {(part == "free", e.batch_size, e.beta2) for part, e in found} == {(True, 200, 0.999), (False, 100, 0.999)}


def test_digits_are_left_out_where_their_images_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "has_digits", lambda: False)
    assert too_large() == ("figD",)
    assert too_large("figT") == ("figT", "figD")


def test_every_system_is_a_study_whose_held_norm_is_in_its_landscape() -> None:
    names = dict(zip(SETTINGS, ("figS", "figD", "figA", "figT"), strict=True))
    assert set(FULL.values) == set(SETTINGS)
    for profile in (QUICK, FULL):
        for name, system in profile.values.items():
            assert system.held.shown in system.held.scales
            if name != "digits":
                runs = [e.resolve() for tags, e in PAPER.study(names[name]).runs(profile) if tags["part"] == "held"]
                assert {(e.hold_norm, e.init_scale) for e in runs} == {(True, system.held.shown)}
                assert len(runs) == system.seeds
    assert math.prod(len(system.held.scales) for system in QUICK.values.values()) > 0


def test_every_study_is_measured_drawn_and_judged(judge: Any) -> None:
    assert judge(PAPER, TINY).keys() == {claim.name for claim in PAPER.claims}
