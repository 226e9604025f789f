"""Which inputs are trained on and which are held back for the test, and with which labels."""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.shapes import Bool, Float, Int, UInt64
from modgrok.tasks.choice import read_choice
from modgrok.tasks.task import MOST_ENTRIES, Task
from modgrok.text import abridged

TRADES = 12
"""Rounds of trades that shuffle a balanced choice along each variable."""
ROUNDS = 32
"""In how many parts an expander is put together."""
REMEMBERED = 100_000
"""Choices among more inputs are not remembered."""
TEST_EXAMPLES = 2048
"""Test examples of a task that cannot be enumerated, unless their number is given."""
_SAMPLE, _CORRUPTION = 1, 2  # streams of random bits beside that of the division


class Examples(NamedTuple):
    """Everything a run sees: of a table all inputs that occur, in raveled order; of a task that cannot be enumerated
    the training examples, then the test examples."""

    inputs: Int[np.ndarray, "example S"] | Float[np.ndarray, "example d"]
    answers: Int[np.ndarray, "example"]
    """The truth."""
    labels: Int[np.ndarray, "example"]
    """What is trained on: another answer where a training example was corrupted."""
    trained: Bool[np.ndarray, "example"]
    """The others are the test set."""


@dataclass(frozen=True)
class Split:
    """A choice of training examples. The same settings give the same choice on every machine.

    The paper samples at random and expects that a guided choice lowers the critical fraction (section 4.2). Samplings:

    - `random`: all sets of the given size are equally likely.
    - `balanced`: every value of every variable occurs equally often, up to one. For two variables: every row and every
      column of the table has the same number of training pairs. With holes or variables of unequal sizes: the same
      share of the inputs that have the value, up to one for two variables and as nearly as exchanges reach for more.
    - `answers`: the training set has the same share of the inputs of every answer, up to one input.
    - `lines`: whole lines n + g·m = c of one random slope g, coprime to p and other than ±1 (hyperplanes for more
      variables), each of which has every value of every variable equally often, and for prime p every answer of a sum.
      Where p has no such slope (2, 3, 4, 6) it is 1 or −1: lines of n + m or of n − m, whose sum or difference is one
      answer. The last line may be cut.
    - `expander`: in 32 rounds, the inputs are added that close the fewest rectangles with those of the rounds before.
      The fourth corner of a rectangle (n, m), (n, m'), (n', m), (n', m') follows from the other three where the
      function is a sum, so this choice has little redundancy; as a graph of rows and columns it has few short cycles.
    """

    fraction: float = 0.5
    """Share of the inputs that is trained on, α in the paper."""
    sampling: str = "random"
    """How the inputs are chosen: random, balanced, answers, lines or expander."""
    seed: int = 0
    """Which of the possible choices."""
    wrong: float = 0.0
    """Share of the training examples whose label is replaced by another answer, chosen uniformly."""
    examples: int | None = None
    """Training examples, instead of a fraction; none: of a task that cannot be enumerated fresh ones at every step."""
    test_examples: int | None = None
    """Test examples of a task that cannot be enumerated, 2048 unless given."""
    chosen: str = ""
    """The training inputs themselves instead of a fraction of all, as `modgrok.tasks.choice` writes them down."""

    def __post_init__(self) -> None:
        for name in ("fraction", "wrong"):
            object.__setattr__(self, name, _converted(name, getattr(self, name), float, "number"))
        for name in ("seed", "examples", "test_examples"):
            if (given := getattr(self, name)) is not None or name == "seed":
                object.__setattr__(self, name, _converted(name, given, operator.index, "whole number"))
        if not 0 < self.fraction < 1:
            raise ModgrokError(f"fraction must be strictly between 0 and 1, not {self.fraction}.")
        if self.sampling not in SAMPLINGS:
            raise ModgrokError(f"sampling must be one of {', '.join(SAMPLINGS)}, not {self.sampling!r}.")
        if self.seed < 0:
            raise ModgrokError(f"seed must be 0 or larger, not {self.seed}.")
        if not 0 <= self.wrong <= 1:
            raise ModgrokError(f"wrong_labels must be between 0 and 1, not {self.wrong}.")
        for name, value in (("training", self.examples), ("test", self.test_examples)):
            if value is not None and value < 1:
                raise ModgrokError(f"The number of {name} examples must be at least 1, not {value}.")

    def divide(self, task: Task) -> tuple[Int[np.ndarray, "train"], Int[np.ndarray, "test"]]:
        """Train and test inputs as ascending indices into the raveled table, exactly round(α·size) of them in train,
        where the size counts the inputs that occur."""
        if self.test_examples is not None:
            raise ModgrokError(
                f"test_examples has no effect on {task.name!r}: every input outside the training set is tested."
            )
        if self.chosen:
            trained = read_choice(self.chosen, task)
            return trained, np.setdiff1d(task.present, trained, assume_unique=True)
        size = len(task.present)
        count, _ = self.counts(task)
        if not 1 <= count < size:
            asked = f"a training fraction of {self.fraction}" if self.examples is None else "the number of examples"
            raise ModgrokError(
                f"A split needs inputs on both sides, and {asked} puts {count} of the {size} inputs in the training "
                "set."
            )
        choose = _chosen if size <= REMEMBERED else _chosen.__wrapped__
        chosen = choose(self.sampling, task, count, self.seed)
        return task.present[chosen], task.present[~chosen]

    def counts(self, task: Task) -> tuple[int, int]:
        """How many examples are trained on (none where every step has fresh ones) and tested, without choosing them."""
        if not task.enumerable:
            return self.examples or 0, self.test_examples or TEST_EXAMPLES
        size = len(task.present)
        if self.chosen:
            trained = len(read_choice(self.chosen, task))
        else:
            trained = round(self.fraction * size) if self.examples is None else self.examples
        return trained, size - trained

    def examples_of(self, task: Task) -> Examples:
        """The examples of a task with their labels."""
        inputs, answers, trained = self._of_table(task) if task.enumerable else self._of_rule(task)
        return Examples(inputs, answers, self._corrupted(answers, trained, task.answers), trained)

    def _of_table(self, task: Task) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        trained = np.zeros(math.prod(task.sizes), dtype=bool)
        trained[self.divide(task)[0]] = True
        present = task.present
        if task.vectors is not None:
            inputs = task.vectors[present]
        else:
            inputs = np.stack(np.unravel_index(present, task.sizes), axis=1).astype(np.int32)
        return inputs, task.table.reshape(-1)[present].astype(np.int32), trained[present]

    def _of_rule(self, task: Task) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        assert task.rule is not None
        if self.wrong and self.examples is None:
            raise ModgrokError(f"wrong_labels needs a fixed training set for {task.name!r}; give a number of examples.")
        train = self.examples or 0
        total = train + (self.test_examples or TEST_EXAMPLES)
        if total * task.arity > MOST_ENTRIES:
            raise ModgrokError(
                f"{total:,} examples of {task.arity} variables are more than {MOST_ENTRIES:,} numbers; take fewer."
            )
        inputs = _sample(task.sizes, total, np.random.PCG64([self.seed, _SAMPLE]))
        return inputs, np.asarray(task.rule(inputs), dtype=np.int32), np.arange(total) < train

    def _corrupted(self, answers: np.ndarray, trained: np.ndarray, count: int) -> Int[np.ndarray, "example"]:
        """The answers, of which exactly round(wrong·|train|) in the training set are replaced by others."""
        train, labels = np.flatnonzero(trained), answers.copy()
        wrong = round(self.wrong * len(train))
        if wrong == 0:
            return labels
        bits = np.random.PCG64([self.seed, _CORRUPTION])
        chosen = train[_shuffled(len(train), bits)[:wrong]]
        steps = 1 + (_random_bits(chosen.shape, bits) % np.uint64(count - 1)).astype(np.int32)
        labels[chosen] = (answers[chosen] + steps) % count
        return labels


