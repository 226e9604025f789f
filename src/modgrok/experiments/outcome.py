"""What becomes of a run: its curves so far, whether it may stop, and its result."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment
from modgrok.measures import grokked_at, memorized_at

COLLAPSE = 1e-6
"""Weights smaller than this share of their initial norm are dead: the network's gradient is cubic in them."""


@dataclass(frozen=True)
class Result:
    """How a run ended; numbers that do not exist are None."""

    run: str
    status: str
    """`finished`, `diverged` or `collapsed`."""
    steps: int
    """Steps taken."""
    learning_rate: float
    train_accuracy: float | None
    test_accuracy: float | None
    train_loss: float | None
    test_loss: float | None
    ipr: float | None
    """In the raw index; None for networks without one."""
    task_ipr: float | None
    """In the task's own coordinate."""
    memorized_at: int | None
    """The first evaluation at which the training accuracy reached the threshold."""
    grokked_at: int | None
    """The first evaluation at which the test accuracy did."""
    diverged_at: int | None
    seconds: float

    def __getitem__(self, name: str) -> Any:
        if name not in _NAMES:
            raise ModgrokError(f"A result has no {name!r}; it has {', '.join(_NAMES)}.")
        return getattr(self, name)

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        return dataclasses.asdict(self)


_NAMES = tuple(field.name for field in dataclasses.fields(Result))


class Progress:
    """The curves of one run while it trains."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.rows: list[dict[str, Any]] = []
        self.written = 0
        self.diverged_at: int | None = None

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)

    def restore(self, rows: list[dict[str, Any]]) -> None:
        """Goes on from curves that are on disk already."""
        self.rows = rows
        self.written = len(rows)

    def unwritten(self) -> list[dict[str, Any]]:
        """Rows since the last call."""
        fresh, self.written = self.rows[self.written :], len(self.rows)
        return fresh

    @property
    def collapsed(self) -> bool:
        """Whether a group of weights has died; norms that are not finite belong to a run that diverges."""
        first, last = self.rows[0], self.rows[-1]
        norms = [(first[name], last[name]) for name in first if name.startswith("norm_")]
        return any(now < COLLAPSE * before for before, now in norms if before is not None and now is not None)

    @property
    def may_stop(self) -> bool:
        """Whether the run has grokked, and trained on for as long as it was told to."""
        until = self.experiment.until
        if until is None:
            return False
        grokked = self.time(grokked_at, "test_accuracy")
        return grokked is not None and self.rows[-1]["step"] >= grokked + until

    def time(self, which: Any, curve: str) -> int | None:
        steps = np.array([row["step"] for row in self.rows])
        accuracy = np.array([np.nan if row[curve] is None else row[curve] for row in self.rows], dtype=float)
        return which(steps, accuracy, self.experiment.threshold)

    def result(self, run: str, status: str, seconds: float) -> Result:
        """The outcome, from the last point of the curves."""
        last = self.rows[-1]
        assert isinstance(self.experiment.lr, float)
        names = ("train_accuracy", "test_accuracy", "train_loss", "test_loss", "ipr", "task_ipr")
        return Result(
            run=run,
            status=status,
            steps=last["step"],
            learning_rate=self.experiment.lr,
            **{name: last.get(name) for name in names},
            memorized_at=self.time(memorized_at, "train_accuracy"),
            grokked_at=self.time(grokked_at, "test_accuracy"),
            diverged_at=self.diverged_at,
            seconds=round(seconds, 3),
        )
