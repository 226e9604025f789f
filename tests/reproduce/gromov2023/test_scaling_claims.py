"""Claims about rates, times and critical fractions: numbers that make each hold, hold with a remark, and fail."""

from functools import cache
from typing import Any

import pytest

from modgrok.reproduce.gromov2023 import PAPER
from modgrok.reproduce.gromov2023.moduli import fit_laws
from modgrok.reproduce.gromov2023.times import summary
from modgrok.reproduce.gromov2023.transitions import transitions_of_budgets
from modgrok.reproduce.nested import Numbers

CLAIMS = {claim.name: claim for claim in PAPER.claims}
HOLDS, REMARK, FAILS, ABSENT = "holds", "holds with a remark", "does not hold here", "undecided here"
FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5)
SLOW = (None, None, 4000, 2000, 1500)
"""Times of plain GD; all others are as slow unless a case says otherwise."""
BUDGETS = (1000, 3000, 10_000)
NAMES = (
    "GD",
    "GD + weight decay",
    "momentum",
    "momentum + weight decay",
    "Adam",
    "AdamW",
    "GD + dropout",
    "GD + batch norm",
)


def outcome(name: str, study: str, numbers: Numbers) -> str:
    verdict = CLAIMS[name].verdict({study: numbers})
    assert verdict.sentence.endswith("."), verdict
    return verdict.outcome


def alike(medians: Any, seeds: int = 4) -> list[list[Any]]:
    return [[time] * seeds for time in medians]


@cache
def critical(medians: tuple[Any, ...]) -> list[dict[str, Any]]:
    return transitions_of_budgets(FRACTIONS, alike(medians), BUDGETS)


def race(effective: float = 3.0, **medians: tuple[Any, ...]) -> Numbers:
    """Numbers of the study of optimizers, with the median times of some; underscores stand for ` + `."""
    named = {name.replace("__", " + ").replace("_", " "): found for name, found in medians.items()}
    found = {name: named.get(name, SLOW) for name in NAMES}
    assert set(named) <= set(NAMES)
    return {
        "modulus": 97,
        "seeds": 4,
        "steps": BUDGETS[-1],
        "fractions": FRACTIONS,
        "settings": {name: [{"lr": 1.0}] * 9 for name in NAMES},
        "chosen": {name: [0] * len(FRACTIONS) for name in NAMES},
        "at_the_edge": dict.fromkeys(NAMES, 0) | {"AdamW": 1},
        "effective": [{"rate": 1.0, "GD": [None, 100.0], "momentum": [None, 100 / effective]}],
        "tuned_summary": {name: summary(alike(times)) for name, times in found.items()},
        "budgets": BUDGETS,
        "critical": {name: critical(times) for name, times in found.items()},
    }


FAST = (None, 900, 500, 300, 200)
EVEN = (None, 9000, 3900, 2500, 1600)
REGULARIZERS = ("GD__weight_decay", "GD__dropout", "GD__batch_norm", "momentum__weight_decay", "AdamW")


