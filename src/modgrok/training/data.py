"""The data of one run as arrays of fixed shape: its training examples, all it is evaluated on, its coordinate."""

from typing import Any, NamedTuple

import numpy as np

from modgrok.measures.vectors import GroupData, group_data
from modgrok.networks import grid
from modgrok.shapes import Bool, Float, Int32, Shaped
from modgrok.tasks import Examples, Task
from modgrok.training.program import Program


class Batch(NamedTuple):
    """Training examples in blocks of equal length, padded with rows of weight 0."""

    inputs: Shaped[Any, "block row width"]
    labels: Int32[Any, "block row"]
    weight: Float[Any, "block row"]
    """1/|train| for every example, 0 for padding: weighted sums are means over the training set."""
    tables: Any
    """Index arrays of the kernel, or None."""
    used: Int32[Any, "part"] | None
    """Number of leading blocks of each part that hold examples; None means all."""


class RunData(NamedTuple):
    """Everything a run reads and never changes."""

    batch: Batch
    inputs: Shaped[Any, "example width"] | None
    """Inputs to evaluate; None means all inputs of the task's table, in its order."""
    answers: Int32[Any, "example"]
    """Labels of training examples, correct answers of all others; 0 where an input does not occur."""
    trained: Bool[Any, "example"]
    tested: Bool[Any, "example"]
    test_rows: Int32[Any, "block row"] | None
    """Indices of the test examples in blocks, −1 for padding, where the gradient pass covers the training examples;
    None where evaluations look at all examples."""
    test_blocks: Int32[Any, "part"] | None
    """The number of those blocks in each part."""
    index: Int32[Any, "S p"]
    """The task's own coordinate: the position of every value in Z_L, or −1."""
    length: Int32[Any, ""]
    """L, 0 where the task has no coordinate, −1 where it is a product in a group that is not cyclic."""
    codes: Float[Any, "answer out"] | None
    group: Any = None
    """The task's `GroupData`, where a measure asks for it."""


class PaddedShape(NamedTuple):
    """Padded lengths of a run's arrays, equal for all runs of a batch."""

    rows: int
    """Training examples, padding included."""
    slots: int = 0
    """Most examples that share a value of a variable, or all rows, for kernels with an order of their own."""
    lists: int = 0
    """Of examples that share a value, for kernels that take them one by one."""


def run_data(program: Program, task: Task, examples: Examples, padded: PaddedShape) -> RunData:
    """Arrays of one run, padded to the longest training set of its batch."""
    from modgrok.training.kernels import kernel_for

    chosen = np.flatnonzero(examples.trained)
    labels = np.where(examples.trained, examples.labels, examples.answers).astype(np.int32, copy=False)
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
        padded_blocks = program.evaluation_blocks(len(answers))
        rows, test_blocks = deal(program, len(numbers), *padded_blocks)
        test_rows = np.full(padded_blocks, -1, np.int32)
        test_rows.reshape(-1)[rows] = numbers
    coordinate = task.structure.coordinate if program.architecture.has_waves else None
    if coordinate is None:
        index = np.zeros((max(1, len(task.sizes)), max(task.sizes)), np.int32)
        length = -1 if task.is_modular and task.structure.product is not None else 0
    else:
        index, length = np.stack(coordinate.index).astype(np.int32), coordinate.length
    dtype = np.int32 if examples.inputs.dtype.kind == "i" else program.dtype
    inputs = examples.inputs.astype(dtype, copy=False)
    return RunData(
        _batch(program, inputs[chosen], labels[chosen], padded, kernel_for(program), len(answers)),
        None if is_table else inputs,
        answers,
        trained,
        tested,
        test_rows,
        test_blocks,
        index,
        np.asarray(length, dtype=np.int32),
        None if task.codes is None else task.codes.astype(program.dtype),
        _group(task) if any(measure.on_group for measure in program.recorded) else None,
    )


def _group(task: Task) -> GroupData:
    """The arrays of a task's group in the precision of a run."""
    found = group_data(task.structure.basis)
    return GroupData(*(x.astype(np.int32 if x.dtype.kind == "i" else np.float32) for x in found))


def _batch(
    program: Program, inputs: np.ndarray, labels: np.ndarray, padded: PaddedShape, kernel: Any, most: int
) -> Batch:
    """The training examples in blocks; `most` bounds their number."""
    count, length = program.blocks(most if program.dynamic_blocks else padded.rows)
    dealt = deal(program, len(inputs), count, length) if program.dynamic_blocks else (np.arange(len(inputs)), None)

    def in_blocks(values: np.ndarray) -> np.ndarray:
        padded = np.zeros((count * length, *values.shape[1:]), values.dtype)
        padded[dealt[0]] = values
        return padded.reshape(count, length, *values.shape[1:])

    weight = np.full(len(labels), 1 / max(1, len(labels)), program.dtype)
    tables = kernel.tables(inputs, labels, padded)
    return Batch(in_blocks(inputs), in_blocks(labels), in_blocks(weight), tables, dealt[1])


def deal(program: Program, rows: int, count: int, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Index of each row when `count` blocks are divided equally among the parts, and how many blocks of each part are
    filled, from its first on. More padding leaves blocks and the order of their sum unchanged."""
    filled, parts = -(-rows // length), program.parts
    used = np.full(parts, filled // parts, np.int32)
    used[: filled % parts] += 1
    first = np.repeat(np.arange(parts) * (count // parts) - (np.cumsum(used) - used), used)
    blocks = first + np.arange(filled)
    return (blocks[:, None] * length + np.arange(length)).reshape(-1)[:rows], used


def evaluated_inputs(sizes: tuple[int, ...], data: RunData) -> Any:
    """Inputs to evaluate: those of the run, or the whole table of these sizes."""
    return grid(sizes).astype(np.int32) if data.inputs is None else data.inputs
