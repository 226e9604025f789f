"""Batches as an engine hands them out: the unit in which training fails, is split or is tried again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from modgrok.experiments.experiment import Experiment
from modgrok.experiments.store import Store
from modgrok.training.examples import capacity, slots
from modgrok.training.program import Program


@dataclass(frozen=True)
class Unit:
    """Resolved experiments that train as one batch, and how often that was tried in vain."""

    experiments: tuple[Experiment, ...]
    attempts: int = 0

    def halves(self) -> tuple["Unit", "Unit"]:
        middle = len(self.experiments) // 2
        return Unit(self.experiments[:middle]), Unit(self.experiments[middle:])


@dataclass(frozen=True)
class Failure:
    """A unit given up, and why."""

    unit: Unit
    reason: str

    def __str__(self) -> str:
        first = self.unit.experiments[0]
        count = len(self.unit.experiments)
        return f"{count} run{'s' if count > 1 else ''} of {first.task} modulo {first.modulus} failed: {self.reason}"


def units(
    experiments: Sequence[Experiment], store: Store, platform: str, size: Callable[[Program, int, int], int]
) -> list[Unit]:
    """Units of one program each, from resolved experiments; the longest training sets come first. `size` says how many
    runs one may have, from the program, the rows of its training sets and the slots of its look-ups.

    On a CPU the training sets of a unit have the same length. Runs take turns there, so nothing is lost, and since
    padding changes the order of sums, a run then has the same bits in every unit, on every engine, unless it is alone
    in its unit and more than two cores share it.
    """
    from modgrok.experiments.batches import program_of, together

    groups: dict[Any, list[tuple[int, Experiment]]] = {}
    for e in experiments:
        table = e.load_task(store.tables).table
        program = program_of(e, table.ndim, platform)
        key = (program, e.steps, e.evaluations, e.snapshots, bool(e.parent))
        groups.setdefault(key, []).append((round(e.fraction * table.size), e))
    found = []
    for (program, steps, *_), group in groups.items():
        group = sorted(group, key=lambda one: -one[0])
        while group:
            lengths = [length for length, _ in group]
            count = lengths.count(lengths[0]) if platform == "cpu" else together(program, lengths, steps)
            near = [experiment for _, experiment in group[:count]]
            most = size(program, *_lengths(program, near[0], lengths[0], store))
            found += [Unit(tuple(part)) for part in _equal_parts(near, most)]
            group = group[count:]
    return found


def _lengths(program: Program, longest: Experiment, train: int, store: Store) -> tuple[int, int]:
    """Rows and slots of a batch whose longest training set is this experiment's."""
    if not program.gathers:
        return train, 0
    task = longest.load_task(store.tables)
    return capacity(train), slots(task, longest.split.divide(task)[0])


def _equal_parts(items: list[Experiment], size: int) -> list[list[Experiment]]:
    """As few parts as possible, of equal length, so that one compilation serves them all."""
    count = -(-len(items) // size)
    length = -(-len(items) // count)
    return [items[start : start + length] for start in range(0, len(items), length)]


def out_of_memory(error: BaseException) -> bool:
    """Whether a device or the machine had too little memory for a unit; half of it may fit."""
    return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error) or "ut of memory" in str(error)
