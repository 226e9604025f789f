import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from modgrok.errors import ModgrokError
from modgrok.reproduce.claim import Claim
from modgrok.reproduce.gromov2023.sizes import FULL, QUICK
from modgrok.reproduce.paper import Paper, find_paper, paper_keys
from modgrok.reproduce.pipeline import Request, planned, shares
from modgrok.reproduce.runs import runs
from modgrok.reproduce.sizes import sizes
from modgrok.reproduce.study import Study, make_claim, study
from modgrok.reproduce.table import Table

PAPER = find_paper()


def test_papers_are_found_by_their_folders() -> None:
    assert paper_keys()[0] == "gromov2023"
    for key in paper_keys():
        paper = find_paper(key)
        assert paper.key == key
        assert paper.claims
        assert {profile.name for profile in paper.profiles} >= {"quick", "full"} <= set(paper.cost)
    with pytest.raises(ModgrokError, match="gromov2023"):
        find_paper("gromov1923")
    with pytest.raises(ModgrokError, match="quick or full"):
        PAPER.profile("slow")


@pytest.mark.parametrize("key", paper_keys())
def test_the_prose_of_a_paper_names_claims_and_studies_that_there_are(key: str) -> None:
    paper, text = find_paper(key), files(f"modgrok.reproduce.{key}").joinpath("paper.toml").read_text()
    assert all(len(line) <= 120 for line in text.splitlines())
    order, claims = tomllib.loads(text).get("order", {}), {claim.name for claim in paper.claims}
    assert {*order.get("studies", "").split()} <= {study.name for study in paper.studies}
    assert {*order.get("claims", "").split()} <= claims
    assert {name for takeaway in paper.takeaways for name in takeaway.stands_on} <= claims
    assert {name for pair in (*paper.exclusive, *paper.implied) for name in pair} <= claims
    for profile in paper.profiles:
        assert not any("{" in profile.say(here) for _, _, here, _ in paper.deviations)


def test_studies_share_runs() -> None:
    studies = PAPER.chosen((), QUICK)
    together = shares(studies, QUICK)
    assert len({experiment.id for experiment in list(together)[:40]}) == 40
    assert len(together) < sum(len(study.needs(QUICK)) for study in studies)
    alone = shares(PAPER.chosen(("fig0",), QUICK), QUICK)
    assert shares(PAPER.chosen(("fig0", "fig1"), QUICK), QUICK) == alone
    assert set(alone.values()) == {"fig0"}


def test_profiles_keep_what_they_promise() -> None:
    assert QUICK.modulus == FULL.modulus == FULL.sweep_modulus == FULL.hard_modulus == 97
    assert min(FULL.seeds, FULL.sweep_seeds, FULL.hard_seeds, FULL.closed_seeds) >= 5
    assert not FULL.left_out
    assert sum(experiment.steps for experiment in shares(PAPER.studies, FULL)) < 9e7
    total = planned(Request.from_dict({"profile": "quick"}))[-1]
    assert total.study == "total"
    assert total.run_steps < 3e6


def test_names_are_figures_or_claims() -> None:
    assert [study.name for study in PAPER.chosen(("kernel", "fig2"), QUICK)] == ["fig2", "kernel"]
    assert [study.name for study in PAPER.chosen(("claim_two",), QUICK)] == [
        "figA3",
        "closed_forms",
        "sums_by_optimizers",
    ]
    with pytest.raises(ModgrokError) as caught:
        PAPER.chosen(("fig7",), QUICK)
    assert "figA5" in str(caught.value)
    assert "branches" in str(caught.value)
    assert not {study.name for study in PAPER.figures} & {claim.name for claim in PAPER.claims}


def test_a_study_that_a_profile_leaves_out_is_not_run() -> None:
    assert "more_data" not in [study.name for study in PAPER.chosen((), QUICK)]
    assert "more_data" in [study.name for study in PAPER.chosen((), FULL)]


@pytest.mark.parametrize("key", paper_keys())
def test_every_claim_states_its_conditions_before_it_is_run(key: str) -> None:
    assert all(claim.verdict({}).threshold for claim in find_paper(key).claims)


def test_a_failure_where_less_is_trained_than_in_the_full_profile_decides_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Computed rows stay what they are: they are as exact in every profile."""
    trained = study("trained", "Trained", runs=lambda s: runs({"task": "n + m"}, steps=s.steps))
    exact = study("exact", "Exact", rows=lambda s: [{"error": s.steps}])
    alike = study("alike", "Alike", runs=lambda s: runs({"task": "n + m"}, steps=s.same))

    def says(name: str, some: Study, holds: bool) -> Claim:
        return make_claim(lambda t, ask: ask.that("it is so", holds), name, "It is so.", "2", (some,))

    claims = [says("fails", trained, False), says("holds", trained, True), says("known", trained, True)]
    claims += [says("computed", exact, False), says("as_large", alike, False)]
    paper = Paper("own", "", "", "", (trained, exact, alike), tuple(claims), sizes(steps=(10, 100), same=5), {})
    told = tmp_path / "outcomes.json"
    told.write_text('{"own": {"fails": "holds", "holds": "holds", "known": "does not hold here"}}')
    monkeypatch.setattr("modgrok.reproduce.paper.OUTCOMES_FILE", told)
    records = {one.name: Table([{"steps": 1}]).to_json(5) for one in paper.studies}
    quick, full = (
        {n: (v.outcome, v.sentence) for n, v in paper.verdicts(records, s).items()} for s in paper.profiles[:2]
    )
    failed = ("does not hold here", "Not so: it is so.")
    small = "This profile trains too little to decide. So far: Not so: it is so. At full size: holds."
    assert quick == {
        "fails": ("undecided here", small),
        "holds": ("holds", "It is so."),
        "known": ("holds", "It is so. At full size: does not hold here."),
        "computed": failed,
        "as_large": failed,
    }
    assert full == {
        name: failed if name in ("fails", "computed", "as_large") else ("holds", "It is so.") for name in quick
    }
