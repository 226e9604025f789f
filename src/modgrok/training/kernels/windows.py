"""Training examples in tiles that agree in all variables up to a few values, for kernels that look up and sum through
one-hot matrices: their columns are a window of the values of each variable."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from modgrok.shapes import Float16, Int32, Integer

ROWS = 128
"""The rows of a tile of examples."""
NOBODY = -1
"""The label of a row that is not used."""
WIDTHS = (32, 64, 128, 256)
"""Widths that a one-hot matrix may have."""


@dataclass(frozen=True)
class Windows:
    """The columns of the one-hot matrix: a window of the values of each variable."""

    variables: int
    size: int
    """Number of values of a variable."""
    width: int
    """Number of columns."""

    @classmethod
    def for_density(cls, sizes: tuple[int, ...], density: float) -> "Windows | None":
        """The narrowest whose windows nearly fill a tile, if a share `density` of the table of these sizes occurs; None
        if even the widest would leave most of it empty."""
        for width in (width for width in WIDTHS if width >= len(sizes)):
            found = cls(len(sizes), max(sizes), width)
            values = [min(length, size) for length, size in zip(found.lengths, sizes, strict=True)]
            holds = math.prod(values) * density
            if holds >= 0.75 * ROWS or tuple(values) == sizes:
                return found
        return found if len(sizes) <= WIDTHS[-1] and holds >= ROWS / 8 else None

    @property
    def lengths(self) -> tuple[int, ...]:
        """Number of values in the window of each variable."""
        blocks = -(-self.size // (self.width // self.variables))
        other = -(-self.size // blocks)
        return min(self.size, self.width - (self.variables - 1) * other), *(other,) * (self.variables - 1)

    def tiles(self, inputs: Integer[np.ndarray, "example S"]) -> "Tiles":
        """Examples in tiles: sorted by the block of the others' values, then by the first variable."""
        blocks = inputs[:, 1:] // np.array(self.lengths[1:], np.int32)
        order = np.lexsort((inputs[:, 0], *blocks.T))
        first, blocks = inputs[order, 0], blocks[order]
        borders = np.flatnonzero((np.diff(blocks, axis=0) != 0).any(axis=1)) + 1
        begins: list[int] = []
        for here in np.split(np.arange(len(order)), borders):
            begins += [int(here[0]) + cut for cut in self._cut(first[here])] if len(here) else []
        starts = np.array(begins, np.int64)
        others = blocks[starts] * np.array(self.lengths[1:], np.int32)
        return Tiles(order, starts, np.concatenate([first[starts, None], others], axis=1))

    def _cut(self, first: Integer[np.ndarray, "example"]) -> list[int]:
        """Where the tiles of examples begin whose first variable rises and keeps to a window."""
        begins, begin = [], 0
        while begin < len(first):
            begins.append(begin)
            begin = min(begin + ROWS, int(np.searchsorted(first, first[begin] + self.lengths[0])))
        return begins

    def rows(
        self, inputs: Integer[np.ndarray, "example S"], labels: Integer[np.ndarray, "example"], count: int
    ) -> "Rows":
        """Index arrays of `count` rows."""
        order, starts, bases = self.tiles(inputs)
        tile = np.searchsorted(starts, np.arange(len(order)), side="right") - 1
        at = tile * ROWS + np.arange(len(order)) - starts[tile]
        answers = np.full(count, NOBODY, np.int32)
        answers[at] = labels[order]
        one_hot = np.zeros((count, 2 * self.width), np.float16)
        for s, column in enumerate(self._first_columns):
            columns = column + inputs[order, s] - bases[tile, s]
            one_hot[at, columns] = one_hot[at, self.width + columns] = 1
        padded = np.zeros((self.variables, count // ROWS), np.int32)
        padded[:, : len(starts)] = bases.T
        return Rows(answers, one_hot, padded, np.array([len(starts)], np.int32))

    def in_table(self, bases: Any, column: Any) -> tuple[Any, Any]:
        """For each column its row in the table of all values, by variable, and whether there is one; columns from
        `width` on mean a second copy of the table."""
        second, column = column // self.width, column % self.width
        row, there = jnp.zeros_like(column), column < 0
        for s, (first, length) in enumerate(zip(self._first_columns, self.lengths, strict=True)):
            value = bases[s] + column - first
            own = (column >= first) & (column < first + length) & (value < self.size)
            row, there = jnp.where(own, s * self.size + value, row), there | own
        return row + second * self.variables * self.size, there

    @property
    def _first_columns(self) -> list[int]:
        return [sum(self.lengths[:s]) for s in range(self.variables)]


class Tiles(NamedTuple):
    """Examples in tiles of at most `ROWS`."""

    order: np.ndarray
    """Index of each example, tile after tile."""
    starts: np.ndarray
    """Where each tile begins."""
    bases: Integer[np.ndarray, "tile S"]
    """The first value of each variable's window."""


class Rows(NamedTuple):
    """The examples in the order in which the kernels take them."""

    labels: Int32[Any, "row"]
    """`NOBODY` in rows that are not used."""
    one_hot: Float16[Any, "row column"]
    bases: Int32[Any, "S tile"]
    """The first value of each variable's window."""
    used: Int32[Any, "1"]
    """Number of tiles in use."""
