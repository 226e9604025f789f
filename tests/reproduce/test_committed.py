"""Judging the committed numbers again gives the committed verdicts: outcome, sentence and every measured value."""

import json
from pathlib import Path

import pytest

from modgrok.reproduce.claim import Verdict
from modgrok.reproduce.paper import find_paper, paper_keys
from modgrok.reproduce.records import read_records, read_session

REPORTS = Path(__file__).parents[2] / "docs" / "reproduction"


@pytest.mark.parametrize("key", paper_keys())
def test_committed_numbers_give_the_committed_verdicts(key: str) -> None:
    paper, folder = find_paper(key), REPORTS / key
    records = read_records(folder, paper, paper.profile(read_session(folder)["profile"]))
    found = {claim.name: claim.verdict(records).as_dict() for claim in paper.claims}
    committed = json.loads((folder / "verdicts.json").read_text())
    assert json.dumps(found, indent=1) == json.dumps(committed, indent=1)


@pytest.mark.parametrize("key", paper_keys())
def test_committed_verdicts_do_not_contradict_each_other_or_the_takeaways(key: str) -> None:
    paper = find_paper(key)
    committed = json.loads((REPORTS / key / "verdicts.json").read_text())
    verdicts = {name: Verdict(**one) for name, one in committed.items()}
    assert paper.contradictions(verdicts) == []
    for takeaway in paper.takeaways:
        assert takeaway.stands(verdicts), takeaway.sentence