def _converted(name: str, given: Any, convert: Callable[[Any], Any], kind: str) -> Any:
    try:
        return convert(given)
    except (TypeError, ValueError, OverflowError):
        raise ModgrokError(f"{name} must be a {kind}, not {abridged(given)}.") from None


@lru_cache(maxsize=16)
def _chosen(sampling: str, task: Task, count: int, seed: int) -> Bool[np.ndarray, "present"]:
    """Which inputs are trained on; runs that are planned or begun one after another often have the same ones."""
    chosen = np.zeros(len(task.present), dtype=bool)
    chosen[_CHOICES[sampling](task, count, np.random.PCG64(seed))] = True
    chosen.setflags(write=False)
    return chosen


def _sample(sizes: tuple[int, ...], count: int, bits: np.random.PCG64) -> Int[np.ndarray, "count S"]:
    """Uniform inputs, all different where there are that many."""
    possible = math.prod(sizes)
    if count <= possible <= 16 * count:
        chosen = _shuffled(possible, bits)[:count]
        return np.stack(np.unravel_index(chosen, sizes), axis=1).astype(np.int32)
    inputs = np.zeros((0, len(sizes)), dtype=np.int32)
    while len(inputs) < count:
        raw = _random_bits((count - len(inputs), len(sizes)), bits) >> np.uint64(11)
        inputs = np.concatenate([inputs, (raw % np.array(sizes, dtype=np.uint64)).astype(np.int32)])
        if count <= possible:
            inputs = inputs[np.sort(np.unique(inputs, axis=0, return_index=True)[1])]
    return inputs


