"""A fair search, verdicts on made-up times, and every study on made-up runs."""

from collections.abc import Sequence
from typing import Any

import pytest

from modgrok.reproduce.accelerators.contest import choose
from modgrok.reproduce.accelerators.sizes import (
    ADAMW,
    BESIDE,
    CONTESTANTS,
    EMA_DECAYED,
    FILTERS,
    FULL,
    MA,
    MA_DECAYED,
    ORTHOGONAL,
    QUICK,
    STABILITY,
    STABLE,
    TINY,
    inner_matrices,
    searched,
)
from modgrok.reproduce.claim import Verdict
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.table import Table

PAPER = find_paper("accelerators")
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


SPEED = {"grokfast": "Grokfast, EMA", "muon": "Muon", "orthogonal_gradient": "⊥Grad", "stablemax": "StableMax"}


@pytest.mark.parametrize("claim", SPEED)
def test_every_contestant_can_win_and_lose(claim: str) -> None:
    for times, outcome in (([50, 60], "holds"), ([95, 95], "does not hold here")):
        assert verdict(f"{claim}_tuned", made_up(**{SPEED[claim]: times})).outcome.startswith(outcome)


def arena(
    baseline: Sequence[int | None],
    steps: int = 80_000,
    modulus: int = 113,
    memorized: int | None = 100,
    **times: Sequence[int | None],
) -> dict[str, Any]:
    """Numbers of all three arenas with these times to the test set, the baseline's where none are given."""
    lanes = {"figF": ((None,), FILTERS), "figE": ((None,), STABILITY), "figM": (("x + y", "x / y"), (ADAMW, "Muon"))}
    return {
        study: Table(
            {"operation": operation, "contestant": name, "seed": seed, "steps": steps}
            | {"modulus": modulus, "memorized_at": memorized, "grokked_at": time}
            for operation in operations
            for name in names
            for seed, time in enumerate(times.get(f"{operation}: {name}", times.get(name, baseline)))
        ).to_json(5)
        for study, (operations, names) in lanes.items()
    }


def outcome(claim: str, numbers: dict[str, Any]) -> str:
    return next(one for one in PAPER.claims if one.name == claim).verdict(numbers).outcome


FAST, SLOW, NEVER = [600] * 4, [39_000] * 4, [None] * 4
HALF, FIFTH, LATE = [1_300] * 4, [4_000] * 4, [30_000] * 4
YES, REMARK, NO, OPEN = "holds", "holds with a remark", "does not hold here", "undecided here"


