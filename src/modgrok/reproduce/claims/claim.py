"""A statement of the paper, and what becomes of it here."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from modgrok.reproduce.study import Numbers

Outcome = Literal["holds", "holds with a remark", "does not hold here", "not run in this profile"]


@dataclass(frozen=True)
class Verdict:
    """What was measured, and whether the claim holds."""

    outcome: Outcome
    sentence: str
    """What was found, in words."""
    measured: dict[str, str] = field(default_factory=dict)
    """The numbers behind it, as text with their spread over seeds."""


@dataclass(frozen=True)
class Claim:
    """One entry of the verdict table."""

    name: str
    section: str
    """Where the paper says it."""
    statement: str
    """In our own words."""
    studies: tuple[str, ...]
    """Whose numbers it is judged by."""
    threshold: str
    """What has to be measured for it to hold."""
    judge: Callable[..., Verdict]
    """From the numbers of its studies, in their order, to a verdict."""


def decide(holds: bool, sentence: str, measured: dict[str, str], remark: str = "") -> Verdict:
    """Holds or not; a claim that holds with a remark says which."""
    if not holds:
        return Verdict("does not hold here", sentence, measured)
    return Verdict("holds with a remark" if remark else "holds", f"{sentence} {remark}".strip(), measured)


def not_run(sentence: str, measured: dict[str, str] | None = None) -> Verdict:
    """For claims about sizes that the profile does not reach."""
    return Verdict("not run in this profile", sentence, measured or {})


def judge_claim(claim: Claim, numbers: dict[str, Numbers]) -> Verdict:
    """The verdict on a claim from all numbers there are."""
    if missing := [name for name in claim.studies if name not in numbers]:
        return not_run(f"No numbers for {', '.join(missing)}.")
    return claim.judge(*(numbers[name] for name in claim.studies))
