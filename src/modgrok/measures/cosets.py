"""How far the blocks of neurons are functions of cosets, as Stander et al. (2023) find for ReLU on S5 and S6."""

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


def _partitions(table: Cayley) -> Iterator[Int[np.ndarray, "x"]]:
    """The coset of every element, for the left and the right cosets of each subgroup."""
    for members in subgroups(table):
        inside = np.flatnonzero(members)
        for cosets in (table[:, inside], table[inside].T):
            yield np.unique(cosets.min(axis=1), return_inverse=True)[1]
