"""The verdicts that the README counts, the numbers that it quotes and what the story says are those of the committed
reports."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from modgrok.reproduce.paper import DEFAULT, find_paper
from modgrok.reproduce.table import Table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
REPORTS = ROOT / "docs" / "reproduction"
OUTCOMES = ("holds", "holds with a remark", "does not hold here", "undecided here")
ROW = re.compile(r"\| \[(\w+)\]\(docs/reproduction/\w+/report\.md\).*? \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\w+) \|")
ROWS = {name: (tuple(map(int, counts)), profile) for name, *counts, profile in ROW.findall(README)}


STORY = {
    "The training accuracy rises first": ("memorizes_first", True),
    "The test loss even *climbs*": ("loss_peak", True),
    "the test accuracy jumps to 100 %": ("grokking", True),
    "at the start they are noise, in the end a cosine": ("periodic", True),
    "The phases found by training obey": ("phases", True),
    "AdamW's more closely than those of gradient descent": ("phases_adamw", True),
    "a network of 500 neurons answers every pair": ("claim_one", True),
    "below a critical fraction it does not come at all within the steps given": ("critical_fraction", True),
    "Adaptive optimizers need fewer steps": ("adaptive_time", True),
    "regularization helps most near the critical fraction": ("decay_in_adamw", True),
    "Wider networks come closer to the ideal sum": ("width", True),
    "At first it stays at its random value": ("ipr_start", False),
    "with the onset of grokking it grows many times faster": ("ipr_onset", True),
    "it stays short of the closed form's": ("ipr_gap", True),
}
"""What docs/story.md says, the claim that judges it, and whether that holds where the story is right."""


def counted(folder: Path, beyond: bool | None = None) -> tuple[int, ...]:
    verdicts = json.loads((folder / "verdicts.json").read_text())
    apart = {claim.name: claim.beyond for claim in find_paper(DEFAULT).claims}
    found = Counter(one["outcome"] for name, one in verdicts.items() if beyond is None or apart[name] is beyond)
    return tuple(found[outcome] for outcome in OUTCOMES)


def test_every_report_has_a_row() -> None:
    assert {DEFAULT, *ROWS} == {path.parent.name for path in REPORTS.glob("*/report.md")}


@pytest.mark.parametrize("paper", ROWS)
def test_the_rows_count_the_verdicts(paper: str) -> None:
    profile = json.loads((REPORTS / paper / "session.json").read_text())["profile"]
    assert ROWS[paper] == (counted(REPORTS / paper), profile)


def test_the_papers_own_counts() -> None:
    counts = r"(\d+) hold, (\d+) hold with a remark, (\d+) do not hold here, (\d+) are undecided here"
    sentence = re.search(rf"\*\*{counts}\*\*; of the (\d+) answers {counts}", README.replace("\n", " "))
    assert sentence is not None
    of = int(sentence[5])
    statements, answers = (tuple(int(sentence[i]) for i in places) for places in ((1, 2, 3, 4), (6, 7, 8, 9)))
    assert (statements, answers) == (counted(REPORTS / DEFAULT, False), counted(REPORTS / DEFAULT, True))
    assert of == sum(answers)


@pytest.mark.parametrize("sentence", STORY)
def test_the_story_says_what_was_found(sentence: str) -> None:
    claim, holds = STORY[sentence]
    assert sentence in (ROOT / "docs" / "story.md").read_text()
    outcome = json.loads((REPORTS / DEFAULT / "verdicts.json").read_text())[claim]["outcome"]
    assert outcome.startswith("holds") is holds


def test_the_representations_of_the_readme() -> None:
    found = Table.from_json(
        json.loads(gzip.decompress((REPORTS / "power2022/figures/figR.json.gz").read_bytes()))["numbers"]
    )
    text = " ".join(README.split())
    first, second = found
    dimensions = found.one("dimensions")
    strongest = [one.share.index(max(one.share)) for one in (first, second)]
    assert [dimensions[i] for i in strongest] == [4, 4]
    assert strongest[0] != strongest[1]
    assert f"{100 * max(first.share):.0f} % and {100 * max(second.share):.0f} % of the unembedding" in text
    assert f"lie, {first.predicted:.3f} and {second.predicted:.3f} of the mean distance" in text
    assert f"(measured: {first.left:.3f} and {second.left:.3f})" in text
    assert min(first.left, second.left) > 1
    assert dimensions[:2] == [1, 1]  # the second of them is the sign of a permutation
    for one in (first, second):
        parity = [share[1] for share in one.shares]
        grokked = next(i for i, accuracy in enumerate(one.test_accuracy) if accuracy > 0.5)
        assert max(parity[:grokked]) > 3 * parity[0]
        assert min(parity[grokked:]) < max(parity[:grokked]) / 3
