"""The form in which papers that are not tables yet are written: runs as nested dictionaries, numbers likewise."""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.measures.trials import edge
from modgrok.reproduce.study import Figure
from modgrok.reproduce.table import rounded
from modgrok.text import Value

Numbers = dict[str, Any]
"""JSON values: whatever a figure draws and a claim judges, so that both can be redone without the runs."""
Times = Sequence[Value]
"""Grokking steps of seeds, None for those that did not grok."""
Tree = Any
"""Lists and dicts of lists and dicts …, with experiments or their runs at the ends."""


@runtime_checkable
class Profile(Protocol):
    """How much is trained: every size, seed, grid and number of steps that a paper's studies read."""

    @property
    def name(self) -> str: ...

    @property
    def left_out(self) -> tuple[str, ...]:
        """Studies that are too long for this profile."""
        ...


def no_experiments(profile: Any) -> list[Experiment]:
    """For studies of closed forms and kernels: nothing is trained."""
    return []


@dataclass(frozen=True)
class Study:
    """One figure, or one measurement without a figure."""

    name: str
    title: str
    caption: str
    """What there is to see, and how it was made."""
    numbers: Callable[[Any, Tree], Numbers]
    """From a profile and its runs to numbers."""
    experiments: Callable[[Any], Tree] = no_experiments
    """The runs it needs, nested as `numbers` wants to find them; studies that name one experiment share its run."""
    draw: Callable[[Numbers], Any] | None = None
    """From numbers to a matplotlib figure, without arithmetic."""
    digits: int = 5
    """Significant digits of the numbers that are kept."""
    beyond: bool = False
    """Whether it answers a question that the paper leaves open, rather than repeat what the paper did."""
    slow: bool = False
    """Whether its numbers take long: its networks are trained first, and it is measured while the others train."""

    @property
    def figures(self) -> tuple[Figure, ...]:
        if self.draw is None:
            return ()
        return (Figure(self.name, self.title, self.caption, self.draw, self, self.beyond),)

    def needs(self, profile: Any) -> list[Experiment]:
        """The experiments, in order."""
        return list(_ends(self.experiments(profile)))

    def measure(self, profile: Any, find: Callable[[Experiment], Run]) -> Numbers:
        """The numbers of a profile, from the finished runs that `find` gives."""
        return rounded(self.numbers(profile, _mapped(self.experiments(profile), find)), self.digits)


def median_time(times: Times) -> float | None:
    """Median over all seeds, of which those that did not grok took forever; None where that is the median."""
    middle = statistics.median(math.inf if time is None else time for time in times)
    return None if math.isinf(middle) else float(middle)


def edges(chosen: Numbers, trials: Sequence[Numbers]) -> str:
    """Where the chosen trial is an outermost one, beyond which the search did not look; a decay of 0 is none."""
    names = {"lr": "rate", "decay": "decay"}
    return "".join(edge(chosen[key], [trial[key] for trial in trials], name) for key, name in names.items())


def mean(values: Sequence[Value]) -> float:
    """Mean of the numbers that exist; NaN where none does."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else math.nan


def results(tree: Tree, *path: str) -> Any:
    """One part of the result of every run, nested as the runs are."""
    return _mapped(tree, lambda run: run.result[path[0]] if len(path) == 1 else tuple(run.result[p] for p in path))


def last(runs: Sequence[Any], curve: str) -> list[float]:
    """Where a curve of every run ends."""
    return [run.history[curve][-1] for run in runs]


def _ends(tree: Tree) -> Iterator[Experiment]:
    if isinstance(tree, (dict, list, tuple)):
        for branch in tree.values() if isinstance(tree, dict) else tree:
            yield from _ends(branch)
    else:
        yield tree


def _mapped(tree: Tree, change: Callable[[Any], Any]) -> Tree:
    if isinstance(tree, dict):
        return {key: _mapped(branch, change) for key, branch in tree.items()}
    return [_mapped(branch, change) for branch in tree] if isinstance(tree, (list, tuple)) else change(tree)
