"""The outcome of a run, and its curves while it trains."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from modgrok.experiments.experiment import Experiment
from modgrok.experiments.stored_json import build
from modgrok.measures import Crossing, crossing
from modgrok.training.recording import SCORES, is_norm


@dataclass(frozen=True)
class Result(Mapping[str, Any]):
    """The outcome of a run; also a mapping, `result["grokked_at"]`, which includes the measures."""

    run: str
    status: Literal["finished", "diverged", "collapsed"]
    steps: int
    """Taken."""
    learning_rate: float
    train_accuracy: float | None
    test_accuracy: float | None
    train_loss: float | None
    test_loss: float | None
    memorized_at: int | None
    grokked_at: int | None
    diverged_at: int | None
    seconds: float
    """Duration since training last began; for a resumed run, since it was resumed."""
    measures: dict[str, float | None] = field(default_factory=dict)
    """Final values of other measures, by name."""
    memorized_after: int | None = None
    """The evaluation before `memorized_at`: memorization happened between the two."""
    memorized_interpolated: float | None = None
    """Where the straight line between these two evaluations crosses the threshold."""
    grokked_after: int | None = None
    """The same for `grokked_at`."""
    grokked_interpolated: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """As JSON values, including the measures."""
        return {name: getattr(self, name) for name in _NAMES} | self.measures

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], path: Path) -> "Result":
        """What `as_dict` wrote into a file; `Damaged` where it is not."""
        measures = {name: value for name, value in content.items() if name not in _NAMES}
        known = {name: value for name, value in content.items() if name in _NAMES}
        return build(cls, known | {"measures": measures}, path)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name) if name in _NAMES else self.measures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.as_dict())

    def __len__(self) -> int:
        return len(self.as_dict())


_NAMES = tuple(entry.name for entry in dataclasses.fields(Result) if entry.name != "measures")


BAD_ENDS = ("diverged", "collapsed")


def bad_ends(statuses: Iterable[str]) -> dict[str, int]:
    """How many runs diverged, and how many collapsed."""
    found = Counter(statuses)
    return {status: found[status] for status in BAD_ENDS}


COLLAPSE = 1e-6
"""Weights below this share of their initial norm are dead: the gradient is cubic in them."""


class RunProgress:
    """The curves of one run while it trains."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.rows: list[dict[str, Any]] = []
        self.written = 0
        self.diverged_at: int | None = None
        self.grokked: int | None = None
        """`grokked_at` of the rows so far."""
        self.dead: dict[str, float] = {}
        """The norm of each group of weights below which it is dead."""

    def add(self, row: dict[str, Any]) -> None:
        if not self.rows:
            norms = {name: norm for name, norm in row.items() if name.startswith("norm_") and norm is not None}
            self.dead = {name: COLLAPSE * norm for name, norm in norms.items()}
        self.rows.append(row)
        score = row["test_accuracy"]
        reached = score is not None and score >= self.experiment.threshold and self.experiment.evaluations > 0
        if self.grokked is None and reached:
            self.grokked = row["step"]

    def restore(self, rows: list[dict[str, Any]]) -> None:
        """Continues from curves on disk."""
        for row in rows:
            self.add(row)
        self.written = len(rows)

    def unwritten(self) -> list[dict[str, Any]]:
        """Rows since the last call."""
        fresh, self.written = self.rows[self.written :], len(self.rows)
        return fresh

    @property
    def collapsed(self) -> bool:
        """Whether a group of weights has died; norms that are not finite mean divergence instead."""
        last = self.rows[-1]
        return any(last[name] is not None and last[name] < norm for name, norm in self.dead.items())

    @property
    def may_stop(self) -> bool:
        """Whether the run has grokked and then trained for `until` more steps."""
        until = self.experiment.until
        return until is not None and self.grokked is not None and self.rows[-1]["step"] >= self.grokked + until

    def crossing(self, curve: str) -> Crossing:
        """When a curve reached the threshold; never without evaluations."""
        if self.experiment.evaluations == 0:
            return Crossing(None, None, None)
        steps = np.array([row["step"] for row in self.rows])
        accuracy = np.array([np.nan if row[curve] is None else row[curve] for row in self.rows], dtype=float)
        return crossing(steps, accuracy, self.experiment.threshold)

    def result(self, run: str, status: str, seconds: float) -> Result:
        """The outcome, from the last point of the curves."""
        last = self.rows[-1]
        scores = {name: last[name] for name in SCORES}
        memorized, grokked = self.crossing("train_accuracy"), self.crossing("test_accuracy")
        return Result(
            run=run,
            status=status,  # type: ignore[arg-type]
            steps=last["step"],
            learning_rate=self.experiment.lr,  # type: ignore[arg-type]
            **scores,
            memorized_at=memorized.at,
            grokked_at=grokked.at,
            diverged_at=self.diverged_at,
            seconds=round(seconds, 3),
            memorized_after=memorized.after,
            memorized_interpolated=memorized.interpolated,
            grokked_after=grokked.after,
            grokked_interpolated=grokked.interpolated,
            measures={name: last[name] for name in last if name not in (*SCORES, "step") and not is_norm(name)},
        )
