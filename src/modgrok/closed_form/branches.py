r"""From group elements to answers: the readout over $r \in Z_L$ becomes a readout over $q = F(r)$.

The paper replaces q by $F^{-1}(q)$ (`eq_solfF2`), which is one branch where F is not invertible. Since the output layer
is linear, adding the rows of all preimages, $W^{(2)}_q = \sum_{r: F(r)=q} R_r$, answers every input.
Elements that no input reaches are nobody's preimage, and an answer without preimage has a row of zeros.
"""

from typing import Literal

import numpy as np
from jaxtyping import Bool, Inexact

from modgrok.tasks.structure.verdict import Coordinate

Branches = Literal["all", "one"]


def reached(coordinate: Coordinate) -> Bool[np.ndarray, "L"]:
    r"""Which elements of the group are $\sum_s \mathrm{index}_s(n_s)$ of some input."""
    reach = np.zeros(coordinate.length, dtype=bool)
    reach[0] = True
    for index in coordinate.index:
        before, reach = reach, np.zeros_like(reach)
        for step in np.unique(index[index >= 0]):
            reach |= np.roll(before, step)
    return reach


def onto_answers(
    coordinate: Coordinate, group_readout: Inexact[np.ndarray, "L *neurons"], modulus: int, branches: Branches
) -> Inexact[np.ndarray, "p *neurons"]:
    """Rows for the p answers from rows for the L group elements; `one` keeps the smallest preimage of each answer."""
    elements = np.flatnonzero(reached(coordinate))
    answers = coordinate.readout[elements]
    if branches == "one":
        answers, first = np.unique(answers, return_index=True)
        elements = elements[first]
    rows = np.zeros((modulus, *group_readout.shape[1:]), dtype=group_readout.dtype)
    np.add.at(rows, answers, group_readout[elements])
    return rows
