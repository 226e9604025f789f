"""A statement of a paper, and what becomes of it here."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, Literal

from modgrok.measures.samples import order_chance
from modgrok.reproduce.phrases import BUDGETS, FORMS, phrases_of, unasked
from modgrok.reproduce.table import Numbers, Table
from modgrok.text import count, number, percent, spread

Outcome = Literal["holds", "holds with a remark", "does not hold here", "undecided here"]
OUTCOMES: dict[Outcome, str] = {
    "holds": "hold",
    "holds with a remark": "hold with a remark",
    "does not hold here": "do not hold here",
    "undecided here": "undecided here",
}
"""Every outcome, and how it is said of several claims."""
SMALL = "This profile trains too little to decide."
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
    """What had to be measured: the phrases of all conditions."""

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"outcome": self.outcome, "sentence": self.sentence, "measured": self.measured}

    def in_small(self, at_full_size: str | None) -> "Verdict":
        """What can be said of it where less is trained than in the paper: a failure decides nothing, and where the full
        profile came out otherwise, how."""
        verdict = self
        if self.outcome == "does not hold here":
            verdict = replace(self, outcome="undecided here", sentence=f"{SMALL} So far: {self.sentence}")
        if at_full_size in (None, verdict.outcome):
            return verdict
        return replace(verdict, sentence=f"{verdict.sentence} At full size: {at_full_size}.")


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
    judge: Callable[..., None]
    """Called with the tables of its studies, in their order, and an `Ask`, of which it asks its conditions."""

    @property
    def beyond(self) -> bool:
        """Whether the paper does not say it: a question that it leaves open, answered here."""
        return self.section.startswith(BEYOND)

    def verdict(self, numbers: dict[str, Numbers]) -> Verdict:
        """The verdict from all numbers there are."""
        if missing := [name for name in self.studies if name not in numbers]:
            sentence = f"Not run: there are no numbers for {', '.join(missing)}."
            return Verdict("undecided here", sentence, threshold="; ".join(phrases_of(self.judge)))
        return Ask.about(self.judge, *(Table.from_json(numbers[name]) for name in self.studies))


def counted(verdicts: Iterable[Verdict]) -> dict[Outcome, str]:
    """How many claims came out how, in words, by outcome."""
    found = [verdict.outcome for verdict in verdicts]
    several = {outcome: found.count(outcome) for outcome in OUTCOMES if outcome in found}
    return {outcome: f"{n} {outcome if n == 1 else OUTCOMES[outcome]}" for outcome, n in several.items()}


class Undecidable(Exception):
    """Raised where nothing further is to be asked, with the verdict's sentence."""


