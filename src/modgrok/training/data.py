"""The data of one run as arrays of fixed shape: its training examples, all it is evaluated on, its coordinate."""

from typing import Any, NamedTuple

import numpy as np

from modgrok.measures.vectors import GroupData, group_data
from modgrok.networks import grid
from modgrok.shapes import Bool, Float, Int32, Shaped
from modgrok.tasks import Basis, Examples, Task
from modgrok.training.program import Program


class Batch(NamedTuple):
    """Training examples in blocks of equal length; rows of weight 0 pad the last block, and blocks that are not
    used."""

    inputs: Shaped[Any, "block row width"]
    labels: Int32[Any, "block row"]
    weight: Float[Any, "block row"]
    """1/|train| for every example, 0 for padding: weighted sums are means over the training set."""
    tables: Any
    """What the kernel looks up besides, None where nothing."""
    used: Int32[Any, "part"] | None
    """How many blocks of each part hold examples, from its first on; None stands for all."""


class RunData(NamedTuple):
    """Everything a run reads and never changes."""

    batch: Batch
    inputs: Shaped[Any, "example width"] | None
    """What is evaluated; None stands for all inputs of the task's table, in its order."""
    answers: Int32[Any, "example"]
    """Labels of the trained examples, right answers of the others; 0 where an input does not occur."""
    trained: Bool[Any, "example"]
    tested: Bool[Any, "example"]
    test_rows: Int32[Any, "block row"] | None
    """Indices of the test examples in blocks, −1 for padding, where the gradient pass covers the training examples;
    None where evaluations look at all examples."""
    test_blocks: Int32[Any, "part"] | None
    """The number of those blocks in each part."""
    index: Int32[Any, "S p"]
    """The task's own coordinate: the place of every value in Z_L, −1 where it has none."""
    length: Int32[Any, ""]
    """L, 0 where the task has no coordinate, −1 where it is a product in a group that is not cyclic."""
    codes: Float[Any, "answer out"] | None
    group: Any = None
    """The task's `GroupData`, where a measure asks for it."""


class Room(NamedTuple):
    """The lengths of a batch's arrays."""

    rows: int
    """Training examples, padding included; where blocks are counted there is room for all examples."""
    slots: int = 0
    """Examples that share a value of a variable, for kernels that look them up."""


def run_data(program: Program, task: Task, examples: Examples, room: Room) -> RunData:
    """Arrays for one run, with room for as many examples as the longest of its batch."""
    from modgrok.training.kernels import kernel_for

    chosen = np.flatnonzero(examples.trained)
    labels = np.where(examples.trained, examples.labels, examples.answers).astype(np.int32)
    is_table = task.table is not None and task.vectors is None
    if is_table:
        assert task.table is not None
        answers, trained, tested = (np.zeros(task.table.size, kind) for kind in (np.int32, bool, bool))
        answers[task.present], trained[task.present] = labels, examples.trained
        tested[task.present] = ~examples.trained
    else:
        answers, trained, tested = labels, examples.trained, ~examples.trained
    test_rows = test_blocks = None
    if program.on.counts_correct:
        numbers = np.flatnonzero(tested)
        room_for_all = program.evaluation_blocks(len(answers))
        places, test_blocks = deal(program, len(numbers), *room_for_all)
        test_rows = np.full(room_for_all, -1, np.int32)
        test_rows.reshape(-1)[places] = numbers
    coordinate = task.structure.coordinate if program.architecture.has_waves else None
    shape = (max(1, len(task.sizes)), max(task.sizes))
    index = np.zeros(shape, np.int32) if coordinate is None else np.stack(coordinate.index).astype(np.int32)
    dtype = np.int32 if examples.inputs.dtype.kind == "i" else program.dtype
    inputs = examples.inputs.astype(dtype)
    return RunData(
        _batch(program, inputs[chosen], labels[chosen], room, kernel_for(program), len(answers)),
        None if is_table else inputs,
        answers,
        trained,
        tested,
        test_rows,
        test_blocks,
        index,
        np.asarray(_length(task, coordinate), dtype=np.int32),
        None if task.codes is None else task.codes.astype(program.dtype),
        _group(task) if any(measure.on_group for measure in program.recorded) else None,
    )


def _length(task: Task, coordinate: Basis | None) -> int:
    if coordinate is None:
        return -1 if task.is_modular and task.structure.product is not None else 0
    return coordinate.length


def _group(task: Task) -> GroupData:
    """The arrays of a task's group in the precision of a run."""
    found = group_data(task.structure.basis)
    return GroupData(*(x.astype(np.int32 if x.dtype.kind == "i" else np.float32) for x in found))


def _batch(program: Program, inputs: np.ndarray, labels: np.ndarray, room: Room, kernel: Any, most: int) -> Batch:
    """The training examples, of which there are at most so many."""
    count, length = program.blocks(most if program.counted else room.rows)
    places, used = deal(program, len(inputs), count, length) if program.counted else (np.arange(len(inputs)), None)
    total = count * length
    padded = np.zeros((total, inputs.shape[1]), inputs.dtype)
    padded[places] = inputs
    answers = np.zeros(total, np.int32)
    answers[places] = labels
    weight = np.zeros(total, program.dtype)
    weight[places] = 1 / max(1, len(labels))
    return Batch(
        padded.reshape(count, length, -1),
        answers.reshape(count, length),
        weight.reshape(count, length),
        kernel.tables(program, inputs, room),
        used,
    )


def deal(program: Program, rows: int, count: int, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Where so many rows stand in blocks of which each part has as many, and how many blocks of each part they fill,
    from its first on: with more room the same blocks are added up in the same order."""
    filled, parts = -(-rows // length), program.parts
    used = np.full(parts, filled // parts, np.int32)
    used[: filled % parts] += 1
    first = np.repeat(np.arange(parts) * (count // parts) - (np.cumsum(used) - used), used)
    blocks = first + np.arange(filled)
    return (blocks[:, None] * length + np.arange(length)).reshape(-1)[:rows], used


def evaluated_inputs(program: Program, data: RunData) -> Any:
    """The inputs that are evaluated: those of the run, or all of its table."""
    return grid(program.signature.sizes).astype(np.int32) if data.inputs is None else data.inputs
