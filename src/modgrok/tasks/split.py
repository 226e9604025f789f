"""Which inputs are trained on and which are held back for the test."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int, UInt64

from modgrok.errors import ModgrokError
from modgrok.tasks.task import Task

TRADES = 12
"""Rounds of trades that shuffle a balanced choice along each variable."""


@dataclass(frozen=True)
class Split:
    """A choice of training inputs, the same wherever and whenever it is made with the same settings.

    The paper samples at random and expects a guided choice to lower the critical fraction (section 4.2). Samplings:

    - `random`: all sets of the given size are equally likely.
    - `balanced`: every value of every variable occurs equally often, up to one. For two variables: every row and every
      column of the table has the same number of training pairs.
    - `answers`: every answer has the same share of its inputs in the training set, up to one input.
    """

    fraction: float = 0.5
    """Share of the p^S inputs that is trained on, α in the paper."""
    sampling: str = "random"
    """How the inputs are chosen: random, balanced or answers."""
    seed: int = 0
    """Which of the possible choices."""

    def __post_init__(self) -> None:
        if not 0 < self.fraction < 1:
            raise ModgrokError(
                f"The training fraction lies between 0 and 1, both excluded, and {self.fraction} does not."
            )
        if self.sampling not in SAMPLINGS:
            raise ModgrokError(f"The sampling is one of {', '.join(SAMPLINGS)}, not {self.sampling!r}.")
        if self.seed < 0:
            raise ModgrokError(f"A seed is a number from 0 on, not {self.seed}.")

    def divide(self, task: Task) -> tuple[Int[np.ndarray, "train"], Int[np.ndarray, "test"]]:
        """Train and test inputs as ascending indices into the raveled table, exactly round(α p^S) of them in train."""
        size = task.table.size
        count = round(self.fraction * size)
        if not 1 <= count < size:
            raise ModgrokError(
                f"A split needs inputs on both sides, and a training fraction of {self.fraction} puts {count} of the "
                f"{size} inputs in the training set."
            )
        chosen = _CHOICES[self.sampling](task, count, np.random.PCG64(self.seed))
        return np.flatnonzero(chosen), np.flatnonzero(~chosen)


def _random(task: Task, count: int, bits: np.random.PCG64) -> Bool[np.ndarray, "input"]:
    chosen = np.zeros(task.table.size, dtype=bool)
    chosen[_shuffled(task.table.size, bits)[:count]] = True
    return chosen


def _balanced(task: Task, count: int, bits: np.random.PCG64) -> Bool[np.ndarray, "input"]:
    """Diagonals n, n + (1, …, 1), n + (2, …, 2), … of a relabelled table, each of which has every value of every
    variable once; then trades, which keep the balance and forget the diagonals."""
    p, arity = task.modulus, task.arity
    labels = [_shuffled(p, bits) for _ in range(arity)]
    starts = _shuffled(p ** (arity - 1), bits)[: -(-count // p), None]  # inputs that begin with 0, as numbers in base p
    diagonals = [label[(p * starts // p**s + np.arange(p)) % p] for s, label in enumerate(labels)]
    chosen = np.zeros(task.table.shape, dtype=bool)
    chosen[tuple(values.reshape(-1)[:count] for values in diagonals)] = True
    for _ in range(TRADES):
        for axis in range(arity):
            rows = np.moveaxis(chosen, axis, 0).reshape(p, -1)
            chosen = np.moveaxis(_trade(rows, bits).reshape(task.table.shape), 0, axis)
    return chosen.reshape(-1)


def _trade(rows: Bool[np.ndarray, "p other"], bits: np.random.PCG64) -> Bool[np.ndarray, "p other"]:
    """Random pairs of rows redistribute at random what only one of the two has; all row and column sums stay."""
    half = len(rows) // 2
    order = _shuffled(len(rows), bits)
    one, two = rows[order[:half]], rows[order[half : 2 * half]]
    differ = one != two
    keys = np.where(differ, _random_bits(differ.shape, bits) >> np.uint64(1), np.iinfo(np.uint64).max)
    rank = np.argsort(np.argsort(keys, axis=1, kind="stable"), axis=1, kind="stable")
    to_one = differ & (rank < (one & differ).sum(axis=1, keepdims=True))
    traded = rows.copy()
    traded[order[:half]] = (one & two) | to_one
    traded[order[half : 2 * half]] = (one & two) | (differ & ~to_one)
    return traded


def _answers(task: Task, count: int, bits: np.random.PCG64) -> Bool[np.ndarray, "input"]:
    """Answers in a random order, inputs in a random order within each; then every (p^S / count)-th input is taken."""
    size = task.table.size
    rank_of_answer = _shuffled(task.modulus, bits)
    order = np.lexsort((_random_bits((size,), bits), rank_of_answer[task.table.reshape(-1)]))
    taken = np.arange(size + 1) * count // size
    chosen = np.zeros(size, dtype=bool)
    chosen[order[np.diff(taken) == 1]] = True
    return chosen


def _shuffled(length: int, bits: np.random.PCG64) -> Int[np.ndarray, "length"]:
    return np.argsort(_random_bits((length,), bits), kind="stable")


def _random_bits(shape: tuple[int, ...], bits: np.random.PCG64) -> UInt64[np.ndarray, "..."]:
    """The generator's raw stream, which NumPy keeps the same in all its versions."""
    return bits.random_raw(shape)


_CHOICES: dict[str, Callable[[Task, int, np.random.PCG64], np.ndarray]] = {
    "random": _random,
    "balanced": _balanced,
    "answers": _answers,
}
SAMPLINGS = tuple(_CHOICES)
