"""Sizes, runs, tables and what claims ask of them."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest

from modgrok.experiments import Experiment
from modgrok.reproduce.claim import Ask, Verdict
from modgrok.reproduce.runs import Runs, runs
from modgrok.reproduce.sizes import sizes
from modgrok.reproduce.study import make_claim, study
from modgrok.reproduce.table import Column, Table

BASE = {"task": "n + m", "modulus": 7, "fraction": 0.5}
SMALLEST = 3


def seeds_of(some: Runs) -> list[tuple[Any, ...]]:
    return [(tags, e.fraction, e.seed) for tags, e in some]


def test_sizes_stand_side_by_side() -> None:
    quick, full, tiny = sizes(p=(5, 7, 2), few=((1,), (1, 2)), same=3, left_out=(("a",), (), ()))
    assert [(s.name, s.p, s.few, s.same, s.left_out) for s in (quick, full, tiny)] == [
        ("quick", 5, (1,), 3, ("a",)),
        ("full", 7, (1, 2), 3, ()),
        ("tiny", 2, (1,), 3, ()),
    ]
    with pytest.raises(AttributeError, match="no size is called 'q'"):
        _ = quick.q


def test_texts_name_sizes() -> None:
    _, full, _ = sizes(steps=(10, 20_000), rates=((), (0.1, 0.3)), group="S4")
    assert (
        full.say("{steps} steps in {group} at {rates}, {rates:#} of them")
        == "20\u202f000 steps in S4 at 0.1, 0.3, 2 of them"
    )


def test_columns_are_compared_row_by_row() -> None:
    late, soon = Column([6, None, 9]), Column([2, 4, None])
    assert late / soon == [3, None, None]
    assert late - soon == [4, None, None]


def test_lists_ranges_and_dictionaries_vary() -> None:
    made = runs(BASE, fraction=[0.4, 0.6], seed=range(2))
    assert seeds_of(made) == [({"fraction": f, "seed": s}, f, s) for f in (0.4, 0.6) for s in (0, 1)]
    named = runs(BASE, way={"few": {"fraction": 0.2}, "many": {"fraction": 0.8, "seed": 5}})
    assert seeds_of(named) == [({"way": "few"}, 0.2, 0), ({"way": "many"}, 0.8, 5)]
    assert len(made + named.tag(part="b")) == 6
    assert seeds_of(made[:1].but(seed=9)) == [({"fraction": 0.4, "seed": 0}, 0.4, 9)]


def test_what_varies_is_not_fixed_too() -> None:
    ways = {"GD": {"optimizer": "gd", "task": "n + m"}}
    with pytest.raises(AssertionError, match="both fixed and varied: task"):
        runs({}, way=ways, task="n - m")


def test_fractions_can_have_seeds_of_their_own() -> None:
    found = [*runs({"task": "n + m"}, fraction=[0.3, 0.5], seed=range(2)).fresh_seeds()]
    assert [tags["repeat"] for tags, _ in found] == [0, 1, 0, 1]
    seeds = [experiment.seed for _, experiment in found]
    assert len({*seeds}) == 4
    assert seeds == [tags["seed"] for tags, _ in found]


TABLE = Table(
    [
        {"p": 7, "decay": decay, "seed": seed, "time": time}
        for decay, times in ((0, (None, None)), (2, (10, 30)), (1, (40, None)))
        for seed, time in enumerate(times)
    ]
)


def test_tables_are_asked_by_rows_columns_and_lines() -> None:
    assert TABLE.one("p") == 7
    assert TABLE.where("decay > 0", seed=0)["time"] == [10, 40]
    assert TABLE.where(lambda row: row.time, decay=(1, 2))["seed"] == [0, 1, 0]
    assert TABLE.where(decay=0)["time"].none()
    assert TABLE.median("time", "decay") == {0: None, 1: None, 2: 20}
    assert TABLE.of("time", lambda cell: -len(cell.known()), "decay").falls()
    assert list(TABLE.by("decay")) == [0, 2, 1]
    assert TABLE.grid("seed", "decay", lambda cell: cell.first.time) == [[None, 10, 40], [None, 30, None]]
    assert TABLE.median("time", "decay").known().products() == [40]
    assert TABLE.first.absent is None
    assert not TABLE.of("time", lambda cell: len(cell.known()), "decay").falls()
    assert Column([1, None]).average() == 1


@pytest.mark.parametrize(
    ("of", "fails", "expected"),
    [
        ("event", True, "undecided here"),
        ("event", False, "holds"),
        ("never", True, "does not hold here"),
        ("never", False, "undecided here"),
        ("effect", True, "undecided here"),
        ("effect", False, "undecided here"),
    ],
)
def test_too_little_is_undecided(of: Any, fails: bool, expected: str) -> None:
    def judge(ask: Ask, needed: int = 3) -> None:
        ask.budget(TABLE, of, seeds=needed, p=5)
        ask.that("it is so", not fails)
        ask.show({"p": 7}, paper="97")

    short, enough = Ask.about(judge), Ask.about(lambda ask: judge(ask, 2))
    assert short.outcome == expected
    assert ("seeds 2 here, 3 or more needed" in short.sentence) is (expected == "undecided here")
    assert enough.outcome == ("does not hold here" if fails else "holds")
    assert enough.measured == {"p": "7; paper: 97"}


def test_tables_are_kept_with_shared_values_once() -> None:
    numbers = TABLE.to_json(5)
    assert numbers["shared"] == {"p": 7}
    assert numbers["columns"]["time"] == [None, None, 10, 30, 40, None]
    assert [vars(row) for row in Table.from_json(numbers)] == [vars(row) for row in TABLE]


@dataclasses.dataclass
class Done:
    """What a study sees of a run."""

    experiment: Experiment
    result: Any


def test_a_study_keeps_settings_results_and_computed_rows() -> None:
    made = study(
        "s",
        "",
        runs=lambda s: runs(BASE, fraction=[0.4, 0.6]).tag(kind="trained"),
        keep=("grokked_at", lambda run, fraction: [{"half": i, "x": fraction / 3} for i in (0, 1)]),
        rows=lambda s: [{"kind": "computed", "x": 1.23456789}],
        also=lambda s, t: {"runs": len(t.runs)},
        digits=3,
    )
    table = Table.from_json(made.measure(None, lambda e: Done(e, {"grokked_at": 5})))  # type: ignore[arg-type, return-value]
    assert table["kind"] == ["trained"] * 4 + ["computed"]
    assert table["fraction"] == [0.4, 0.4, 0.6, 0.6, None]
    assert table["x"] == [0.133, 0.133, 0.2, 0.2, 1.23]
    assert table.where(kind="trained").one("grokked_at") == 5
    assert table.one("runs") == 4


def test_parts_of_a_study_may_keep_other_things() -> None:
    asked = runs({"task": "n + m", "modulus": 5})
    parts = study(
        "x",
        "X",
        runs=lambda s: asked.tag(part="end") + asked.tag(part="way"),
        keep={"end": "grokked_at", "way": lambda run: [{"step": 0}, {"step": 7}]},
    )
    run: Any = SimpleNamespace(result={"grokked_at": 7})
    found = Table.from_json(parts.measure(None, lambda experiment: run))
    assert [(row.part, row.grokked_at, row.step) for row in found] == [
        ("end", 7, None),
        ("way", None, 0),
        ("way", None, 7),
    ]


def test_a_phrase_is_threshold_failure_and_label() -> None:
    def judge(ask: Ask) -> None:
        ask.possible("two decays grok", True)
        ask.that("times fall", False, Column([1.0, 2.0]))
        ask.that("nothing groks without decay", True)
        ask.remark("the product is constant", False, 1.5)

    verdict = Ask.about(judge)
    assert verdict == Verdict(
        "does not hold here",
        "Not so: times fall: 1.5 (1 to 2, 2 seeds).",
        {"times fall": "1.5 (1 to 2, 2 seeds)", "the product is constant": "1.5"},
    )
    assert verdict.threshold == (
        "undecided unless two decays grok; times fall; nothing groks without decay; remark unless the product is "
        "constant"
    )


def test_a_judge_that_stops_early_states_all_its_conditions() -> None:
    def judge(t: Table, ask: Ask) -> None:
        for name in t["name"]:
            ask.that(f"{name} groks", True)
        ask.possible("two decays grok", len(t) > 1)
        ask.that(f"times fall from {BASE} on", False)
        ask.remark(f"the product of {t.first.name} is constant", False)

    verdict = Ask.about(judge, Table([{"name": "GD"}]))
    assert (verdict.outcome, verdict.sentence) == ("undecided here", "Cannot be decided unless two decays grok.")
    assert verdict.threshold == (
        f"GD groks; undecided unless two decays grok; times fall from {BASE} on; remark unless the product of … is "
        "constant"
    )


def least(ask: Ask, what: str, found: int, low: float) -> None:
    ask.that(f"{what} is at least {low:g}", found >= low)


def test_a_claim_that_is_not_run_states_its_conditions_too() -> None:
    def judge(t: Table, ask: Ask) -> None:
        ask.budget(t, "effect", steps=500, seeds=t.first.needed)
        least(ask, "the accuracy", t.first.found, SMALLEST)
        least(ask, f"of {SMALLEST} the rate", t.first.found, 0.5)
        ask.possible("two decays grok", False)

    claim = make_claim(judge, "claim", "It is so.", "2", (study("one", "One"),))
    assert claim.verdict({}) == Verdict("undecided here", "Not run: there are no numbers for one.")
    assert claim.verdict({}).threshold == (
        "steps of 500 or more to fail; seeds of … or more to fail; the accuracy is at least 3; of 3 the "
        "rate is at least 0.5; undecided unless two decays grok"
    )
    run = Table([{"steps": 500, "seed": 0, "needed": 1, "found": 2}]).to_json(5)
    assert claim.verdict({"one": run}).sentence == "Cannot be decided unless two decays grok."


@pytest.mark.parametrize(
    ("lower", "higher", "outcome"),
    [
        ([1, 2, 3, 4], [5, 6, 7, 8], "holds"),
        ([1, 2, 3, 7], [5, 6, 4, 8], "undecided here"),
        ([5, 6, 7, 8], [1, 2, 3, 4], "does not hold here"),
        ([0, 0, 0, 1], [0, 1, 1, 1], "undecided here"),
        ([0, 0, 0], [13, 13, 14], "holds"),
        ([1, 2], [3, 4], "undecided here"),
    ],
)
def test_an_effect_is_compared_with_how_much_equal_runs_differ(
    lower: list[float], higher: list[float], outcome: str
) -> None:
    verdict = Ask.about(lambda ask: ask.lower("fewer spikes", lower, higher))
    assert verdict.outcome == outcome
    assert "by chance in" in verdict.measured["fewer spikes"]


@pytest.mark.parametrize(
    ("holds", "note", "possible", "outcome", "sentence"),
    [
        (True, False, True, "holds", "It is so."),
        (True, True, True, "holds with a remark", "It is so. Hardly."),
        (False, True, True, "does not hold here", "Not so: α is small."),
        (False, True, False, "undecided here", "Cannot be decided unless it is long."),
    ],
)
def test_sentences_are_said_under_conditions(
    holds: bool, note: bool, possible: bool, outcome: str, sentence: str
) -> None:
    def judge(ask: Ask) -> None:
        ask.yes("It is so.")
        ask.note("Hardly.", note)
        ask.that("α is small", holds)
        ask.possible("it is long", possible)

    found = Ask.about(judge)
    assert (found.outcome, found.sentence) == (outcome, sentence)
