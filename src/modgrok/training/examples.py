"""The data of one run as arrays of fixed shape: its training examples, its table, its coordinate."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Int32

from modgrok.networks import grid
from modgrok.tasks import Task
from modgrok.training.program import Program


class Examples(NamedTuple):
    """Training inputs in blocks of equal length; rows of weight 0 pad the last block."""

    inputs: Int32[Any, "block row S"]
    answers: Int32[Any, "block row"]
    weight: Float[Any, "block row"]
    """1/|train| for every example, 0 for padding: weighted sums are means over the training set."""
    places: Int32[Any, "S p slot"] | None
    """For every variable and value the rows that have it, padded with a row of weight 0; None where not needed."""


class RunData(NamedTuple):
    """Everything a run reads and never changes."""

    examples: Examples
    table: Int32[Any, "input"]
    """Answers of all p^S inputs."""
    trained: Bool[Any, "input"]
    """Which of them are trained on."""
    index: Int32[Any, "S p"]
    """The task's own coordinate: the place of every value in Z_L, −1 where it has none."""
    length: Int32[Any, ""]
    """L, or 0 where the task has no coordinate."""


def capacity(train: int) -> int:
    """Rows that hold a training set and at least one row of padding, in multiples of 32."""
    return -(-(train + 1) // 32) * 32


def slots(task: Task, train: Int[np.ndarray, "train"]) -> int:
    """The most training examples that share a value of a variable, in multiples of 2."""
    inputs = np.stack(np.unravel_index(train, task.table.shape))
    most = max(int(np.bincount(values).max()) for values in inputs)
    return -(-most // 2) * 2


def run_data(program: Program, task: Task, train: Int[np.ndarray, "train"], rows: int, slot_count: int) -> RunData:
    """Arrays for one run, with room for `rows` examples and `slot_count` examples of each value."""
    count, length = program.blocks(rows)
    total = count * length
    inputs = np.full((total, task.arity), task.modulus - 1, dtype=np.int32)
    inputs[: len(train)] = grid(task.modulus, task.arity)[train]
    answers = np.zeros(total, dtype=np.int32)
    answers[: len(train)] = task.table.reshape(-1)[train]
    weight = np.zeros(total, dtype=program.precision)
    weight[: len(train)] = 1 / len(train)
    places = None
    if program.gathers:
        places = np.stack([_places(values[: len(train)], task.modulus, slot_count) for values in inputs.T])
    trained = np.zeros(task.table.size, dtype=bool)
    trained[train] = True
    coordinate = task.structure.coordinate
    return RunData(
        Examples(
            inputs.reshape(count, length, task.arity),
            answers.reshape(count, length),
            weight.reshape(count, length),
            places,
        ),
        task.table.reshape(-1).astype(np.int32),
        trained,
        np.zeros((task.arity, task.modulus), np.int32)
        if coordinate is None
        else np.stack(coordinate.index).astype(np.int32),
        np.asarray(0 if coordinate is None else coordinate.length, dtype=np.int32),
    )


def _places(values: np.ndarray, modulus: int, slot_count: int) -> np.ndarray:
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    rank = np.arange(len(values)) - np.searchsorted(ordered, ordered)
    places = np.full((modulus, slot_count), len(values), dtype=np.int32)
    places[ordered, rank] = order
    return places
