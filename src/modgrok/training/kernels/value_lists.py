"""The order in which quadratic.cu takes the examples of two variables: two by two for the residuals, value by value for
the gradients."""

from typing import Any, NamedTuple

import numpy as np

from modgrok.shapes import Int32, Integer, UInt16
from modgrok.training.kernels.pallas_tools import round_up
from modgrok.training.kernels.windows import NOBODY

CHUNK = 64
"""Neurons that are copied into shared memory at a time."""
SLOTS = 64
"""Examples of a list."""
SLOT_OF = np.array([0, 1, 8, 9])
"""Of 16 slots, those that one thread reads, from twice its number in the row on."""


class Lists(NamedTuple):
    """Which examples are multiplied when; offsets are those in shared memory."""

    pairs: Int32[Any, "pair 4"]
    """Offset of the first variable's columns, those of the second's in two halves, and two labels: neighbors share the
    first value, so that its columns are read once."""
    used: Int32[Any, "1"]
    """Number of tiles of 32 pairs."""
    firsts: Int32[Any, "value"]
    """Where the lists of each value begin, those of the second variable after those of the first, and the end."""
    sources: Int32[Any, "list slot"]
    """Where the residuals of its examples begin."""
    others: UInt16[Any, "list entry"]
    """Where the columns of their other variable lie, in the order in which threads read them; then the number of
    groups of 16 slots in use, the value, 1 for its first list plus 2 for its last, and the value of the next list."""


def tiles_for(rows: int, size: int) -> int:
    """A pair for each value may be half empty."""
    return -(-(rows + size) // 64)


def lists_for(inputs: Integer[np.ndarray, "example 2"], size: int) -> int:
    """One for each value at least; coarse, so that many training sets share a compilation."""
    counts = [np.bincount(values, minlength=size) for values in inputs.T]
    return round_up(sum(int(np.maximum(1, -(-count // SLOTS)).sum()) for count in counts), 32)


def lists_of(
    inputs: Integer[np.ndarray, "example 2"],
    labels: Integer[np.ndarray, "example"],
    size: int,
    tiles: int,
    lists: int,
    pitch: int,
) -> Lists:
    """Examples in the order of their first value, two by two; threads that read at once read different banks. For
    variables of `size` values, arrays of so many tiles and lists, and residuals in rows of `pitch` numbers."""
    count = len(inputs)
    first, second = inputs[:, 0].astype(np.int64), size + inputs[:, 1].astype(np.int64)
    half = second // 2 % 2
    order = np.lexsort((half, _rank(first, half) // 2, first))
    of_first = np.bincount(first, minlength=size)
    within = np.empty(count, np.int64)
    within[order] = np.arange(count) - np.repeat(np.cumsum(of_first) - of_first, of_first)
    paired = of_first + of_first % 2
    at = (np.cumsum(paired) - paired)[first] + within
    pairs = np.full((32 * tiles, 4), NOBODY, np.int32)
    pairs[:, 0] = _offset(first.max() if count else np.int64(0))
    pairs[at // 2, 0] = _offset(first)
    seconds = np.full((32 * tiles, 2), _offset(np.int64(size)), np.int64)
    seconds[at // 2, at % 2] = _offset(second)
    pairs[:, 1] = (seconds[:, 0] | seconds[:, 1] << 16).astype(np.uint32).view(np.int32)
    pairs[at // 2, 2 + at % 2] = labels
    rows = at // 16 * 16 + at // 2 % 8 + at % 2 * 8
    firsts, sources, others = _by_value(np.concatenate([first, second]), np.concatenate([second, first]), size, lists)
    starts = np.append(rows, [64 * tiles]) * pitch * 2
    sources = np.where(sources < 0, count, sources % max(1, count))
    used = np.array([-(-int(paired.sum()) // 64)], np.int32)
    return Lists(pairs, used, firsts, starts[sources].astype(np.int32), others)


def _by_value(
    values: Integer[np.ndarray, "entry"], others: Integer[np.ndarray, "entry"], size: int, lists: int
) -> tuple[Any, Any, Any]:
    """Where the lists of each value begin, their entries, and `Lists.others`. Slots that threads read at once get
    values of different banks, as far as there are such."""
    counts = np.bincount(values, minlength=2 * size)
    of_value = np.maximum(1, -(-counts // SLOTS))
    firsts = np.append(0, np.cumsum(of_value))
    value_of = np.repeat(np.arange(2 * size), of_value)
    # A value's examples are dealt to its lists in turn, bank by bank.
    bank = others & 3
    order = np.lexsort((bank, values))
    dealt = np.empty(len(values), np.int64)
    dealt[order] = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = firsts[values] + dealt % of_value[values]
    steps = np.maximum(1, -(-np.bincount(at, minlength=len(value_of)) // 16))
    rank = _rank(at, bank)
    slot = rank // 4 * 16 + SLOT_OF[rank % 4] + 2 * bank
    late = rank >= 4 * steps[at]
    taken = np.arange(SLOTS)[None, :] >= 16 * steps[:, None]
    taken[at[~late], slot[~late]] = True
    free = np.argsort(taken, axis=1, kind="stable")
    slot[late] = free[at[late], _rank(at[late])]
    sources = np.full((lists, SLOTS), -1, np.int64)
    sources[at, slot] = np.arange(len(values))
    start = np.where(value_of < size, size, 0)[:, None]
    # Rows of no example, in the slot's own bank.
    rows = np.minimum(start + (np.arange(SLOTS)[None, :] % 8 // 2 - start) % 4, start + size - 1)
    rows[at, slot] = others
    in_order = np.arange(0, SLOTS, 16)[:, None, None] + 2 * np.arange(4)[None, :, None] + SLOT_OF[None, None, :]
    entries, used = np.zeros((lists, SLOTS + 8), np.uint16), len(value_of)
    entries[:used, :SLOTS] = (_offset(rows) >> 5)[:, in_order.ravel()]
    numbers = np.arange(used)
    first_or_last = (firsts[value_of] == numbers) + 2 * (firsts[value_of + 1] == numbers + 1)
    after = np.append(value_of[1:], 0)
    entries[:used, SLOTS : SLOTS + 4] = np.stack([steps, value_of, first_or_last, after], axis=1)
    return firsts.astype(np.int32), sources, entries


def _offset(row: Any) -> Any:
    """Where a value's columns begin in shared memory: pieces of 32 bytes change places with the value."""
    return row * (4 * CHUNK) + ((row & 3) << 5)


def _rank(*keys: Any) -> Any:
    """The number of every entry among those of equal keys."""
    order = np.lexsort(keys[::-1])
    ordered = np.stack([key[order] for key in keys])
    new = np.append(True, (np.diff(ordered, axis=1) != 0).any(axis=0))[: len(order)]
    starts = np.flatnonzero(new)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return ranks
