r"""Which representations of a group a network has learned.

Vectors $u_g$, one for each element, fall into parts that the group does not mix, one for each irreducible
representation ρ. Their shares of $\sum_g |u_g|^2$ say how near cosets lie: where $|u_g| = 1$, the mean of
$u_x · u_{xh}$ over x and over the conjugates of h is $\sum_ρ \mathrm{share}_ρ χ_ρ(h) / d_ρ$.
"""

from collections.abc import Sequence

import numpy as np

from modgrok.shapes import Float, Int
from modgrok.tasks.basis import Representation
from modgrok.tasks.basis.group import Cayley, identity


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
