r"""Waves on the cyclic group Z_L of a coordinate: frequencies, angles at the inputs, and the way to answers.

The $\delta$-function of the group is a sum of waves with known coefficients,

$$\delta_L(x) = \sum_{k=0}^{\lfloor L/2 \rfloor} c_k \cos(2\pi k x/L), \qquad
c_0 = c_{L/2} = 1/L, \quad c_k = 2/L \text{ otherwise.}$$

A readout $R_r$ over the group becomes one over the answers $q = F(r)$. The paper replaces q by $F^{-1}(q)$
(`eq_solfF2`), one branch where F is not invertible. Since the output layer is linear, adding the rows of all preimages,
$W^{(2)}_q = \sum_{r: F(r)=q} R_r$, answers every input. Elements that no input reaches are nobody's preimage, and an
answer without preimage has a row of zeros.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.shapes import Bool, Float, Inexact, Int
from modgrok.tasks.basis import Basis

Branches = Literal["all", "one"]


def independent_frequencies(length: int) -> Int[np.ndarray, "k"]:
    """1 … ⌊L/2⌋: the waves k and L−k are the same, and k = 0 is constant. The trivial group has only k = 0."""
    return np.arange(1, length // 2 + 1) if length > 1 else np.zeros(1, dtype=np.int64)


def chosen_frequencies(length: int, frequencies: Sequence[int] | None) -> Int[np.ndarray, "k"]:
    """The frequencies asked for, each once and in the order given; all independent ones if None."""
    independent = independent_frequencies(length)
    if frequencies is None:
        return independent
    outside = [k for k in frequencies if k not in independent]
    if outside or not len(frequencies):
        came = f"{', '.join(map(str, outside))} is not among them" if outside else "none was given"
        raise ModgrokError(
            f"The independent frequencies of this task are {independent[0]} to {independent[-1]}, "
            f"and {came}; name at least one of these."
        )
    return np.array(list(dict.fromkeys(int(k) for k in frequencies)), dtype=np.int64)


def coefficients(length: int, frequencies: Int[np.ndarray, "k"]) -> Float[np.ndarray, "k"]:
    r"""$c_k$ of the $\delta$-function of Z_L."""
    alone = (2 * frequencies) % length == 0
    return np.where(alone, 1.0, 2.0) / length


def input_angles(coordinate: Basis, frequencies: Int[np.ndarray, "N"]) -> Float[np.ndarray, "N S p"]:
    r"""$2\pi k_i\,\mathrm{index}_s(n)/L$ for every neuron, variable and value."""
    index = np.stack(coordinate.index)
    # The product is reduced in integers first: cos of a large angle would lose digits.
    return 2 * np.pi / coordinate.length * (frequencies[:, None, None] * index % coordinate.length)


def group_angles(length: int, frequencies: Int[np.ndarray, "N"]) -> Float[np.ndarray, "L N"]:
    r"""$2\pi k_i r/L$ for every element r of the group and every neuron."""
    return 2 * np.pi / length * (np.arange(length)[:, None] * frequencies % length)


def placed(coordinate: Basis) -> Float[np.ndarray, "S p"]:
    """1 where a value of a variable has a place in the group, 0 where it has none (the logarithm of zero)."""
    return (np.stack(coordinate.index) >= 0).astype(np.float64)


def inputs_at(coordinate: Basis) -> Float[np.ndarray, "L"]:
    r"""How many inputs, all of whose values have a place, sit at each element of the group."""
    if coordinate.product is not None:
        reached = coordinate.product[coordinate.index[0][:, None], coordinate.index[1]]
        return np.bincount(reached.reshape(-1), minlength=coordinate.length).astype(np.float64)
    counts = np.zeros(coordinate.length)
    counts[0] = 1
    for index in coordinate.index:
        values = np.bincount(index[index >= 0], minlength=coordinate.length)
        counts = sum((values[x] * np.roll(counts, x) for x in np.flatnonzero(values)), np.zeros(coordinate.length))
    return counts


def preimages(coordinate: Basis, branches: Branches) -> Bool[np.ndarray, "L"]:
    """Elements that are read out: those that some input reaches; with `one` the smallest of each answer."""
    reached = inputs_at(coordinate) > 0
    if branches == "one":
        elements = np.flatnonzero(reached)
        _, first = np.unique(coordinate.readout[elements], return_index=True)
        reached = np.isin(np.arange(coordinate.length), elements[first])
    return reached


def onto_answers(
    coordinate: Basis, group_readout: Inexact[np.ndarray, "L *neurons"], branches: Branches
) -> Inexact[np.ndarray, "p *neurons"]:
    """Rows for the p answers from rows for the L group elements."""
    elements = preimages(coordinate, branches)
    rows = np.zeros((len(coordinate.index[0]), *group_readout.shape[1:]), dtype=group_readout.dtype)
    np.add.at(rows, coordinate.readout[elements], group_readout[elements])
    return rows
