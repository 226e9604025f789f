"""What the story says is what the committed report found."""

import json
from pathlib import Path

import pytest

from modgrok.reproduce.paper import DEFAULT

ROOT = Path(__file__).parents[2]
REPORTS = ROOT / "docs" / "reproduction"

STORY = {
    "The training accuracy rises first": ("memorizes_first", True),
    "The test loss even *climbs*": ("loss_peak", True),
    "the test accuracy jumps to 100 %": ("grokking", True),
    "at the start they are noise, in the end a cosine": ("periodic", True),
    "The phases found by training obey": ("phases", True),
    "AdamW's more closely than those of gradient descent": ("phases_adamw", True),
    "a network of 500 neurons answers every pair": ("claim_one", True),
    "below a critical fraction it does not happen within the given steps": ("critical_fraction", True),
    "Adaptive optimizers need fewer steps": ("adaptive_time", True),
    "regularization helps most near the critical fraction": ("decay_in_adamw", True),
    "Wider networks come closer to the ideal sum": ("width", True),
    "At first it stays at its random value": ("ipr_start", False),
    "with the onset of grokking it grows many times faster": ("ipr_onset", True),
    "it stays short of the closed form's": ("ipr_gap", True),
}
"""What docs/story.md says, the claim that judges it, and whether that holds where the story is right."""


@pytest.mark.parametrize("sentence", STORY)
def test_the_story_says_what_was_found(sentence: str) -> None:
    claim, holds = STORY[sentence]
    assert sentence in (ROOT / "docs" / "story.md").read_text()
    outcome = json.loads((REPORTS / DEFAULT / "verdicts.json").read_text())[claim]["outcome"]
    assert outcome.startswith("holds") is holds