@pytest.mark.parametrize(
    ("claim", "numbers", "expected"),
    [
        ("momentum", race(momentum=FAST), HOLDS),
        ("momentum", race(momentum=FAST, effective=1.1), REMARK),
        ("momentum", race(momentum=(None, None, 3900, 1000, 800)), REMARK),
        ("momentum", race(momentum=(None, None, 3900, 1900, 1400)), FAILS),
        ("momentum", race(momentum=(None,) * 5), FAILS),
        ("momentum_fraction", race(momentum=FAST, GD=(None, None, None, 5000, 4000)), HOLDS),
        ("momentum_fraction", race(momentum=(None, 9000, 4000, 2000, 1500)), REMARK),
        ("momentum_fraction", race(momentum=(None, None, 300, 200, 100)), FAILS),
        ("adaptive_time", race(Adam=FAST, AdamW=FAST), HOLDS),
        ("adaptive_time", race(Adam=(None, None, 5000, 500, 300), AdamW=FAST), REMARK),
        ("adaptive_time", race(Adam=(None, None, 5000, 2500, 300), AdamW=FAST), FAILS),
        ("adaptive_fraction", race(Adam=FAST, GD=(None, None, None, 5000, 4000)), HOLDS),
        ("adaptive_fraction", race(Adam=(None, 9000, 4000, 2000, 1500)), REMARK),
        ("adaptive_fraction", race(Adam=(None, None, None, 200, 100), AdamW=FAST), FAILS),
        ("regularization_time", race(**dict.fromkeys(REGULARIZERS, FAST)), HOLDS),
        ("regularization_time", race(**dict.fromkeys(REGULARIZERS[:3], FAST)), REMARK),
        ("regularization_time", race(**dict.fromkeys(REGULARIZERS[:2], FAST)), FAILS),
        ("regularization_time", race(**dict.fromkeys(REGULARIZERS, EVEN)), FAILS),
        ("lower_fraction", race(**dict.fromkeys(REGULARIZERS, FAST)), HOLDS),
        ("lower_fraction", race(**dict.fromkeys(REGULARIZERS[1:4], FAST)), REMARK),
        ("lower_fraction", race(AdamW=FAST), FAILS),
        ("decay_in_adamw", race(AdamW=FAST), HOLDS),
        ("decay_in_adamw", race(AdamW=FAST, Adam=(90, 990, 990, 990, 990)), REMARK),
        ("decay_in_adamw", race(AdamW=EVEN), REMARK),
        ("decay_in_adamw", race(AdamW=SLOW, Adam=(90, 90, 90, 90, 90)), FAILS),
    ],
)
def test_optimizers(claim: str, numbers: Numbers, expected: str) -> None:
    assert outcome(claim, "tuning", numbers) == expected


LONG = ("GD", "Adam, rate 0.1", "AdamW, rate 0.1", "Adam, rate 1", "AdamW, rate 1")
STEEP = (None, None, 9500, 800, 500)
"""Grows toward the critical fraction, and is always there within the two smaller budgets at the same α."""


def patience(default: Any = STEEP, longest: Any = (), **medians: Any) -> Numbers:
    """Numbers of the study of long runs; `adam_small` and so on name the contestants."""
    keys = dict(zip(("gd", "adam_small", "adamw_small", "adam_large", "adamw_large"), LONG, strict=True))
    found = {name: medians.get(key, default) for key, name in keys.items()}
    accuracy = {"tenth": 0.1, "half": 0.2, "end": 0.4}
    return {
        "modulus": 97,
        "fractions": FRACTIONS,
        "budgets": BUDGETS,
        "summary": {name: summary(alike(times)) for name, times in found.items()},
        "critical": {name: critical(times) for name, times in found.items()},
        "longest": {
            "steps": 300_000,
            "fractions": (0.2,) if longest else (),
            "times": [longest] if longest else [],
            "accuracy": [[accuracy] * len(longest)] if longest else [],
        },
    }


EARLY = (None, 900, 400, 300, 200)
LATE = (None, None, None, 900, 300)
HIGH = (None, None, None, None, 300)


@pytest.mark.parametrize(
    ("claim", "numbers", "expected"),
    [
        ("critical_fraction", patience(EARLY), HOLDS),
        ("critical_fraction", patience(STEEP), REMARK),
        ("critical_fraction", patience(EARLY, gd=(900, 500, 400, 300, 200)), FAILS),
        ("critical_fraction", patience(EARLY, gd=(None,) * 5), FAILS),
        ("critical_fraction", patience(EARLY, gd=(None, 300, 250, 220, 200)), FAILS),
        ("adamw_fraction", patience(LATE, adamw_small=EARLY, adamw_large=EARLY), HOLDS),
        ("adamw_fraction", patience(LATE, adamw_small=EARLY), REMARK),
        ("adamw_fraction", patience(LATE), FAILS),
        ("adam_needs_more", patience(EARLY, adam_small=LATE, adam_large=LATE), HOLDS),
        ("adam_needs_more", patience(EARLY, adam_small=LATE), REMARK),
        ("adam_needs_more", patience(LATE, adam_small=EARLY), FAILS),
        ("very_long", patience(longest=[200_000, 250_000]), HOLDS),
        ("very_long", patience(longest=[200_000, None]), REMARK),
        ("very_long", patience(longest=[None, None]), FAILS),
        ("very_long", patience(), ABSENT),
    ],
)
def test_budgets(claim: str, numbers: Numbers, expected: str) -> None:
    assert outcome(claim, "critical", numbers) == expected


