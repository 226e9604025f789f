"""What becomes of a run: its curves so far, whether it may stop, and its result."""

from typing import Any

import numpy as np

from modgrok.experiments.experiment import Experiment
from modgrok.measures import grokked_at, memorized_at

COLLAPSE = 1e-6
"""Weights smaller than this share of their initial norm are dead: the network's gradient is cubic in them."""


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
        """Whether a weight matrix has died; norms that are not finite belong to a run that diverges."""
        first, last = self.rows[0], self.rows[-1]
        norms = [(first[name], last[name]) for name in ("norm_in", "norm_out")]
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


def result_of(run: str, status: str, progress: Progress, seconds: float) -> dict[str, Any]:
    """The outcome of a run as JSON values."""
    last = progress.rows[-1]
    curves = ("train_accuracy", "test_accuracy", "train_loss", "test_loss", "ipr", "task_ipr")
    return {
        "run": run,
        "status": status,
        "steps": last["step"],
        "learning_rate": progress.experiment.lr,
        **{name: last[name] for name in curves},
        "memorized_at": progress.time(memorized_at, "train_accuracy"),
        "grokked_at": progress.time(grokked_at, "test_accuracy"),
        "diverged_at": progress.diverged_at,
        "seconds": round(seconds, 3),
    }
