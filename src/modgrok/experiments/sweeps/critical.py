"""The critical fraction α_c: how much of the table must be shown for the rest to be found (paper, section 4.2).

α_c depends on the function, the modulus, the network, the optimizer, on how the training set is sampled, and on how
long one waits: near it, grokking takes ever longer. An estimate therefore always names its budget of steps.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment, describe_task
from modgrok.experiments.result import BAD_ENDS, Result, bad_ends
from modgrok.experiments.sweeps.logistic import Transition, fit_transition
from modgrok.text import count

LEAST, MOST = 0.05, 0.95
"""Fractions tried where the transition is not between low and high."""
PIECES = 6
"""Into how many pieces a bracket is cut in one round."""
PLACES = 10_000
"""Fractions have four decimals."""
SEEDS = 10_000_000
"""The seeds of one search are smaller."""
Train = Callable[[Sequence[Experiment]], list[Result | None]]
"""Trains experiments and returns their results in order, None for those that could not be trained."""


REASONABLE = 1000
"""Of seeds, points and rounds: more would be a mistake."""


@dataclass(frozen=True)
class Effort:
    """How thoroughly to search for α_c."""

    seeds: int = 8
    """Runs at each fraction near the transition, each with its own training set and initial weights."""
    low: float = 0.1
    """The smallest fraction of the first round; where all of its runs grok, 0.05 is tried too."""
    high: float = 0.9
    """The largest fraction of the first round; where none of its runs groks, 0.95 is tried too."""
    points: int = 9
    """Fractions of the first round, from low to high; each is tried with a third of the seeds."""
    resolution: float = 0.01
    """Fractions around the transition are brought no closer together than this."""
    rounds: int = 4
    """The most rounds of refinement."""

    def __post_init__(self) -> None:
        if not 0 < self.low < self.high < 1:
            raise ModgrokError(
                f"Fractions are tried from low to high, 0 < low < high < 1, not {self.low}, {self.high}."
            )
        if self.seeds < 1 or self.points < 2 or self.rounds < 0:
            raise ModgrokError(
                f"seeds must be at least 1, points at least 2 and rounds at least 0, not {self.seeds}, {self.points} "
                f"and {self.rounds}."
            )
        if max(self.seeds, self.points, self.rounds) > REASONABLE:
            raise ModgrokError(
                f"Seeds, points and rounds go up to {REASONABLE} each; refine around the transition instead."
            )
        if not 0.001 <= self.resolution < 1:
            raise ModgrokError(f"The resolution of fractions is at least 0.001, not {self.resolution}.")


@dataclass
class Search:
    """One α_c while it is looked for."""

    experiment: Experiment
    """Everything but fraction and seed."""
    effort: Effort = Effort()
    successes: dict[float, list[bool]] = field(default_factory=dict)
    """For each fraction whether its runs grokked, in the order of their seeds."""
    attempts: dict[float, int] = field(default_factory=dict)
    """For each fraction how many runs were asked for; some may not have been trainable."""
    statuses: list[str] = field(default_factory=list)
    """How its runs ended."""
    round: int = 0

    def next_experiments(self) -> list[Experiment]:
        """What to train next; nothing when the search is over."""
        fractions, seeds = self._next_fractions()
        return [
            dataclasses.replace(self.experiment, fraction=fraction, seed=seed_at(fraction, number), split_seed=None)
            for fraction in fractions
            for number in range(self.attempts.get(fraction, 0), seeds)
        ]

    def add(self, experiment: Experiment, result: Result | None) -> None:
        """Takes note of a run that has ended; one that could not be trained is not asked for again."""
        self.attempts[experiment.fraction] = self.attempts.get(experiment.fraction, 0) + 1
        if result is not None:
            self.successes.setdefault(experiment.fraction, []).append(result.grokked_at is not None)
            self.statuses.append(result.status)

    def _next_fractions(self) -> tuple[list[float], int]:
        effort = self.effort
        if not self.successes:
            coarse = np.linspace(effort.low, effort.high, effort.points)
            return [round(float(x), 4) for x in coarse], -(-effort.seeds // 3)
        low, high = self.bracket
        if self.round > effort.rounds:
            return [], 0
        if low is None or high is None:
            beyond = LEAST if low is None else MOST
            return [] if beyond in self.successes else [beyond], effort.seeds
        step = max((high - low) / PIECES, effort.resolution)
        count = max(1, round((high - low) / step))
        grid = [round(low + (high - low) * i / count, 4) for i in range(count + 1)]
        known = [x for x in self.successes if low <= x <= high]
        fresh = [x for x in grid if all(abs(x - y) > 0.6 * step for y in known)]
        short = [x for x in known if self.attempts[x] < effort.seeds]
        return sorted({*fresh, *short}), effort.seeds

    @property
    def bracket(self) -> tuple[float | None, float | None]:
        """The largest fraction up to which no run succeeded, and the smallest from which all did; the ends of what was
        tried where there is none but the transition is inside, None where it is not."""
        fractions = sorted(self.successes)
        none = [x for x in fractions if not any(any(self.successes[y]) for y in fractions if y <= x)]
        every = [x for x in fractions if all(all(self.successes[y]) for y in fractions if y >= x)]
        if len(none) == len(fractions):
            return none[-1], None
        if len(every) == len(fractions):
            return None, every[0]
        return none[-1] if none else fractions[0], every[0] if every else fractions[-1]

    @property
    def counts(self) -> dict[float, tuple[int, int]]:
        """Successes and trials at each fraction."""
        return {x: (sum(found), len(found)) for x, found in sorted(self.successes.items())}


@dataclass(frozen=True, repr=False)
class Critical:
    """A measured α_c."""

    experiment: Experiment
    """Resolved; its fraction and seed mean nothing."""
    counts: dict[float, tuple[int, int]]
    """Successes and trials at each fraction."""
    resolution: float
    """How close the fractions may be to each other near α_c."""
    name: str = ""
    """What the task is called, where its text does not say: that of a table."""
    bad_ends: Mapping[str, int] = field(default_factory=dict)
    """How many runs diverged, and how many collapsed."""

    @property
    def task_name(self) -> str:
        return self.name or self.experiment.task

    def __repr__(self) -> str:
        where = f"{describe_task(self.experiment, self.name)}, {self.experiment.optimizer}, {self.experiment.sampling}"
        return f"Critical({self} for {where} within {count(self.budget)} steps; {count(self.runs, 'run')})"

    @cached_property
    def transition(self) -> Transition:
        """The fit to the counts."""
        return fit_transition(self.counts, self.resolution)

    @property
    def budget(self) -> int:
        """The number of steps within which a run had to grok."""
        assert self.experiment.steps is not None
        return self.experiment.steps

    @property
    def runs(self) -> int:
        return sum(trials for _, trials in self.counts.values())

    def as_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        t = self.transition
        return {
            "modulus": self.experiment.modulus,
            "sampling": self.experiment.sampling,
            "budget": self.budget,
            "critical": t.critical,
            "low": t.low,
            "high": t.high,
            "transition_width": t.width,
            "resolution": self.resolution,
            "runs": self.runs,
            **self.bad_ends,
            "curve": [{"fraction": x, "grokked": won, "runs": tried} for x, (won, tried) in self.counts.items()],
            "experiment": self.experiment.as_dict(),
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "Critical":
        """What `as_dict` wrote down."""
        counts = {point["fraction"]: (point["grokked"], point["runs"]) for point in content["curve"]}
        badly = {name: content[name] for name in BAD_ENDS if name in content}
        return cls(Experiment.from_dict(content["experiment"]), counts, content["resolution"], bad_ends=badly)

    def __str__(self) -> str:
        return str(self.transition)


def seed_at(fraction: float, number: int) -> int:
    """The seed of run number 0, 1, 2, … at a fraction, which no run at another fraction has.

    The training sets of one seed contain each other, so that its runs at neighboring fractions succeed or fail
    together, and intervals that take them as independent are too narrow.
    """
    return PLACES * number + round(PLACES * fraction)


def critical_fractions(searches: Sequence[Search], train: Train) -> list[Critical]:
    """Carries all searches to their end. They advance together, round by round, so that their runs share batches."""
    while asked := [(search, e) for search in searches for e in search.next_experiments()]:
        results = train([experiment for _, experiment in asked])
        for (search, experiment), result in zip(asked, results, strict=True):
            search.add(experiment, result)
        for search in {id(search): search for search, _ in asked}.values():
            search.round += 1
            if not search.successes:
                task = describe_task(search.experiment)
                raise ModgrokError(f"No run of {task} could be trained; see the remarks above.")
    return [
        Critical(s.experiment.resolve(), s.counts, s.effort.resolution, bad_ends=bad_ends(s.statuses)) for s in searches
    ]