class Ask:
    """What a claim asks of its tables.

    `that`, `remark` and `possible` take a phrase that says what should be, whether it is so, and the values behind it:
    the phrase is threshold, what is said either way, and label of the values. `lower` compares two groups of runs with
    how much equal runs differ. `budget` says what it takes to decide: with less, a failure is not the paper's. Beside
    them `show` adds labeled values, `note` a remark with what was found, and `yes` a sentence for what holds.
    """

    def __init__(self) -> None:
        self.phrases: list[str] = []
        self.required: list[str] = []
        self.faults: list[str] = []
        self.notes: list[str] = []
        self.noise: list[str] = []
        self.measured: dict[str, str] = {}
        self.sentence = ""
        self.lacking: list[str] = []
        self.open = (False, False)
        """Whether failure, and whether success decides nothing where something is lacking."""

    @classmethod
    def about(cls, judge: Callable[..., None], *tables: Table) -> Verdict:
        """The verdict of a judge. Its threshold has all conditions, also those that were not asked any more."""
        ask = cls()
        try:
            judge(*tables, ask)
        except Undecidable as found:
            threshold = "; ".join([*ask.phrases, *unasked(judge, ask.phrases)])
            return Verdict("undecided here", str(found), ask.measured, threshold)
        return ask.verdict()

    def that(self, phrase: str, holds: Any, values: Any = None) -> None:
        """A condition without which the claim does not hold."""
        self._require(phrase, holds, self._state("that", phrase, values))

    def remark(self, phrase: str, holds: Any, values: Any = None) -> None:
        """A condition without which the claim holds with a remark."""
        found = self._state("remark", phrase, values)
        self.note(f"But not: {phrase}{found}.", not holds)

    def possible(self, phrase: str, holds: Any, values: Any = None) -> None:
        """A condition without which nothing can be said."""
        self._state("possible", phrase, values)
        if not holds:
            raise Undecidable(f"Cannot be decided unless {phrase}.")

    def lower(self, phrase: str, lower: Sequence[float], higher: Sequence[float], among: int = 1) -> None:
        """A condition on two groups of equal runs: the median of the first is lower, and by more than such runs differ
        by chance, also if they are the best of several; where it is lower by less, nothing can be said."""
        chance = min(1.0, among * order_chance(lower, higher))
        found = f"{spread(lower)} against {spread(higher)}; by chance in {percent(chance)} of such groups"
        self._require(phrase, median(lower) < median(higher), self._state("lower", phrase, found))
        self.noise += [phrase] if chance > CHANCE else []

    def yes(self, sentence: str) -> None:
        """What is said in the place of the phrases where the claim holds."""
        self.sentence = sentence

    def note(self, sentence: str, when: Any = True) -> None:
        """The claim holds with this remark."""
        self.notes += [sentence] if when else []

    def budget(self, t: Table, of: Literal["event", "never", "effect"] = "event", **least: float) -> None:
        """The steps, seeds, modulus, width … that it takes to decide; `seeds` counts them.

        With less, an event that does not happen is undecided, and so is success where something is said never to
        happen; an effect that fewer seeds do not tell from noise is undecided either way.
        """
        for name, needed in least.items():
            self.phrases.append(BUDGETS[of].format(name, count(int(needed))))
            have = t.seeds if name == "seeds" else min(t[name])
            if have < needed:
                self.lacking.append(f"{name} {count(int(have))} here, {count(int(needed))} or more needed")
        self.open = (of != "never", of != "event")

    def show(
        self, rows: Mapping[str, Any], text: Callable[[Any], str] = number, over: str = "seed", paper: str = ""
    ) -> None:
        """Labeled values: a list with median and range over seeds, a single number, or text as it is; beside them what
        the paper has."""
        beside = f"; paper: {paper}" if paper else ""
        self.measured |= {label: _told(value, text, over) + beside for label, value in rows.items()}

    def _require(self, phrase: str, holds: Any, found: str) -> None:
        self.required.append(phrase)
        self.faults += [] if holds else [f"Not so: {phrase}{found}."]

    def _state(self, form: str, phrase: str, values: Any) -> str:
        """Notes a condition, and returns what was found as the end of a sentence."""
        self.phrases.append(FORMS[form].format(phrase))
        if values is None:
            return ""
        self.show({phrase: values})
        return f": {self.measured[phrase]}"

    def verdict(self) -> Verdict:
        outcome: Outcome = "does not hold here" if self.faults else "holds with a remark" if self.notes else "holds"
        said = self.faults or [self.sentence or _sentence("; ".join(self.required)), *self.notes]
        if self.noise and outcome.startswith("holds"):
            noise = f"Equal runs differ by as much, so it cannot be said whether {'; '.join(self.noise)}."
            outcome, said = "undecided here", [noise]
        if self.lacking and outcome != "undecided here" and self.open[0 if self.faults else 1]:
            outcome, said = "undecided here", [f"Too little to decide: {'; '.join(self.lacking)}.", "So far:", *said]
        return Verdict(outcome, " ".join(filter(None, said)), self.measured, "; ".join(self.phrases))


def _sentence(phrases: str) -> str:
    """With a capital letter, unless a symbol comes first."""
    first = phrases[:1].upper() if phrases[:1].isascii() else phrases[:1]
    return f"{first}{phrases[1:]}." if phrases else ""


def _told(value: Any, text: Callable[[Any], str], over: str) -> str:
    return value if isinstance(value, str) else spread(value, text, over) if isinstance(value, list) else text(value)
