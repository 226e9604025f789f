"""Critical fractions: the fit against transitions that are known, the search against runs that are pretended."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from modgrok import plot
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment
from modgrok.experiments.result import Result
from modgrok.experiments.sweeps.critical import PLACES, SEEDS, Critical, Effort, Search, critical_fractions
from modgrok.experiments.sweeps.logistic import Transition, fit_transition, transition_within
from modgrok.experiments.sweeps.trends import clearly_below, describe, gains, power_law, sentences

BASE = Experiment("n + m", 23, width=16, steps=50)


def ended(grokked_at: int | None) -> Result:
    return Result("0" * 12, "finished", 50, 0.1, 1.0, None, None, None, None, grokked_at, None, 1.0)


def pretended(critical: Any, width: float = 0.01, seed: int = 0) -> Any:
    """Trains nothing: a run succeeds with the probability of a logistic transition at `critical(experiment)`."""
    random = np.random.default_rng(seed)
    asked: list[Experiment] = []

    def train(experiments: Sequence[Experiment]) -> list[Result | None]:
        asked.extend(experiments)
        chances = [1 / (1 + math.exp(-min(50, max(-50, (e.fraction - critical(e)) / width)))) for e in experiments]
        return [ended(7 if random.random() < chance else None) for chance in chances]

    return train, asked


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(1)
    fractions = np.arange(0.2, 0.4, 0.02)
    covered = 0
    for _ in range(60):
        truth = random.uniform(0.27, 0.33)
        chances = 1 / (1 + np.exp(-(fractions - truth) / 0.015))
        counts = {float(x): (int(random.binomial(8, chance)), 8) for x, chance in zip(fractions, chances, strict=True)}
        found = fit_transition(counts, 0.02)
        assert found.critical is not None
        assert found.low <= found.critical <= found.high
        covered += found.low <= truth <= found.high
    assert covered >= 52


def test_where_successes_and_failures_separate_the_interval_spans_the_gap() -> None:
    found = fit_transition({0.2: (0, 8), 0.3: (0, 8), 0.4: (8, 8), 0.5: (8, 8)}, 0.1)
    assert found.critical == pytest.approx(0.35, abs=2e-3)
    assert found.low == pytest.approx(0.30, abs=0.02)
    assert found.high == pytest.approx(0.40, abs=0.02)
    assert found.probability(np.array([0.35]))[0] == pytest.approx(0.5, abs=0.1)


def test_a_transition_that_was_not_seen_is_bounded_from_one_side() -> None:
    none = fit_transition({0.5: (0, 4), 0.9: (0, 4)}, 0.01)
    assert (none.critical, none.low, none.high) == (None, 0.9, None)
    every = fit_transition({0.5: (4, 4), 0.9: (4, 4)}, 0.01)
    outside = fit_transition({0.5: (3, 4), 0.7: (4, 4), 0.9: (3, 4)}, 0.2)
    assert (outside.critical, outside.low, outside.high) == (None, None, 0.5)
    assert (every.critical, every.low, every.high) == (None, None, 0.5)


def test_the_search_closes_in_on_the_transition() -> None:
    train, asked = pretended(lambda e: 0.437)
    (found,) = critical_fractions([Search(BASE, Effort(seeds=6))], train)
    assert found.transition.low <= 0.437 <= found.transition.high
    assert found.transition.high - found.transition.low < 0.04
    near = [e for e in asked if abs(e.fraction - 0.437) < 0.1]
    assert len(near) > len(asked) / 2
    assert len(asked) == len({e.seed for e in asked}) == found.runs < 200
    assert max(e.seed for e in asked) < SEEDS
    assert found.budget == 50
    assert "[" in str(found)


@pytest.mark.parametrize(("critical", "says"), [(2.0, "above 0.95"), (-1.0, "below 0.05")])
def test_a_transition_outside_is_said_to_be_there(critical: float, says: str) -> None:
    train, asked = pretended(lambda e: critical)
    (found,) = critical_fractions([Search(BASE, Effort(seeds=2, points=3))], train)
    assert str(found) == says
    assert len(asked) < 12


def test_runs_that_fail_do_not_count() -> None:
    train, asked = pretended(lambda e: 0.5)

    def failing(experiments: Sequence[Experiment]) -> list[Result | None]:
        return [
            None if e.seed // PLACES == 1 else result for e, result in zip(experiments, train(experiments), strict=True)
        ]

    (found,) = critical_fractions([Search(BASE, Effort(seeds=3, resolution=0.05))], failing)
    assert found.transition.critical == pytest.approx(0.5, abs=0.05)
    assert len(asked) == len({e.seed for e in asked}) > found.runs
    with pytest.raises(ModgrokError, match="could be trained"):
        critical_fractions([Search(BASE)], lambda experiments: [None] * len(experiments))


@pytest.fixture(scope="module")
def several() -> list[Critical]:
    """α_c = 6/√p, and 0.03 less with balanced sampling."""
    train, _ = pretended(lambda e: 6 / e.modulus**0.5 - 0.03 * (e.sampling == "balanced") - 0.3)
    wanted = [(p, "random") for p in (53, 71, 97)] + [(97, "balanced"), (97, "answers")]
    searches = [
        Search(Experiment("n + m", p, sampling=sampling, width=16, steps=50), Effort(seeds=10))
        for p, sampling in wanted
    ]
    return critical_fractions(searches, train)


def test_trends(several: list[Critical]) -> None:
    law = power_law(several[:3])
    assert law is not None
    expected = -math.log((6 / 97**0.5 - 0.3) / (6 / 53**0.5 - 0.3)) / math.log(97 / 53)
    assert law.exponent == pytest.approx(expected, abs=2 * law.error)
    assert power_law(several[:2]) is None
    (first, balanced), (second, answers) = gains(several)
    assert (first.sampling, second.sampling) == ("balanced", "answers")
    assert balanced.low <= -0.03 <= balanced.high < 0
    assert answers.low < 0 < answers.high
    said = sentences(several)
    assert "falls with p" in said[0]
    assert "balanced sampling needs less data" in said[1]
    assert "no clear difference" in said[2]


def test_a_measurement_can_be_written_and_read(several: list[Critical]) -> None:
    described = describe(several)
    assert [Critical.from_dict(one) for one in described["critical"]] == several
    assert describe(several[:1])["power_law"] is None


def test_figures(several: list[Critical]) -> None:
    assert len(plot.critical(several).axes) == 2
    assert len(plot.critical(several[2:]).axes) == 1


@pytest.mark.parametrize(
    "settings", [{"low": 0.5, "high": 0.4}, {"high": 1.0}, {"seeds": 0}, {"points": 1}, {"resolution": 0.0}]
)
def test_effort_is_checked(settings: dict[str, Any]) -> None:
    with pytest.raises(ModgrokError):
        Effort(**settings)


def test_a_run_groks_within_a_budget_that_is_long_enough() -> None:
    times = {0.1: [None, None], 0.2: [5000, 9000], 0.3: [400, 600], 0.4: [50, 60]}
    short, middle, long = (transition_within(times, budget) for budget in (100, 1000, 10_000))
    found = [one.critical for one in (long, middle, short) if one.critical is not None]
    assert np.digitize(found, [0.1, 0.2, 0.3, 0.4]).tolist() == [1, 2, 3]
    assert clearly_below(long, middle)
    assert not clearly_below(middle, long)
    assert str(transition_within(times, 10)) == "above 0.4"
    below = Transition(None, None, 0.1, None)
    assert clearly_below(below, middle)
    assert not clearly_below(below, below)
