"""Which functions generalize: the structure of their tables beside what training makes of them.

The paper sees three classes (section 3.2 and the discussion): functions that are learned easily, those that need a lot
of data, and those that are not learned at all. Here a class is what the test accuracies say, by fixed thresholds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.result import Result, bad_ends
from modgrok.experiments.sweeps.sweep import Sweep
from modgrok.experiments.sweeps.table import Results
from modgrok.tasks import Structure

EASY_FRACTION = 0.75
"""A function is learned easily where most runs grok at a fraction up to this."""
LEARNED = 0.5
"""It is learned with much data where, at the largest fraction, the median test accuracy is at least this."""
SUMS = ("n + m", "n - m", "2*n + 3*m", "n^2 + m^2", "n^2 - m", "n^3 + m", "n^3 + m^3", "n^2 + m^4")
FUNCTIONS_OF_SUMS = (
    "(n + m)^2",
    "(n - m)^2",
    "(n + 2*m)^2",
    "(n + m)^3",
    "(n^2 + m)^2",
    "n^2 + 2*n*m + m^2 + n + m",
    "(n + m)^4 + (n + m)^2",
)
PRODUCTS = ("n*m", "n^2*m", "n*m^3", "n^2*m^2", "(n + 1)*(m + 2)", "n^2*m + m")
FUNCTIONS_OF_PRODUCTS = ("n*m + n + m", "n^2*m^2 + n*m", "n^3*m^3 + n*m")
MIXTURES = (
    "n^2 + n*m",
    "n^2 + n*m + m",
    "n^2 + m^2 + n*m",
    "n^2 + m^2 + n*m + n",
    "n^2*m + n",
    "n^2*m + n*m^2",
    "n^3 + n*m",
    "n^3 + n*m^2",
    "n^3 + n*m^2 + m",
    "n^3 + m^3 + n*m",
    "n^2*m^2 + n + m",
    "n^4 + n*m + m^4",
)
FUNCTIONS = SUMS + FUNCTIONS_OF_SUMS + PRODUCTS + FUNCTIONS_OF_PRODUCTS + MIXTURES
"""Bivariate polynomials of every kind that the structure search tells apart, from the easiest to the hardest."""

Complexity = Literal["easily", "with much data", "not at all"]
CLASSES: tuple[Complexity, ...] = ("easily", "with much data", "not at all")


@dataclass(frozen=True)
class Point:
    """One function at one fraction."""

    fraction: float
    accuracies: tuple[float, ...]
    """Test accuracies at the end, one for each run that has ended."""
    grokked: int
    """How many of the runs grokked."""
    sound: bool
    """Whether some run neither diverged nor collapsed; the others tell of their rates, not of the function."""

    @property
    def accuracy(self) -> float | None:
        """The median test accuracy."""
        return float(np.median(self.accuracies)) if self.accuracies else None


@dataclass(frozen=True, eq=False)
class LandscapeRow:
    """One function: its structure, and what training did."""

    function: str
    structure: Structure
    points: tuple[Point, ...]
    """By fraction, ascending."""

    @property
    def complexity(self) -> Complexity | None:
        """The class; None while runs are missing, and where no run of a fraction ended well."""
        if not all(point.sound for point in self.points):
            return None
        easy = [point for point in self.points if point.fraction <= EASY_FRACTION]
        if any(2 * point.grokked > len(point.accuracies) for point in easy):
            return "easily"
        last = self.points[-1].accuracy
        return "with much data" if last is not None and last >= LEARNED else "not at all"

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON values."""
        return {
            "function": self.function,
            "structure": self.structure.kind,
            "learned": self.complexity,
            "fractions": [point.fraction for point in self.points],
            "test_accuracy": [point.accuracy for point in self.points],
            "lowest": [min(point.accuracies, default=None) for point in self.points],
            "highest": [max(point.accuracies, default=None) for point in self.points],
            "grokked": [point.grokked for point in self.points],
            "runs": [len(point.accuracies) for point in self.points],
        }


def landscape_sweep(experiment: Experiment, functions: Sequence[str], fractions: Sequence[float], seeds: int) -> Sweep:
    """All functions at all fractions; `experiment` has the other settings."""
    if seeds < 1:
        raise ModgrokError(f"seeds must be at least 1, not {seeds}.")
    names = tuple(functions) or FUNCTIONS
    return Sweep(experiment, [{"task": names}, {"fraction": sorted(fractions)}, {"seed": range(seeds)}])


def landscape(sweep: Sweep, results: Results) -> list[LandscapeRow]:
    """The rows of a landscape, class by class, the best learned first."""
    found: dict[str, dict[float, list[Result]]] = {}
    for experiment, result in zip(sweep.experiments, results.in_order, strict=True):
        runs = found.setdefault(experiment.task, {}).setdefault(experiment.fraction, [])
        if result is not None:
            runs.append(result)
    modulus = sweep.experiment.modulus
    rows = [
        LandscapeRow(
            function,
            Experiment(function, modulus).load_task().structure,
            tuple(_point(fraction, runs) for fraction, runs in at.items()),
        )
        for function, at in found.items()
    ]
    return sorted(rows, key=_rank)


def sentences(rows: Sequence[LandscapeRow]) -> list[str]:
    """Which functions generalize, in words."""
    said = []
    for known, what in ((True, "with a known structure"), (False, "without a known structure")):
        group = [row.complexity for row in rows if row.structure.known == known and row.complexity is not None]
        if group:
            counts = ", ".join(f"{group.count(name)} {name}" for name in CLASSES if name in group)
            said.append(f"Functions {what}, by how they are learned: {counts}.")
    return said


def _point(fraction: float, runs: list[Result]) -> Point:
    accuracies = tuple(run.test_accuracy or 0.0 for run in runs)
    grokked, bad = sum(run.grokked_at is not None for run in runs), bad_ends(run.status for run in runs)
    return Point(fraction, accuracies, grokked, sum(bad.values()) < len(runs))


def _rank(row: LandscapeRow) -> tuple[Any, ...]:
    complexity = row.complexity
    order = len(CLASSES) if complexity is None else CLASSES.index(complexity)
    return order, not row.structure.known, -sum(point.accuracy or 0.0 for point in row.points)