def _random(task: Task, count: int, bits: np.random.PCG64) -> Int[np.ndarray, "count"]:
    return _shuffled(len(task.present), bits)[:count]


def _balanced(task: Task, count: int, bits: np.random.PCG64) -> Int[np.ndarray, "count"]:
    """Diagonals n, n + (1, …, 1), n + (2, …, 2), … of a relabeled table, each of which has every value of every
    variable once; then trades, which keep the balance and forget the diagonals."""
    if task.holes or len(set(task.sizes)) > 1:
        return _balanced_among_holes(task, count, bits)
    p, arity = task.sizes[0], task.arity
    labels = [_shuffled(p, bits) for _ in range(arity)]
    starts = _shuffled(p ** (arity - 1), bits)[: -(-count // p), None]  # inputs that begin with 0, as numbers in base p
    diagonals = [label[(p * starts // p**s + np.arange(p)) % p] for s, label in enumerate(labels)]
    chosen = np.zeros(task.sizes, dtype=bool)
    chosen[tuple(values.reshape(-1)[:count] for values in diagonals)] = True
    for _ in range(TRADES):
        for axis in range(arity):
            rows = np.moveaxis(chosen, axis, 0).reshape(p, -1)
            chosen = np.moveaxis(_trade(rows, bits).reshape(task.sizes), 0, axis)
    return np.flatnonzero(chosen)


def _balanced_among_holes(task: Task, count: int, bits: np.random.PCG64) -> Int[np.ndarray, "count"]:
    r"""A random choice, then exchanges of the most crowded training input for the least crowded other one, as long as
    they lower $\sum_{s, v} d_{sv}^2$, where $d_{sv}$ is what value v of variable s has more than its share."""
    order = _shuffled(len(task.present), bits)
    values = np.unravel_index(task.present[order], task.sizes)  # S arrays (input,)
    chosen = np.arange(len(order)) < count
    excess = [
        np.bincount(v[chosen], minlength=size) - np.bincount(v, minlength=size) * (count / len(order))
        for v, size in zip(values, task.sizes, strict=True)
    ]
    while True:
        crowding = np.sum([d[v] for d, v in zip(excess, values, strict=True)], axis=0)
        leaves = int(np.argmax(np.where(chosen, crowding, -np.inf)))
        enters = int(np.argmin(np.where(chosen, np.inf, crowding)))
        if crowding[leaves] - crowding[enters] <= task.arity:
            break
        chosen[leaves], chosen[enters] = False, True
        for d, v in zip(excess, values, strict=True):
            d[v[leaves]] -= 1
            d[v[enters]] += 1
    if task.arity == 2 and max(abs(d).max() for d in excess) > 1 - 1e-9:
        chosen = _rounded(values, task.sizes, count, bits)
    return order[chosen]


def _rounded(
    values: tuple[np.ndarray, ...], sizes: tuple[int, ...], count: int, bits: np.random.PCG64
) -> Bool[np.ndarray, "input"]:
    """A choice of `count` pairs in which every row and every column has its share, rounded up or down.

    The choice of least random cost, by linear programming: the constraints are a network's, so that its solution is
    whole, and the costs differ, so that it is unique.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, vstack

    pairs = np.arange(len(values[0]))
    ones = np.ones(len(pairs))
    sums = vstack(
        [coo_array((ones, (v, pairs)), shape=(size, len(pairs))) for v, size in zip(values, sizes, strict=True)]
    )
    share = sums.sum(axis=1) * count / len(pairs)
    found = linprog(
        _random_bits(pairs.shape, bits) / 2.0**64,
        A_ub=vstack([sums, -sums]),
        b_ub=np.concatenate([np.ceil(share - 1e-9), -np.floor(share + 1e-9)]),
        A_eq=ones[None],
        b_eq=[count],
        bounds=(0, 1),
        method="highs-ds",
    )
    return np.asarray(found.x > 0.5)


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


def _answers(task: Task, count: int, bits: np.random.PCG64) -> Int[np.ndarray, "count"]:
    """Answers in a random order, inputs in a random order within each; then every (size / count)-th input is taken."""
    size = len(task.present)
    rank_of_answer = _shuffled(task.answers, bits)
    order = np.lexsort((_random_bits((size,), bits), rank_of_answer[task.table.reshape(-1)[task.present]]))
    taken = np.arange(size + 1) * count // size
    return order[np.diff(taken) == 1]


def _lines(task: Task, count: int, bits: np.random.PCG64) -> Int[np.ndarray, "count"]:
    """Lines in a random order, inputs in a random order within each; the last line may be cut."""
    p = max(task.sizes)
    units = [g for g in range(1, p + 1) if math.gcd(g, p) == 1]
    slopes = [g for g in units if g % p not in (1, p - 1)] or units
    chances = _random_bits((task.arity,), bits) % np.uint64(len(slopes))
    factors = [1, *(slopes[int(i)] for i in chances[1:])]
    values = np.unravel_index(task.present, task.sizes)
    line = sum(g * v for g, v in zip(factors, values, strict=True)) % p
    return np.lexsort((_random_bits((len(task.present),), bits), _shuffled(p, bits)[line]))[:count]


def _expander(task: Task, count: int, bits: np.random.PCG64) -> Int[np.ndarray, "count"]:
    """In rounds: the inputs that close the fewest rectangles with those of the rounds before, at random among equals.
    Rows are the values of the first variable, columns all combinations of the others."""
    table = np.zeros((task.sizes[0], math.prod(task.sizes[1:])))
    flat = table.reshape(-1)
    for size in np.diff(np.arange(ROUNDS + 1) * count // ROUNDS).tolist():
        # A pair closes as many rectangles as there are paths of three edges from its row to its column.
        closed = table @ (table.T @ table) if table.shape[1] < table.shape[0] else (table @ table.T) @ table
        closed[table > 0] = np.inf
        flat[task.present[_least(closed.reshape(-1)[task.present], _random_bits(task.present.shape, bits), size)]] = 1
    return np.flatnonzero(flat[task.present])


def _least(values: Float[np.ndarray, "n"], ranks: UInt64[np.ndarray, "n"], count: int) -> Int[np.ndarray, "count"]:
    """The places of the least values, of the least ranks among equal ones, in any order."""
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    last = np.partition(values, count - 1)[count - 1]
    below, equal = np.flatnonzero(values < last), np.flatnonzero(values == last)
    return np.concatenate([below, equal[np.argsort(ranks[equal], kind="stable")[: count - len(below)]]])


def _shuffled(length: int, bits: np.random.PCG64) -> Int[np.ndarray, "length"]:
    return np.argsort(_random_bits((length,), bits), kind="stable")


def _random_bits(shape: tuple[int, ...], bits: np.random.PCG64) -> UInt64[np.ndarray, "..."]:
    """The generator's raw stream, which NumPy keeps the same in all its versions."""
    return bits.random_raw(shape)


_CHOICES: dict[str, Callable[[Task, int, np.random.PCG64], np.ndarray]] = {
    "random": _random,
    "balanced": _balanced,
    "answers": _answers,
    "lines": _lines,
    "expander": _expander,
}
SAMPLINGS = tuple(_CHOICES)
