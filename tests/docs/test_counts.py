"""The verdicts that the README counts are those of the committed reports."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from modgrok.reproduce.paper import DEFAULT, find_paper

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
REPORTS = ROOT / "docs" / "reproduction"
OUTCOMES = ("holds", "holds with a remark", "does not hold here", "no verdict in this profile")
ROW = re.compile(r"\| \[(\w+)\]\(docs/reproduction/\w+/report\.md\).*? \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\w+) \|")
ROWS = {name: (tuple(map(int, counts)), profile) for name, *counts, profile in ROW.findall(README)}


def counted(folder: Path, beyond: bool | None = None) -> tuple[int, ...]:
    verdicts = json.loads((folder / "verdicts.json").read_text())
    apart = {claim.name: claim.beyond for claim in find_paper(DEFAULT).claims}
    found = Counter(one["outcome"] for name, one in verdicts.items() if beyond is None or apart[name] is beyond)
    return tuple(found[outcome] for outcome in OUTCOMES)


def test_every_report_has_a_row() -> None:
    assert set(ROWS) == {path.parent.name for path in REPORTS.glob("*/report.md")}


@pytest.mark.parametrize("paper", ROWS)
def test_the_rows_count_the_verdicts(paper: str) -> None:
    profile = json.loads((REPORTS / paper / "session.json").read_text())["profile"]
    assert ROWS[paper] == (counted(REPORTS / paper), profile)


def test_the_papers_own_counts() -> None:
    counts = r"(\d+) hold, (\d+) hold with a remark, (\d+) do not hold here"
    sentence = re.search(rf"\*\*{counts}\*\*; of the (\d+) answers {counts}", README.replace("\n", " "))
    assert sentence is not None
    of = int(sentence[4])
    statements, answers = ((*(int(sentence[i]) for i in places), 0) for places in ((1, 2, 3), (5, 6, 7)))
    assert (statements, answers) == (counted(REPORTS, beyond=False), counted(REPORTS, beyond=True))
    assert of == sum(answers)
