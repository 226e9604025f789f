r"""Parallelograms of embeddings (Liu et al. 2022): sums that agree, $i + j = m + n$, seen as vectors that agree,
$E_i + E_j = E_m + E_n$. Where all hold, the embedding is linear and addition is known for every pair.

What a training set of sums says of the embedding before anything is trained:
Every parallelogram of the training set is a row $e_i + e_j - e_m - e_n$ of a matrix A. Embeddings in the kernel of A
satisfy all; it always holds $E_k = a + b k$, and where it holds nothing else the set forces the linear embedding. The
effective loss $\ell_0 / Z_0$, $\ell_0 = \frac{1}{|P|} |A E|^2$, $Z_0 = |E|^2$, flows there at the rate $\lambda_3$, the
third smallest eigenvalue of $\frac{2}{|P|} A^T A$.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from modgrok.arrays import namespace
from modgrok.shapes import Bool, Float, Int

NUMBERS = 10
"""Of the toy, whose training sets these are."""
CLOSE = 0.01
"""Below this mean square over dimensions of a standardized embedding, a parallelogram counts as realized."""
NULL = 1e-8
"""Eigenvalues below count as zero."""
Pairs = Sequence[tuple[int, int]]


def unordered_pairs(numbers: int) -> list[tuple[int, int]]:
    """All i ≤ j below `numbers`, row by row."""
    return [(i, j) for i in range(numbers) for j in range(i, numbers)]


def parallelograms(pairs: Pairs) -> Int[np.ndarray, "parallelogram 4"]:
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


def rows(shapes: Int[np.ndarray, "parallelogram 4"], numbers: int) -> Float[np.ndarray, "parallelogram number"]:
    """The matrix A."""
    one = np.eye(numbers)
    i, j, m, n = shapes.T
    return one[i] + one[j] - one[m] - one[n]


def _eigenvalues(pairs: Pairs) -> Float[np.ndarray, "number"]:
    matrix = rows(parallelograms(pairs), NUMBERS)
    return np.linalg.eigvalsh(2 / max(1, len(matrix)) * matrix.T @ matrix)


def degrees_of_freedom(pairs: Pairs) -> int:
    """Dimension of the kernel; 2 where the linear embedding is the only one."""
    return int((_eigenvalues(pairs) < NULL).sum())


def grokking_rate(pairs: Pairs) -> float:
    """λ3; 6/7 for all pairs of ten numbers, 0 where other embeddings than the linear one are left."""
    return float(max(_eigenvalues(pairs)[2], 0.0))


def predicted_accuracy(embedding: Float[np.ndarray, "number d"], pairs: Pairs) -> float:
    """The share of all pairs that are trained on, or form a realized parallelogram with one that is."""
    shapes = parallelograms(unordered_pairs(len(embedding)))
    return _answered(pairs, shapes[np.asarray(realized(embedding, shapes))], len(embedding))


def best_accuracy(pairs: Pairs) -> float:
    """The same for an embedding that realizes what the training set forces and nothing else: a parallelogram is forced
    where its row lies in the span of A."""
    matrix = rows(parallelograms(pairs), NUMBERS)
    _, singular, directions = np.linalg.svd(np.vstack([matrix, np.zeros(NUMBERS)]))
    free = directions[np.count_nonzero(singular > np.sqrt(NULL)) :]
    shapes = parallelograms(unordered_pairs(NUMBERS))
    return _answered(pairs, shapes[(np.abs(rows(shapes, NUMBERS) @ free.T) < 1e-6).all(axis=1)], NUMBERS)


def _answered(pairs: Pairs, shapes: Int[np.ndarray, "parallelogram 4"], numbers: int) -> float:
    known = set(pairs)
    implied = {pair for i, j, m, n in shapes.tolist() if {(i, j), (m, n)} & known for pair in ((i, j), (m, n))}
    return len(known | implied) / len(unordered_pairs(numbers))


def draw_pairs(count: int, rng: np.random.Generator) -> Pairs:
    """A random training set."""
    everything = unordered_pairs(NUMBERS)
    return [everything[k] for k in rng.choice(len(everything), count, replace=False)]
