r"""Cosets of a group's subgroups: how far functions are theirs, as Stander et al. (2023) find for ReLU on S5 and S6,
how near vectors lie within them, how far outputs move along with each factor, as Wu et al. (2024) find, and tables in
their order. And which representations a network has learned.

Vectors $u_g$, one for each element, fall into parts that the group does not mix, one for each irreducible
representation ρ. Their shares of $\sum_g |u_g|^2$ say how near cosets lie: where $|u_g| = 1$, the mean of
$u_x · u_{xh}$ over x and over the conjugates of h is $\sum_ρ \mathrm{share}_ρ χ_ρ(h) / d_ρ$.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from modgrok.networks import Network, as_numpy, output_blocks
from modgrok.shapes import Bool, Float, Int
from modgrok.tasks.basis import Representation
from modgrok.tasks.basis.group import Cayley, classes, generated, identity


def subgroups(table: Cayley) -> list[Bool[np.ndarray, "x"]]:
    """All proper subgroups of two generators or fewer but the trivial one, largest first."""
    order, start = len(table), identity(table)
    cyclic = {generated(table, [start, g]).tobytes(): g for g in range(order)}
    found = {generated(table, [start, g, h]).tobytes() for g in cyclic.values() for h in range(order)}
    members = [np.frombuffer(one, bool) for one in found]
    return sorted((one for one in members if 1 < one.sum() < order), key=lambda one: (-one.sum(), one.tobytes()))


class CosetOrder(NamedTuple):
    """The elements of a group in the order of the cosets of a subgroup H: its left cosets xH, then its right cosets Hx,
    H itself first. In a table with the former as rows and the latter as columns every block has |H| answers."""

    orders: tuple[Int[np.ndarray, "x"], Int[np.ndarray, "x"]]
    subgroup: Cayley
    """The products in H."""


def coset_order(table: Cayley) -> CosetOrder | None:
    """Cosets of a largest normal subgroup, inside which the same is done again; of a largest cyclic one where no normal
    one is proper. None where there is no proper subgroup but the trivial one."""
    members = _normal_subgroup(table)
    if members is None:
        cyclic = [np.flatnonzero(generated(table, [g])) for g in range(len(table))]
        members = max((one for one in cyclic if len(one) < len(table)), key=len)
    if len(members) == 1:
        return None
    subgroup = np.searchsorted(members, table[np.ix_(members, members)])  # its elements numbered in their order
    inner = coset_order(subgroup) if _normal_subgroup(subgroup) is not None else None
    orders = []
    for side, cosets in enumerate((table[:, members], table[members].T)):
        ordered = members if inner is None else members[inner.orders[side]]
        starts = [identity(table), *sorted(set(cosets.min(axis=1).tolist()) - {int(members.min())})]
        orders.append(np.concatenate([(table[x, ordered], table[ordered, x])[side] for x in starts]))
    return CosetOrder((orders[0], orders[1]), subgroup)


def _normal_subgroup(table: Cayley) -> Int[np.ndarray, "h"] | None:
    """A proper normal subgroup that no other contains: from the largest that one conjugacy class generates on, classes
    are added while it stays proper."""
    each, best = classes(table), np.array([identity(table)])
    chosen: list[int] = []
    for x in sorted(set(each.tolist()), key=lambda x: -int(generated(table, np.flatnonzero(each == x).tolist()).sum())):
        found = np.flatnonzero(generated(table, [*chosen, *np.flatnonzero(each == x).tolist()]))
        if len(best) < len(found) < len(table):
            best, chosen = found, found.tolist()
    return best if chosen else None


def coset_share(functions: Float[np.ndarray, "n x"], table: Cayley) -> Float[np.ndarray, "n"]:
    r"""The largest share of each function's variance that some subgroup's cosets, left or right, explain:
    $\max_H\|P_Hu\|^2/\|u\|^2$ with u less its mean and $P_H$ the average over every coset."""
    centered = functions - functions.mean(axis=1, keepdims=True)
    total = np.square(centered).sum(axis=1)
    best = np.zeros(len(functions))
    for members in subgroups(table):
        for labels in cosets(table, np.flatnonzero(members)).values():
            sizes = np.bincount(labels)
            sums = centered @ np.eye(len(sizes))[labels]
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


def equivariant_share(network: Network, table: Cayley) -> float:
    r"""Share of the outputs' variance that depends on $x^{-1}qy^{-1}$ alone, over all x, y and answers q: 1 where
    multiplying x from the left or y from the right moves the outputs along, $f_{gqh}(gx, yh) = f_q(x, y)$."""
    order = len(table)
    outputs = np.concatenate([np.asarray(out) for out in output_blocks(as_numpy(network, np.float64))])
    outputs = (outputs - outputs.mean()).reshape(order, order, order)
    moved = table[table[:, None, :], np.arange(order)[None, :, None]]  # x g y at [x, y, g]
    means = np.take_along_axis(outputs, moved, axis=2).mean(axis=(0, 1))
    return float(order**2 * np.square(means).sum() / np.square(outputs).sum())


def shares(vectors: Float[np.ndarray, "g d"], parts: Sequence[Representation]) -> Float[np.ndarray, "part"]:
    """How much of the vectors, each of length 1, lies in each part."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    power = [one.dimension * np.square(one.coefficients.T @ unit).sum() for one in parts]
    return np.array(power) / len(unit) ** 2


def predicted_ratio(
    share: Float[np.ndarray, "part"], parts: Sequence[Representation], table: Cayley, subgroup: Int[np.ndarray, "h"]
) -> float:
    """What `within_over_all` is for cosets of a subgroup, from the shares alone."""
    others = subgroup[subgroup != identity(table)]
    characters = np.array([part.character / part.dimension for part in parts])  # (part, g)
    within = 1 - share @ characters[:, others].mean(axis=1)
    every = 1 - (share @ characters.sum(axis=1) - share.sum()) / (len(table) - 1)
    return float(within / every)