def test_the_affirmative_sentence_is_not_said_of_what_fails() -> None:
    verdict = CLAIMS["critical_fraction"].verdict({"critical": patience(EARLY, gd=(None, 300, 250, 220, 200))})
    assert verdict.sentence == "Just above it grokking does not take 2 times as long for GD."


def known(critical: float, half: float = 0.005) -> dict[str, Any]:
    return {"critical": critical, "low": critical - half, "high": critical + half, "width": 0.01}


MODULI = (23, 31, 47, 71, 97, 113)


def table(*by_budget: list[float], widths: Any = ((0.2, 0.2), (0.3, 0.3), (0.4, 0.4))) -> Numbers:
    """Numbers of the study of moduli: α_c at every p, for each budget."""
    found = [[known(alpha) for alpha in alphas] for alphas in zip(*by_budget, strict=True)]
    moduli = MODULI[: len(found)]
    budgets = range(len(by_budget))
    return {
        "budgets": [1000 * (i + 1) for i in budgets],
        "moduli": {"Adam": moduli},
        "critical": {"Adam": found},
        "laws": {"Adam": [fit_laws(moduli, [one[i] for one in found]) for i in budgets]},
        "modulus": 97,
        "width": 500,
        "widths": [125, 500, 1000],
        "critical_of_widths": [[known(value) for value in values] for values in widths],
    }


LOGARITHMIC = [0.804, 0.654, 0.483, 0.354, 0.278, 0.247]
POWER = [8 * p**-0.6 for p in MODULI]
RISING = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8]


@pytest.mark.parametrize(
    ("claim", "numbers", "expected"),
    [
        ("modulus", table(POWER, LOGARITHMIC), HOLDS),
        ("modulus", table(RISING, LOGARITHMIC), REMARK),
        ("modulus", table(LOGARITHMIC, RISING), FAILS),
        ("modulus", table([0.5] * 6), FAILS),
        ("law", table(LOGARITHMIC, LOGARITHMIC), HOLDS),
        ("law", table(POWER, LOGARITHMIC), REMARK),
        ("law", table(LOGARITHMIC, POWER), FAILS),
        ("law", table(LOGARITHMIC[:3]), ABSENT),
        ("width_and_data", table(LOGARITHMIC, LOGARITHMIC), HOLDS),
        ("width_and_data", table(LOGARITHMIC, POWER, widths=((0.3, 0.2), (0.3, 0.3), (0.3, 0.4))), REMARK),
        ("width_and_data", table(LOGARITHMIC, POWER, widths=((0.2, 0.3), (0.3, 0.3), (0.4, 0.3))), FAILS),
        ("width_and_data", table(LOGARITHMIC, POWER, widths=((0.2, 0.3), (0.3, 0.2), (0.4, 0.4))), FAILS),
    ],
)
def test_moduli(claim: str, numbers: Numbers, expected: str) -> None:
    assert outcome(claim, "moduli", numbers) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ((-0.05, -0.04, -0.06, -0.05), HOLDS),
        ((0.0, 0.0, -0.06, 0.01), REMARK),
        ((0.01, 0.0, -0.006, 0.05), FAILS),
        ((-0.011, 0.0, 0.0, 0.0), FAILS),
    ],
)
def test_samplings(changes: tuple[float, ...], expected: str) -> None:
    names = ("balanced", "answers", "lines", "expander")
    numbers = {
        "modulus": 97,
        "steps": 3000,
        "seeds": 12,
        "critical": {"random": known(0.3)}
        | {name: known(0.3 + change) for name, change in zip(names, changes, strict=True)},
        "gains": {
            name: {"middle": change, "low": change - 0.01, "high": change + 0.01}
            for name, change in zip(names, changes, strict=True)
        },
    }
    # The last case is below zero by the 95 % interval of one comparison, and not by that of the best of four.
    assert outcome("sampling", "samplings", numbers) == expected
