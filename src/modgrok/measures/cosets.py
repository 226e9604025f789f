"""Cosets of a group's subgroups: how far functions are theirs, as Stander et al. (2023) find for ReLU on S5 and S6, and
how near vectors lie within them."""

from collections.abc import Iterator

import numpy as np

from modgrok.shapes import Bool, Float, Int
from modgrok.tasks.basis.group import Cayley, generated, identity


def subgroups(table: Cayley) -> list[Bool[np.ndarray, "x"]]:
    """All proper subgroups of two generators or fewer but the trivial one, largest first."""
    order, start = len(table), identity(table)
    cyclic = {generated(table, [start, g]).tobytes(): g for g in range(order)}
    found = {generated(table, [start, g, h]).tobytes() for g in cyclic.values() for h in range(order)}
    members = [np.frombuffer(one, bool) for one in found]
    return sorted((one for one in members if 1 < one.sum() < order), key=lambda one: (-one.sum(), one.tobytes()))


def coset_share(functions: Float[np.ndarray, "n x"], table: Cayley) -> Float[np.ndarray, "n"]:
    r"""The largest share of each function's variance that some subgroup's cosets, left or right, explain:
    $\max_H\|P_Hu\|^2/\|u\|^2$ with u less its mean and $P_H$ the average over every coset."""
    centered = functions - functions.mean(axis=1, keepdims=True)
    total = np.square(centered).sum(axis=1)
    best = np.zeros(len(functions))
    for labels in _partitions(table):
        sizes = np.bincount(labels)
        sums = np.stack([np.bincount(labels, one) for one in centered]) if len(centered) else np.zeros((0, len(sizes)))
        best = np.maximum(best, (np.square(sums) / sizes).sum(axis=1))
    return np.divide(best, total, out=np.full(len(best), np.nan), where=total > 0)


def cosets(table: Cayley, subgroup: Int[np.ndarray, "h"]) -> dict[str, Int[np.ndarray, "x"]]:
    """The number of every element's coset: x H on the `left`, H x on the `right`."""
    sides = {"left": table[:, subgroup], "right": table[subgroup].T}
    return {side: np.unique(members.min(axis=1), return_inverse=True)[1] for side, members in sides.items()}


def within_over_all(vectors: Float[np.ndarray, "x d"], labels: Int[np.ndarray, "x"]) -> float:
    """Mean cosine distance of pairs with one label in units of that of all pairs."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    distance = 1 - unit @ unit.T
    pairs = ~np.eye(len(unit), dtype=bool)
    return float(distance[(labels[:, None] == labels) & pairs].mean() / distance[pairs].mean())


def _partitions(table: Cayley) -> Iterator[Int[np.ndarray, "x"]]:
    """The coset of every element, for the left and the right cosets of each subgroup."""
    for members in subgroups(table):
        yield from cosets(table, np.flatnonzero(members)).values()
