"""A fair search, verdicts on made-up times, and every study on made-up runs."""

from typing import Any

import pytest

from modgrok.reproduce.accelerators import PAPER
from modgrok.reproduce.accelerators.contest import choose
from modgrok.reproduce.accelerators.sizes import BASELINE, CONTESTANTS, FULL, QUICK, TINY, searched
from modgrok.reproduce.claim import Verdict
from modgrok.reproduce.table import Table

Rows = list[dict[str, Any]]


def test_every_contestant_has_the_same_search() -> None:
    for profile in (QUICK, FULL):
        names = [tags["contestant"] for tags, _ in searched("figN", profile)]
        assert len({names.count(name) for name in CONTESTANTS}) == 1
    some = [(tags["contestant"], e) for tags, e in searched("figN", TINY)]
    assert {name for name, _ in some} == CONTESTANTS.keys()
    assert len({(e.seed, e.task, e.width, e.steps, e.threshold) for _, e in some if e.seed == 1}) == 1
    lion = next(e for tags, e in searched("figN", QUICK) if tags["contestant"] == "Lion")
    assert (lion.lr, lion.weight_decay) == (3e-3, 0.0)


def test_one_seed_chooses_and_the_others_are_compared() -> None:
    def chosen(*trials: list[tuple[int | None, float]]) -> float:
        rows = [
            {"contestant": "Lion", "lr": lr, "weight_decay": 0.0, "seed": seed, "grokked_at": time, "test_accuracy": a}
            for lr, seeds in zip((0.1, 0.2), trials, strict=True)
            for seed, (time, a) in enumerate(seeds)
        ]
        found: float = choose(TINY, Table(rows))["chosen"]["Lion"]["lr"]
        return found

    assert chosen([(500, 1.0), (90, 1.0)], [(400, 1.0), (900, 1.0)]) == 0.2
    assert chosen([(None, 0.3), (1, 1.0)], [(None, 0.2), (2, 1.0)]) == 0.1


def made_up(decay: Any = 1.0, tried: Any = (200, 100, 300), **times: Any) -> Rows:
    """Three trials of each contestant and two seeds of the chosen one, 100 steps where none are given."""
    chosen = {name: {"lr": 0.1, "weight_decay": decay} for name in CONTESTANTS}
    return [
        {"contestant": name, "lr": 0.1, "steps": 1000, "chosen": chosen, **row}
        for name in CONTESTANTS
        for row in (
            *({"weight_decay": d, "seed": 0, "grokked_at": t} for d, t in zip((0.0, 1.0, 3.0), tried, strict=True)),
            *(
                {"weight_decay": decay, "seed": 1 + seed, "grokked_at": time}
                for seed, time in enumerate(times.get(name, [100, 100]))
            ),
        )
    ]


def verdict(claim: str, *tables: Rows) -> Verdict:
    """On three tasks, which are alike where one table is given."""
    numbers = [Table(rows).to_json(5) for rows in (tables if len(tables) == 3 else tables * 3)]
    studies = dict(zip(("figN", "figP", "figG"), numbers, strict=True))
    return next(one for one in PAPER.claims if one.name == claim).verdict(studies)


def test_verdicts_on_speed() -> None:
    assert verdict("lion", made_up(Lion=[50, 60])).outcome == "holds"
    assert verdict("lion", made_up(Lion=[95, 95])).outcome == "does not hold here"
    assert verdict("lion", made_up(Lion=[None, None])).outcome == "undecided here"
    assert verdict("lion", made_up(AdamW=[None, None])).outcome == "holds"
    mixed = (made_up(Lion=[50, 50]), made_up(Lion=[50, 50]), made_up())
    assert verdict("lion", *mixed).outcome == "holds with a remark"
    not_begun = made_up(**{"Grokfast, MA": [50, 50]})
    assert verdict("grokfast_tuned", not_begun).outcome == "does not hold here"
    late = made_up(**{"AdamW": [400, 400], "Grokfast, EMA": [500, 500], "Grokfast, MA": [200, 200]})
    assert verdict("grokfast_tuned", late).outcome == "holds"


def test_every_verdict_about_muon_says_how_it_departs_from_jordans() -> None:
    for times, outcome in (([50], "holds with a remark"), ([95], "does not hold here"), ([None], "undecided here")):
        found = verdict("muon_tuned", made_up(Muon=times))
        assert found.outcome == outcome
        assert "Jordan's leaves embeddings, readouts and vectors to AdamW" in found.sentence


def test_a_best_trial_at_the_edge_of_the_search_is_a_remark() -> None:
    found = verdict("muon_tuned", made_up(3.0, Muon=[50, 60]))
    assert found.outcome == "holds with a remark"
    assert "edge of the search" in found.sentence


@pytest.mark.parametrize(
    ("memorized", "times", "outcome"),
    [
        (10, [50, 60], "holds"),
        (10, [95, 95], "does not hold here"),
        (50, [50, 60], "undecided here"),
        (None, [50, 60], "undecided here"),
    ],
)
def test_what_authors_say_needs_a_delay_of_the_baseline(memorized: Any, times: Any, outcome: str) -> None:
    rows = [row | {"memorized_at": memorized} for row in made_up(StableMax=times)]
    assert verdict("stablemax", rows).outcome == outcome


SPEED = {"grokfast": "Grokfast, EMA", "muon": "Muon", "orthogonal_gradient": "⊥Grad", "stablemax": "StableMax"}


@pytest.mark.parametrize("tuned", ["", "_tuned"])
@pytest.mark.parametrize("claim", SPEED)
def test_every_contestant_can_win_and_lose(claim: str, tuned: str) -> None:
    for times, outcome in (([50, 60], "holds"), ([95, 95], "does not hold here")):
        rows = [row | {"memorized_at": 10} for row in made_up(**{SPEED[claim]: times})]
        assert verdict(claim + tuned, rows).outcome.startswith(outcome)


def test_verdicts_without_decay() -> None:
    assert verdict("without_decay", made_up()).outcome == "undecided here"
    never = made_up(tried=(None, None, None))
    alone = [row for row in made_up() if row["contestant"] != BASELINE]
    alone += [row for row in never if row["contestant"] == BASELINE]
    assert verdict("without_decay", alone).outcome == "holds"
    assert verdict("without_decay", never).outcome == "does not hold here"


def test_every_study_is_measured_drawn_and_judged(judge: Any) -> None:
    assert judge(PAPER, TINY).keys() == {claim.name for claim in PAPER.claims}


def test_a_search_without_success_is_drawn() -> None:
    nowhere = made_up(tried=(None, None, None), **{name: [None, None] for name in CONTESTANTS})
    numbers = Table(row | {"setting": "task n + m"} for row in nowhere).to_json(5)
    assert PAPER.figures[0].draw(numbers).axes[0].get_xlim() == (1, 1000)
