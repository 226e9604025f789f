"""A statement of a paper, and what becomes of it here."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Literal

from modgrok.reproduce.study import Numbers

Outcome = Literal["holds", "holds with a remark", "does not hold here", "undecided here"]
OUTCOMES: dict[Outcome, str] = {
    "holds": "hold",
    "holds with a remark": "hold with a remark",
    "does not hold here": "do not hold here",
    "undecided here": "undecided here",
}
"""Every outcome, and how it is said of several claims."""
BEYOND = "beyond the paper"
"""The section of answers to questions that a paper leaves open; the report keeps them apart."""


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
    threshold: str
    """What has to be measured for it to hold."""
    studies: tuple[str, ...]
    """Whose numbers it is judged by."""
    judge: Callable[..., Verdict]
    """From the numbers of its studies, in their order, to a verdict."""

    @property
    def beyond(self) -> bool:
        """Whether the paper does not say it: a question that it leaves open, answered here."""
        return self.section.startswith(BEYOND)

    def verdict(self, numbers: dict[str, Numbers]) -> Verdict:
        """The verdict from all numbers there are."""
        if missing := [name for name in self.studies if name not in numbers]:
            return undecided(f"Not run: there are no numbers for {', '.join(missing)}.")
        return self.judge(*(numbers[name] for name in self.studies))


def claim(section: str, threshold: str, *studies: str) -> Callable[[Callable[..., Verdict]], Claim]:
    """Makes a claim of the function that judges it, whose name it takes and whose docstring says what is claimed."""

    def make(judge: Callable[..., Verdict]) -> Claim:
        return Claim(judge.__name__, section, " ".join((judge.__doc__ or "").split()), threshold, studies, judge)

    return make


def claims_of(*modules: ModuleType) -> tuple[Claim, ...]:
    """All claims of modules, in the order in which they are written."""
    return tuple(value for module in modules for value in vars(module).values() if isinstance(value, Claim))


def decide(holds: bool, yes: str, no: str, measured: dict[str, str], *remarks: str | bool) -> Verdict:
    """Says `yes` or `no`, or `yes` in both cases where there is no `no`; what holds with remarks (those that are not
    false) says which."""
    if not holds:
        return Verdict("does not hold here", no or yes, measured)
    said = [remark for remark in remarks if isinstance(remark, str) and remark]
    return Verdict("holds with a remark" if said else "holds", " ".join([yes, *said]), measured)


def undecided(sentence: str, measured: dict[str, str] | None = None) -> Verdict:
    """For claims that the profile leaves out, or whose networks do not get where they could be judged."""
    return Verdict("undecided here", sentence, measured or {})


def counted(verdicts: Iterable[Verdict]) -> dict[Outcome, str]:
    """How many claims came out how, in words, by outcome."""
    found = [verdict.outcome for verdict in verdicts]
    several = {outcome: found.count(outcome) for outcome in OUTCOMES if outcome in found}
    return {outcome: f"{n} {outcome if n == 1 else OUTCOMES[outcome]}" for outcome, n in several.items()}
