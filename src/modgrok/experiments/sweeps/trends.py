"""What several critical fractions say together: how α_c falls with p, and what guided sampling gains."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from modgrok.experiments import Experiment
from modgrok.experiments.sweeps.critical import Critical
from modgrok.experiments.sweeps.logistic import CONFIDENCE, Transition

Z95 = 1.96
"""Half-width of a 95 % interval in standard deviations."""


@dataclass(frozen=True)
class PowerLaw:
    r"""$\alpha_c = c\,p^{-k}$, fitted to logarithms with the inverse squares of their standard errors as weights."""

    factor: float
    exponent: float
    """k, positive where α_c falls."""
    error: float
    """Half the 95 % interval of the exponent."""


@dataclass(frozen=True)
class Difference:
    """One α_c minus another, with its 95 % interval."""

    middle: float
    low: float
    high: float


def power_law(found: Iterable[Critical]) -> PowerLaw | None:
    """The law through estimates at three or more moduli; None for fewer."""
    known = [one for one in found if one.transition.critical is not None]
    if len({one.experiment.modulus for one in known}) < 3:
        return None
    p = np.array([one.experiment.modulus for one in known], float)
    alpha = np.array([one.transition.critical for one in known], float)
    errors = np.array([_half_width(one.transition) for one in known]) / alpha / Z95
    design = np.stack([np.ones_like(p), -np.log(p)], axis=1)
    weights = 1 / errors**2
    information = design.T @ (design * weights[:, None])
    covariance = np.linalg.inv(information)
    log_factor, exponent = covariance @ design.T @ (weights * np.log(alpha))
    residuals = (np.log(alpha) - design @ [log_factor, exponent]) / errors
    scatter = max(1.0, float((residuals**2).sum() / max(1, len(p) - 2)))  # points off the line widen the interval
    return PowerLaw(math.exp(log_factor), float(exponent), Z95 * math.sqrt(scatter * covariance[1, 1]))


def gains(found: Sequence[Critical]) -> list[tuple[Experiment, Difference]]:
    """Every guided sampling that was measured beside random sampling, and its α_c minus that one, all else equal."""
    random = {_place(one): one.transition for one in found if one.experiment.sampling == "random"}
    guided = [one for one in found if one.experiment.sampling != "random" and _place(one) in random]
    compared = [(one.experiment, difference(one.transition, random[_place(one)])) for one in guided]
    return [(e, gap) for e, gap in compared if gap is not None]


def difference(one: Transition, other: Transition) -> Difference | None:
    """The first α_c minus the second; None where one of them is not known."""
    if one.critical is None or other.critical is None:
        return None
    middle, half = one.critical - other.critical, math.hypot(_half_width(one), _half_width(other))
    return Difference(middle, middle - half, middle + half)


def clearly_below(one: Transition, other: Transition) -> bool:
    """Whether the first α_c is below the second beyond the 95 % interval of their difference; one that is only known to
    lie below or above all fractions tried counts by that bound."""
    if (gap := difference(one, other)) is not None:
        return gap.high < 0
    return one.high is not None and other.low is not None and one.high <= other.low


def describe(found: Sequence[Critical]) -> dict[str, Any]:
    """Everything measured, and what it says, as JSON values."""
    law = power_law(like_first(found))
    return {
        "confidence": CONFIDENCE,
        "critical": [one.as_dict() for one in found],
        "power_law": None if law is None else asdict(law),
        "gains": [
            {"sampling": e.sampling, "modulus": e.modulus, "difference": gap.middle, "low": gap.low, "high": gap.high}
            for e, gap in gains(found)
        ],
        "sentences": sentences(found),
    }


def sentences(found: Sequence[Critical]) -> list[str]:
    """The trends in words, with their intervals."""
    said = []
    plain = sorted(like_first(found), key=lambda one: one.experiment.modulus or 0)
    law = power_law(plain)
    if law is not None:
        known = [one for one in plain if one.transition.critical is not None]
        first, last = known[0], known[-1]
        verb = (
            "falls" if law.exponent > law.error else "rises" if -law.exponent > law.error else "does not clearly change"
        )
        said.append(
            f"α_c {verb} with p: {first} at p = {first.experiment.modulus}, {last} at p = {last.experiment.modulus}; "
            f"about p^({-law.exponent:.2f} ± {law.error:.2f})."
        )
    for e, gap in gains(found):
        verdict = (
            "needs less data" if gap.high < 0 else "needs more data" if gap.low > 0 else "makes no clear difference"
        )
        said.append(
            f"At p = {e.modulus} {e.sampling} sampling {verdict}: α_c changes by {gap.middle:+.3f} "
            f"[{gap.low:+.3f}, {gap.high:+.3f}] against random sampling."
        )
    return said


def like_first(found: Sequence[Critical]) -> list[Critical]:
    """Those of the first one's task and sampling."""
    first = found[0].experiment
    return [one for one in found if (one.experiment.task, one.experiment.sampling) == (first.task, first.sampling)]


def _place(one: Critical) -> tuple[str, int | None]:
    return one.experiment.task, one.experiment.modulus


def _half_width(one: Transition) -> float:
    assert one.low is not None
    assert one.high is not None
    return max((one.high - one.low) / 2, 1e-4)
