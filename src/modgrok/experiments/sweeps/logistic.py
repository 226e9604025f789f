r"""The probability of success against the training fraction, $P(\alpha) = 1 / (1 + e^{-(\alpha - \alpha_c)/w})$."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from modgrok.shapes import Float
from modgrok.text import Value

CONFIDENCE = 0.95
CHI_SQUARED = 3.841
"""The 95th percentile of χ² with one degree of freedom."""
GRID = 5e-4
"""Distance between the values of α_c that are compared."""


@dataclass(frozen=True)
class Transition:
    """Where runs begin to succeed.

    Where no run succeeded α_c is not known, only that it lies above `low`, the largest fraction tried; where none
    failed it lies below `high`, the smallest. So it does where the fit lies outside the fractions tried.
    """

    critical: float | None
    """α_c, at which half of the runs succeed: the most likely value, or the middle of the most likely ones."""
    low: float | None
    """Lower end of the 95 % interval of α_c."""
    high: float | None
    """Its upper end."""
    width: float | None
    """w: from α_c to α_c + 2.2 w the probability rises from 1/2 to 9/10."""

    def __str__(self) -> str:
        if self.critical is not None:
            return f"{self.critical:.3f} [{self.low:.3f}, {self.high:.3f}]"
        return f"above {self.low:g}" if self.high is None else f"below {self.high:g}"

    def probability(self, fraction: Float[np.ndarray, "x"]) -> Float[np.ndarray, "x"]:
        """P(α)."""
        assert self.critical is not None
        assert self.width is not None
        return 1 / (1 + np.exp(-np.clip((fraction - self.critical) / self.width, -50, 50)))


def transition_within(times: Mapping[float, Sequence[Value]], budget: int) -> Transition:
    """α_c(T) from the grokking times at each fraction (None for a run that did not grok): a run that groks at step t
    groks within T steps where t ≤ T."""
    counts = {a: (sum(t is not None and t <= budget for t in cell), len(cell)) for a, cell in times.items()}
    return fit_transition(counts, min((b - a for a, b in pairwise(sorted(counts))), default=0.01))


def fit_transition(counts: Mapping[float, tuple[int, int]], resolution: float) -> Transition:
    r"""The transition from successes and trials at each fraction, by maximum likelihood.

    The interval is that of the profile likelihood: all $\alpha_c$ with $2(\ell_{max} - \max_w \ell(\alpha_c, w))$
    below the 95th percentile of χ². Unlike one from curvatures it remains right where successes and failures separate
    completely: it then reaches from about the last failure to the first success. Widths are at least a tenth of the
    resolution of the fractions, below which the data say nothing.
    """
    fractions = np.array(sorted(counts))
    successes, trials = np.array([counts[x] for x in fractions], float).T
    if not successes.any():
        return Transition(None, float(fractions[-1]), None, None)
    if (successes == trials).all():
        return Transition(None, None, float(fractions[0]), None)
    centers = np.arange(GRID, 1, GRID)
    widths = np.geomspace(resolution / 10, 0.3, 120)
    signs = (fractions[None, :] - centers[:, None])[:, :, None]
    likelihood = np.full((len(centers), len(widths)), -math.inf)
    for i, width in enumerate(widths):
        x = signs[:, :, 0] / width
        # log P = −log(1 + e^{−x}), log(1 − P) = −log(1 + e^{x})
        likelihood[:, i] = -np.logaddexp(0, -x) @ successes - np.logaddexp(0, x) @ (trials - successes)
    profile = likelihood.max(axis=1)
    best = profile.max()
    critical = float(centers[profile >= best - 1e-3].mean())
    if not fractions[0] <= critical <= fractions[-1]:
        below = critical < fractions[0]
        return Transition(None, None if below else float(fractions[-1]), float(fractions[0]) if below else None, None)
    inside = centers[2 * (best - profile) <= CHI_SQUARED]
    width = float(widths[likelihood[np.argmin(abs(centers - critical))].argmax()])
    return Transition(round(critical, 5), float(inside.min()), float(inside.max()), width)
