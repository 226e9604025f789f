"""A statement of a paper, and what becomes of it here."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal

from modgrok.measures.ranks import order_chance
from modgrok.reproduce.phrases import FORMS, phrases_of, unasked
from modgrok.reproduce.table import Table
from modgrok.text import count, number, percent, spread

Numbers = dict[str, Any]

Outcome = Literal["holds", "holds with a remark", "does not hold here", "undecided here"]
OUTCOMES: dict[Outcome, str] = {
    "holds": "hold",
    "holds with a remark": "hold with a remark",
    "does not hold here": "do not hold here",
    "undecided here": "undecided here",
}
"""Every outcome, and how it is said of several claims."""
CHANCE = 0.05
"""How often equal runs may differ as much as two groups of which one is said to be lower."""
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
    threshold: str = field(default="", compare=False)
    """What had to be measured, where the claim states that by the phrases of its conditions alone."""

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"outcome": self.outcome, "sentence": self.sentence, "measured": self.measured}


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
            sentence = f"Not run: there are no numbers for {', '.join(missing)}."
            return Verdict("undecided here", sentence, threshold="; ".join(phrases_of(self.judge)))
        return self.judge(*(numbers[name] for name in self.studies))


def counted(verdicts: Iterable[Verdict]) -> dict[Outcome, str]:
    """How many claims came out how, in words, by outcome."""
    found = [verdict.outcome for verdict in verdicts]
    several = {outcome: found.count(outcome) for outcome in OUTCOMES if outcome in found}
    return {outcome: f"{n} {outcome if n == 1 else OUTCOMES[outcome]}" for outcome, n in several.items()}


class Judged(Exception):
    """Raised where nothing further is to be asked."""


class Ask:
    """What a claim asks of its tables.

    Two ways of speaking. In one, a phrase says what should be: `that`, `remark` and `possible` take the phrase, whether
    it is so, and the values behind it, and the phrase serves as threshold, as what is said either way and as label of
    the values. In the other, a whole sentence is said under a condition: `fault`, `note` and `undecided`, beside `yes`
    for what holds and `show` for labeled values. `budget` says what it takes to decide: with less, a failure is not the
    paper's. `lower` compares two groups of runs with how much equal runs differ.
    """

    def __init__(self) -> None:
        self.phrases: list[str] = []
        self.required: list[str] = []
        self.faults: list[str] = []
        self.failed = self.undecidable = False
        self.notes: list[str] = []
        self.noise: list[str] = []
        self.measured: dict[str, str] = {}
        self.sentence = self.short = ""
        self.open = (False, False)

    @classmethod
    def about(cls, judge: Callable[..., None], *tables: Table) -> Verdict:
        """The verdict of a judge. Its threshold has all conditions, also those that were not asked any more."""
        ask = cls()
        try:
            judge(*tables, ask)
        except Judged:
            ask.phrases += unasked(judge, ask.phrases)
        return ask.verdict()

    def that(self, phrase: str, holds: Any, values: Any = None) -> None:
        """A condition without which the claim does not hold."""
        self._state(phrase, values)
        self.required.append(phrase)
        self.fault(f"Not so: {phrase}.", not holds)

    def remark(self, phrase: str, holds: Any, values: Any = None) -> None:
        """A condition without which the claim holds with a remark."""
        self._state(FORMS["remark"].format(phrase), values, phrase)
        self.note(f"But not: {phrase}.", not holds)

    def possible(self, phrase: str, holds: Any, values: Any = None) -> None:
        """A condition without which nothing can be said."""
        self._state(FORMS["possible"].format(phrase), values, phrase)
        self.undecided(f"Cannot be decided unless {phrase}.", not holds)

    def lower(self, phrase: str, lower: Sequence[float], higher: Sequence[float], among: int = 1) -> None:
        """A condition on two groups of equal runs: the median of the first is lower, and by more than such runs differ
        by chance, also if they are the best of several; where it is lower by less, nothing can be said."""
        chance = min(1.0, among * order_chance(lower, higher))
        found = f"{spread(lower)} against {spread(higher)}; by chance in {percent(chance)} of such groups"
        self._state(FORMS["lower"].format(phrase), found, phrase)
        self.required.append(phrase)
        self.fault(f"Not so: {phrase}.", median(lower) >= median(higher))
        self.noise += [phrase] if chance > CHANCE else []

    def yes(self, sentence: str) -> None:
        """What is said in the place of the phrases where the claim holds, and where it fails without a sentence."""
        self.sentence = sentence

    def fault(self, sentence: str, when: Any = True) -> None:
        """The claim fails, for this reason (or for what `yes` says, where there is none)."""
        if when:
            self.failed = True
            self.faults += [sentence] if sentence else []

    def end(self, sentence: str, when: Any = True) -> None:
        """The claim fails for this reason alone, and nothing further is asked."""
        if when:
            self.faults, self.failed = [sentence], True
            raise Judged

    def note(self, sentence: str, when: Any = True) -> None:
        """The claim holds with this remark."""
        self.notes += [sentence] if when else []

    def undecided(self, sentence: str, when: Any = True) -> None:
        """Nothing can be said, for this reason, and nothing further is asked."""
        if when:
            self.notes, self.sentence, self.failed, self.undecidable = [], sentence, False, True
            raise Judged

    def budget(self, t: Table, of: Literal["event", "never", "effect"] = "event", **least: float) -> None:
        """The steps, seeds, modulus, width … that it takes to decide; `seeds` counts them.

        With less, an event that does not happen is undecided, and so is success where something is said never to
        happen; an effect that fewer seeds do not tell from noise is undecided either way.
        """
        for name, needed in least.items():
            self.phrases.append(FORMS["budget"].format(name, count(int(needed))))
            have = t.seeds if name == "seeds" else min(t[name])
            if have < needed:
                said = f"{name} {count(int(have))} here, {count(int(needed))} or more needed"
                self.short = f"{self.short[:-1]}; {said}." if self.short else f"Too little to decide: {said}."
        self.open = (of != "never", of != "event")

    def show(
        self, rows: Mapping[str, Any], text: Callable[[Any], str] = number, over: str = "seed", paper: str = ""
    ) -> None:
        """Labeled values: a list with median and range over seeds, a single number, or text as it is; beside them what
        the paper has."""
        beside = f"; paper: {paper}" if paper else ""
        self.measured |= {label: _told(value, text, over) + beside for label, value in rows.items()}

    def _state(self, phrase: str, values: Any, label: str | None = None) -> None:
        self.phrases.append(phrase)
        if values is not None:
            self.show({label or phrase: values})

    def verdict(self) -> Verdict:
        if self.undecidable:
            outcome: Outcome = "undecided here"
        else:
            outcome = "does not hold here" if self.failed else "holds with a remark" if self.notes else "holds"
        phrases = "; ".join(self.required)
        sentence = self.sentence or (f"{phrases[0].upper()}{phrases[1:]}." if phrases else "")
        said = self.faults or [sentence] if self.failed else [sentence, *self.notes]
        if self.noise and outcome.startswith("holds"):
            outcome, said = (
                "undecided here",
                [f"Equal runs differ by as much, so it cannot be said whether {'; '.join(self.noise)}."],
            )
        if self.short and outcome != "undecided here" and self.open[0 if self.failed else 1]:
            outcome, said = "undecided here", [self.short, "So far:", *said]
        return Verdict(outcome, " ".join(filter(None, said)), self.measured, "; ".join(self.phrases))


def _told(value: Any, text: Callable[[Any], str], over: str) -> str:
    return value if isinstance(value, str) else spread(value, text, over) if isinstance(value, list) else text(value)
