r"""Parallelograms of embeddings (Liu et al. 2022): sums that agree, $i + j = m + n$, seen as vectors that agree,
$E_i + E_j = E_m + E_n$. Where all hold, the embedding is linear and addition is known for every pair."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from modgrok.arrays import namespace
from modgrok.shapes import Bool, Float, Int

CLOSE = 0.01
"""Below this mean square over dimensions of a standardized embedding, a parallelogram counts as realized."""


def unordered_pairs(numbers: int) -> list[tuple[int, int]]:
    """All i ≤ j below `numbers`, row by row."""
    return [(i, j) for i in range(numbers) for j in range(i, numbers)]


def parallelograms(pairs: Sequence[tuple[int, int]]) -> Int[np.ndarray, "parallelogram 4"]:
    """Rows i, j, m, n: every two of the pairs that have the same sum."""
    found = [(*a, *b) for a, b in combinations(pairs, 2) if sum(a) == sum(b)]
    return np.array(found, dtype=np.int64).reshape(-1, 4)


def realized(
    embedding: Float[Any, "number d"], shapes: Int[np.ndarray, "parallelogram 4"]
) -> Bool[Any, "parallelogram"]:
    """Which of these parallelograms an embedding realizes, standardized in each dimension."""
    xp = namespace(embedding)
    spread = xp.sqrt(((embedding - embedding.mean(axis=0, keepdims=True)) ** 2).mean(axis=0, keepdims=True))
    unit = embedding / xp.where(spread > 0, spread, xp.ones_like(spread))
    i, j, m, n = shapes.T
    return ((unit[i] + unit[j] - unit[m] - unit[n]) ** 2).mean(axis=1) < CLOSE


def representation_quality(embedding: Float[Any, "number d"]) -> Float[Any, ""]:
    """RQI: the share of all parallelograms that an embedding realizes."""
    shapes = parallelograms(unordered_pairs(embedding.shape[0]))
    return realized(embedding, shapes).astype(embedding.dtype).mean()