@pytest.mark.parametrize(
    ("claim", "baseline", "times", "expected"),
    [
        ("grokfast", SLOW, {EMA_DECAYED: FAST, MA_DECAYED: FAST}, YES),
        ("grokfast", NEVER, {EMA_DECAYED: FAST, MA_DECAYED: FAST}, YES),
        ("grokfast", SLOW, {EMA_DECAYED: FAST, MA_DECAYED: [2_000] * 4}, REMARK),
        ("grokfast", SLOW, {EMA_DECAYED: FAST, MA_DECAYED: FIFTH}, NO),
        ("grokfast", SLOW, {EMA_DECAYED: FAST, MA_DECAYED: NEVER}, NO),
        ("grokfast", NEVER, {EMA_DECAYED: FAST, MA_DECAYED: LATE}, OPEN),
        ("grokfast", [400] * 4, {EMA_DECAYED: FAST, MA_DECAYED: FAST}, OPEN),
        ("grokfast_alone", SLOW, {MA: FIFTH}, YES),
        ("grokfast_alone", SLOW, {MA: [12_000] * 4}, REMARK),
        ("grokfast_alone", SLOW, {MA: LATE}, NO),
        ("grokfast_beside_decay", SLOW, {EMA_DECAYED: FAST, MA_DECAYED: FAST}, YES),
        ("grokfast_beside_decay", SLOW, {EMA_DECAYED: FAST}, REMARK),
        ("grokfast_beside_decay", SLOW, {}, NO),
        ("grokfast_beside_decay", NEVER, {}, OPEN),
        ("orthogonal_gradient", NEVER, dict.fromkeys(ORTHOGONAL, [300] * 4), YES),
        ("orthogonal_gradient", NEVER, {ORTHOGONAL[1]: [300] * 4}, REMARK),
        ("orthogonal_gradient", NEVER, dict.fromkeys(ORTHOGONAL, HALF), REMARK),
        ("orthogonal_gradient", LATE, dict.fromkeys(ORTHOGONAL, SLOW), NO),
        ("orthogonal_gradient", [200] * 4, dict.fromkeys(ORTHOGONAL, [110] * 4), OPEN),
        ("without_decay", NEVER, dict.fromkeys(ORTHOGONAL, FAST), YES),
        ("without_decay", NEVER, {ORTHOGONAL[0]: FAST}, REMARK),
        ("without_decay", LATE, dict.fromkeys(ORTHOGONAL, FAST), REMARK),
        ("without_decay", NEVER, {}, NO),
        ("without_decay", [500] * 4, dict.fromkeys(ORTHOGONAL, FAST), NO),
        ("without_decay", [400] * 4, dict.fromkeys(ORTHOGONAL, FAST), OPEN),
        ("stablemax", NEVER, {STABLE: LATE}, REMARK),
        ("stablemax", SLOW, {STABLE: LATE}, REMARK),
        ("stablemax", LATE, {STABLE: SLOW}, NO),
        ("stablemax", NEVER, {}, NO),
        ("muon", FIFTH, {"Muon": HALF}, YES),
        ("muon", FIFTH, {"x + y: Muon": HALF, "x / y: Muon": FAST, "x + y: AdamW": [400] * 4}, REMARK),
        ("muon", FIFTH, {"x + y: Muon": HALF}, NO),
        ("muon", FIFTH, {"Muon": NEVER}, NO),
        ("muon", [400] * 4, {"Muon": [200] * 4}, OPEN),
        ("muon", FIFTH[:2], {"Muon": HALF[:2]}, OPEN),
    ],
)
def test_what_authors_say_in_their_own_arena(claim: str, baseline: Any, times: Any, expected: str) -> None:
    assert outcome(claim, arena(baseline, **times)) == expected


def test_arenas_need_their_authors_steps_and_modulus_and_a_baseline_that_memorizes() -> None:
    short = arena(NEVER, steps=1_000)
    assert {outcome(claim, short) for claim in ("grokfast", "grokfast_alone", "stablemax")} == {OPEN}
    small = arena(NEVER, modulus=31)
    assert {outcome(claim, small) for claim in ("orthogonal_gradient", "stablemax", "without_decay")} == {OPEN}
    without = arena(SLOW, memorized=None, **dict.fromkeys((EMA_DECAYED, MA_DECAYED, *ORTHOGONAL, STABLE), FAST))
    for claim in ("grokfast", "orthogonal_gradient", "without_decay", "stablemax", "muon"):
        assert outcome(claim, without) == OPEN


def test_contestants_of_an_arena_differ_from_their_baseline_in_nothing_else() -> None:
    for name, base in BESIDE.items():
        settings = FILTERS | STABILITY
        more = {key: value for key, value in settings[name].items() if key not in settings[base]}
        assert settings[base] | more == settings[name]
        assert {key.partition("_")[0] for key in more} <= {"grokfast", "orthogonal", "loss"}
    usual, own = (e for tags, e in inner_matrices(FULL) if (tags["operation"], e.seed) == ("x + y", 0))
    assert usual.lr * usual.weight_decay == pytest.approx(own.lr * own.weight_decay)
    assert usual.lr == pytest.approx(own.lr * own.adam_rate)


def test_every_study_is_measured_drawn_and_judged(judge: Any) -> None:
    assert judge(PAPER, TINY).keys() == {claim.name for claim in PAPER.claims}


def test_a_search_without_success_is_drawn() -> None:
    nowhere = made_up(tried=(None, None, None), **{name: [None, None] for name in CONTESTANTS})
    numbers = Table(row | {"setting": "task n + m"} for row in nowhere).to_json(5)
    assert PAPER.study("figN").figures[0].draw(numbers).axes[0].get_xlim() == (1, 1000)
