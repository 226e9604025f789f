"""Inverse participation ratio: how few frequencies a neuron lives on (paper, section 4)."""

from typing import Any, NamedTuple

from modgrok.arrays import namespace
from modgrok.measures.spectrum import DEAD, power_spectrum
from modgrok.shapes import Float, Integer


class AverageIPR(NamedTuple):
    """The ratio of a layer, and how many neurons had none."""

    mean: Float[Any, ""]
    """Mean over the neurons that have power; NaN only where none has."""
    dead: Integer[Any, ""]
    """Number of dead neurons, left out of the mean."""


def ipr(power: Float[Any, "N S L"], r: int = 2, times: Float[Any, "1 1 L"] | float = 1.0) -> Float[Any, "N"]:
    r"""$\mathrm{IPR}_r = \sum_\nu |\tilde w_\nu|^{2r}$ of every neuron, with $\sum_\nu |\tilde w_\nu|^2 = 1$.

    All S blocks and all L frequencies of the full transform are normalized together. For r = 2 and S = 2 one real wave
    in both blocks gives 1/4 (one half with `rfft`), noise about 1/p. A dead neuron has no ratio, NaN: its largest power
    is at most `DEAD` of that of all neurons, which is noise of weights that decayed. Where a frequency stands for
    several, `times` says for how many.
    """
    xp = namespace(power)
    # Relative to the largest power first, so that tiny weights do not underflow.
    largest = power.max(axis=(1, 2), keepdims=True)
    alive = largest > DEAD * largest.max()
    relative = power / xp.where(alive, largest, xp.ones_like(largest))
    total = xp.where(alive, (times * relative).sum(axis=(1, 2), keepdims=True), xp.full_like(largest, xp.nan))
    return (times * (relative / total) ** r).sum(axis=(1, 2))


def average_ipr(w_in: Any, coordinate: Any = None, r: int = 2) -> AverageIPR:
    """Mean IPR over the live neurons, and the number of dead ones. `weights` are input weights (N, S, p), a network or
    a run; the coordinate may be that of a task (default: the raw index)."""
    ratios = ipr(power_spectrum(w_in, coordinate), r)
    xp = namespace(ratios)
    dead = xp.isnan(ratios)
    total = xp.where(dead, xp.zeros_like(ratios), ratios).sum()
    alive = (~dead).sum().astype(ratios.dtype)
    mean = xp.where(alive > 0, total / xp.where(alive > 0, alive, xp.ones_like(alive)), xp.full_like(total, xp.nan))
    return AverageIPR(mean, dead.sum())
