"""A fair search, verdicts on made-up times, and every study on made-up runs."""

from typing import Any

from modgrok.reproduce.accelerators import PAPER, claims
from modgrok.reproduce.accelerators.profile import BASELINE, CONTESTANTS, FULL, QUICK, TINY
from modgrok.reproduce.accelerators.studies import judge_trials


def test_every_contestant_has_the_same_search() -> None:
    for profile in (QUICK, FULL):
        assert len({len(profile.trials(name)) for name in CONTESTANTS}) == 1
    some = TINY.experiments("figN")
    assert some.keys() == CONTESTANTS.keys()
    one = [trials[0][1] for trials in some.values()]
    assert len({(e.seed, e.task, e.width, e.steps, e.threshold) for e in one}) == 1
    assert QUICK.trials("Lion")[0] == (3e-3, 0.0)


def test_one_seed_chooses_and_the_others_are_compared() -> None:
    trials = [(0.1, 0.0), (0.2, 0.0)]
    found = judge_trials(trials, [[(500, 1.0), (90, 1.0)], [(400, 1.0), (900, 1.0)]])
    assert (found["lr"], found["times"]) == (0.2, [900])
    never = judge_trials(trials, [[(None, 0.3), (1, 1.0)], [(None, 0.2), (2, 1.0)]])
    assert never["lr"] == 0.1


def made_up(**times: list[int | None]) -> tuple[dict[str, Any], ...]:
    """The same times on three tasks, 100 steps where none are given."""
    trials = [{"lr": 0.1, "decay": decay, "time": time} for decay, time in ((0.0, 200), (1.0, 100), (3.0, 300))]
    one = {"lr": 0.1, "decay": 1.0, "trials": trials, "accuracies": [1.0]}
    return (
        {"steps": 1000, "contestants": {name: one | {"times": times.get(name, [100, 100])} for name in CONTESTANTS}},
    ) * 3


def test_verdicts_on_speed() -> None:
    assert claims.lion.judge(*made_up(Lion=[50, 60])).outcome == "holds"
    assert claims.lion.judge(*made_up(Lion=[95, 95])).outcome == "does not hold here"
    assert claims.lion.judge(*made_up(Lion=[None, None])).outcome == "undecided here"
    assert claims.lion.judge(*made_up(AdamW=[None, None])).outcome == "holds"
    mixed = (*made_up(Lion=[50, 50])[:2], made_up()[0])
    assert claims.lion.judge(*mixed).outcome == "holds with a remark"
    not_begun = made_up(**{"Grokfast, MA": [50, 50]})
    assert claims.grokfast.judge(*not_begun).outcome == "does not hold here"
    late = made_up(**{"AdamW": [400, 400], "Grokfast, EMA": [500, 500], "Grokfast, MA": [200, 200]})
    assert claims.grokfast.judge(*late).outcome == "holds"


def test_every_verdict_about_muon_says_how_it_departs_from_jordans() -> None:
    for times, outcome in (([50], "holds with a remark"), ([95], "does not hold here"), ([None], "undecided here")):
        verdict = claims.muon.judge(*made_up(Muon=times))
        assert verdict.outcome == outcome
        assert "Jordan's leaves embeddings, readouts and vectors to AdamW" in verdict.sentence


def test_a_best_trial_at_the_edge_of_the_search_is_a_remark() -> None:
    fast = made_up(Muon=[50, 60])
    outermost = fast[0]["contestants"]["Muon"] | {"decay": 3.0}
    edge = tuple({**n, "contestants": n["contestants"] | {"Muon": outermost}} for n in fast)
    verdict = claims.muon.judge(*edge)
    assert verdict.outcome == "holds with a remark"
    assert "edge of the search" in verdict.sentence


def test_verdicts_without_decay() -> None:
    assert claims.without_decay.judge(*made_up()).outcome == "holds with a remark"
    numbers = made_up()[0]
    alone = {
        name: one | {"trials": [trial | {"time": None} for trial in one["trials"]]}
        for name, one in numbers["contestants"].items()
    }
    base = {"steps": 1000, "contestants": numbers["contestants"] | {BASELINE: alone[BASELINE]}}
    assert claims.without_decay.judge(base, base, base).outcome == "holds"
    lost = {"steps": 1000, "contestants": alone}
    assert claims.without_decay.judge(base, base, lost).outcome == "does not hold here"


def test_every_study_is_measured_drawn_and_judged(judge: Any) -> None:
    assert judge(PAPER, TINY).keys() == {claim.name for claim in PAPER.claims}
