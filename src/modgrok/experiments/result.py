"""The outcome of a run, and its curves while it trains."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from modgrok.experiments.experiment import Experiment
from modgrok.experiments.stored_json import build, finite
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


class RunProgress:
    """The curves of one run while it trains."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.rows: list[dict[str, Any]] = []
        self.written = 0
        self.diverged_at: int | None = None

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)

    def restore(self, rows: list[dict[str, Any]]) -> None:
        """Continues from curves on disk."""
        self.rows += rows
        self.written = len(rows)

    def unwritten(self) -> list[dict[str, Any]]:
        """Rows since the last call."""
        fresh, self.written = self.rows[self.written :], len(self.rows)
        return fresh

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


COLLAPSE = 1e-6
"""Weights below this share of their initial norm are dead: the gradient is cubic in them."""
Values = dict[str, np.ndarray]
"""What is recorded of every run of a batch at one step, by name; NaN where a number is not finite."""


def row_of(run: int, step: int, values: Values) -> dict[str, Any]:
    """A point on the curves of one run."""
    return {"step": step} | {name: finite(column[run]) for name, column in values.items()}


class BatchProgress:
    """What the curves of all runs of a batch say together: which have died or may stop. Points are kept as columns
    until runs need them as rows, because a row for each run at each evaluation takes Python as long as a GPU the
    steps."""

    def __init__(self, runs: Sequence[RunProgress]) -> None:
        self.runs = list(runs)
        experiments = [run.experiment for run in runs]
        self.thresholds = np.array([e.threshold if e.evaluations > 0 else np.inf for e in experiments])
        self.until = np.array([np.inf if e.until is None else e.until for e in experiments])
        self.grokked = np.full(len(runs), np.inf)
        """`grokked_at` of the points so far; infinite before."""
        self.dead: Values = {}
        """The norm of each group of weights below which it is dead."""
        self.columns: list[tuple[int, Values]] = []
        """Points that the runs do not have as rows yet."""
        for i, run in enumerate(runs):
            self.look_again(i)
            for name, norm in run.rows[0].items() if run.rows else ():
                if name.startswith("norm_"):
                    nowhere = np.full(len(runs), np.nan)
                    self.dead.setdefault(name, nowhere)[i] = np.nan if norm is None else COLLAPSE * norm

    def look_again(self, run: int) -> None:
        """After rows were added to a run by itself."""
        at = self.runs[run].crossing("test_accuracy").at if self.runs[run].rows else None
        self.grokked[run] = np.inf if at is None else at

    def add(self, step: int, values: Values) -> None:
        self.dead = self.dead or {n: COLLAPSE * x.astype(float) for n, x in values.items() if n.startswith("norm_")}
        self.grokked[(values["test_accuracy"] >= self.thresholds) & np.isinf(self.grokked)] = step
        self.columns.append((step, values))

    def last(self, run: int) -> dict[str, Any]:
        """The last point of a run."""
        return row_of(run, *self.columns[-1])

    def hand_out(self, active: Iterable[int]) -> None:
        """Adds the points since the last time to the rows of active runs."""
        if not self.columns:
            return
        steps, names = [step for step, _ in self.columns], ("step", *self.columns[0][1])
        columns = np.array([list(values.values()) for _, values in self.columns], dtype=float)
        for i in active:  # One by one, so that no call holds up a thread that feeds the device.
            points: list[list[Any]] = columns[:, :, i].tolist()
            if not np.isfinite(columns[:, :, i]).all():
                points = [[finite(x) for x in row] for row in points]
            rows = zip(steps, points, strict=True)
            self.runs[i].rows += [dict(zip(names, (step, *row), strict=True)) for step, row in rows]
        self.columns = []

    @property
    def collapsed(self) -> np.ndarray:
        """In which runs a group of weights has died; norms that are not finite mean divergence instead."""
        return np.any([self.columns[-1][1][name] < norm for name, norm in self.dead.items()], axis=0)

    @property
    def may_stop(self) -> np.ndarray:
        """Which runs have grokked and then trained for `until` more steps."""
        return self.columns[-1][0] >= self.grokked + self.until
