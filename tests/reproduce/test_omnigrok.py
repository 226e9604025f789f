"""Critical norms, times of decay, verdicts on made-up landscapes, and every study on made-up runs."""

import math
from typing import Any

import pytest

from modgrok.reproduce.omnigrok2022 import PAPER, claims, profile
from modgrok.reproduce.omnigrok2022.landscape import crossing, decay_time
from modgrok.reproduce.omnigrok2022.profile import FULL, QUICK, SETTINGS, TINY


def test_the_critical_norm_is_where_the_accuracy_falls() -> None:
    assert crossing([1.0, 10.0, 100.0], [0.2, 1.0, 0.0], 0.5) == pytest.approx(10**1.5)
    assert crossing([1.0, 10.0, 100.0], [0.2, 0.3, 0.4], 0.5) is None
    assert crossing([1.0, 10.0, 100.0], [0.2, 1.0, 1.0], 0.5) is None


def test_the_time_of_decay() -> None:
    steps = decay_time(20.0, 10.0, 1e-3, 0.5)
    assert 20.0 * (1 - 1e-3 * 0.5) ** steps == pytest.approx(10.0, rel=1e-3)


def made_up(**changed: Any) -> dict[str, Any]:
    """A landscape with a valley at the norm 10, and times that are inverse to decay."""
    test, train = changed.pop("test", [1.0, 0.1, 1.0]), changed.pop("train", [1.0, 0.01, 0.01])
    places = [
        {"scale": s, "norm": 10 * s, "test_loss": a, "train_loss": b}
        for s, a, b in zip((0.1, 1.0, 10.0), test, train, strict=True)
    ]
    numbers = {
        "landscape": places,
        "critical_norm": 10.0,
        "free": {"decay": 0.5},
        "held": {"scale": 1.0, "times": [[100, 150], [100, 120]]},
        "times": {"0.5": [[100, 1000], [100, 1020]], "1.0": [[100, 500], [100, 510]]},
        "predicted": {"0.5": 1100.0, "1.0": 550.0},
        "norm_when_known": [11.0, None],
    }
    return numbers | changed


@pytest.mark.parametrize(
    ("judge", "changed", "outcome"),
    [
        (claims.landscape, {}, "holds"),
        (claims.landscape, {"test": [1.0, 0.1, 0.05]}, "does not hold here"),
        (claims.landscape, {"train": [1.0, 0.01, 0.5]}, "does not hold here"),
        (claims.no_delay, {}, "holds"),
        (claims.no_delay, {"held": {"scale": 1.0, "times": [[100, 600], [100, 700]]}}, "does not hold here"),
        (claims.no_delay, {"held": {"scale": 1.0, "times": [[100, None], [100, 120]]}}, "does not hold here"),
        (claims.inverse_decay, {}, "holds"),
        (claims.inverse_decay, {"predicted": {"0.5": 300.0, "1.0": 150.0}}, "holds with a remark"),
        (claims.inverse_decay, {"predicted": {"0.5": None, "1.0": None}}, "holds with a remark"),
        (claims.inverse_decay, {"times": {"0.5": [[9, 1000]], "1.0": [[9, 900]]}}, "does not hold here"),
        (claims.inverse_decay, {"times": {"0.5": [[9, None]], "1.0": [[9, 900]]}}, "does not hold here"),
    ],
)
def test_verdicts(judge: Any, changed: dict[str, Any], outcome: str) -> None:
    assert judge(made_up(**changed)).outcome == outcome


def test_digits_are_left_out_where_their_images_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "has_digits", lambda: False)
    assert FULL.left_out == ("figD",)
    assert QUICK.left_out == ("figT", "figD")


def test_every_system_is_a_study_whose_held_norm_is_in_its_landscape() -> None:
    assert set(FULL.systems) == set(SETTINGS)
    for one in (QUICK, FULL):
        for name, system in one.systems.items():
            assert system.held in system.scales
            if name != "digits":
                held = one.experiments(name)["landscape"][system.held][0].resolve()
                assert held.hold_norm
                assert held.init_scale == system.held
    assert math.prod(len(system.scales) for system in QUICK.systems.values()) > 0


def test_every_study_is_measured_drawn_and_judged(judge: Any) -> None:
    assert judge(PAPER, TINY).keys() == {claim.name for claim in PAPER.claims}
