"""The way down, the data that functions need, width against data and epochs, other monomials: tables that make each
claim hold, fail, and leave it open."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from modgrok.experiments.sweeps.logistic import Transition
from modgrok.reproduce.gromov2023.activations import wave_of_sum
from modgrok.reproduce.gromov2023.critical import EASY, HARD
from modgrok.reproduce.gromov2023.sizes import TINY
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.table import Table

PAPER = find_paper()

HOLDS, REMARK, FAILS, OPEN = "holds", "holds with a remark", "does not hold here", "undecided here"
KNOWN, ABOVE = (asdict(Transition(*ends)) for ends in ((0.85, 0.8, 0.9, 0.01), (None, 0.98, None, None)))
LITTLE = asdict(Transition(0.25, 0.24, 0.26, 0.01))


def fractions(**other: Any) -> list[dict[str, Any]]:
    alpha = dict.fromkeys(EASY, LITTLE) | dict.fromkeys(HARD, KNOWN)
    alpha |= {name: other[key] for key, name in (("first", EASY[1]), ("last", HARD[0])) if key in other}
    return [{"task": text, "budget": 1000, "alpha": one} for text, one in alpha.items()]


TABLES: dict[str, list[dict[str, Any]]] = {
    "complexity": [{"critical": fractions()}],
    "way_down": [
        {"task": task, "width": N, "fraction": 0.5, "seed": seed, "steps": 10_000, "grokked_at": 900, "onset": 800}
        | {"loss_at_onset": 1e-3, "least": least}
        for N in (500, 2_000)
        for seed in (0, 1)
        for task, least in (("n + m", 1e-5), ("random:0", 2e-3))
    ],
    "width_curves": [
        {"width": N, "fraction": a, "seed": seed, "early": 0.2 + seed / 100, "accuracy": end + seed / 100}
        for N in (16, 32)
        for a, end in ((0.3, 0.5), (0.8, 0.9))
        for seed in range(5)
    ],
    "monomials": [
        {"degree": d, "constant": c, "accuracy": accuracy, "height": 0.5, "predicted": 0.5, "modulus": 97}
        for d, c, accuracy in ((2, 0.0, 1.0), (3, 0.0, 0.01), (3, 1.0, 1.0))
    ],
}
NARROW, NO_RULE = {"width": 16}, {"task": "random:0", "width": 2_000, "seed": 1}
CASES: list[tuple[str, str, list[tuple[str, dict[str, Any], str, Any]]]] = [
    ("complexity_by_data", HOLDS, []),
    ("complexity_by_data", REMARK, [("complexity", {}, "critical", fractions(last=ABOVE))]),
    ("complexity_by_data", FAILS, [("complexity", {}, "critical", fractions(last=LITTLE))]),
    ("complexity_by_data", FAILS, [("complexity", {}, "critical", fractions(first=KNOWN))]),
    ("complexity_by_data", OPEN, [("complexity", {}, "critical", fractions(first=ABOVE))]),
    ("only_way_down", HOLDS, []),
    ("only_way_down", FAILS, [("way_down", NO_RULE, "least", 9e-4)]),
    ("only_way_down", OPEN, [("way_down", {"task": "n + m", "seed": 1}, "grokked_at", None)]),
    ("only_way_down", OPEN, [("way_down", {}, "steps", 7_000)]),
    ("curves_depend", HOLDS, []),
    ("curves_depend", HOLDS, [("width_curves", NARROW, "accuracy", 0.5)]),
    ("curves_depend", FAILS, [("width_curves", {"fraction": 0.8}, "accuracy", 0.5)]),
    ("curves_depend", FAILS, [("width_curves", {"fraction": a}, "early", e) for a, e in ((0.3, 0.49), (0.8, 0.89))]),
    ("curves_depend", OPEN, [("width_curves", {"fraction": 0.8, "seed": s}, "accuracy", 0.4) for s in (1, 2)]),
    ("other_monomials", HOLDS, []),
    ("other_monomials", FAILS, [("monomials", {"degree": 3, "constant": 1.0}, "accuracy", 0.9)]),
    ("other_monomials", FAILS, [("monomials", {"degree": 3, "constant": 0.0}, "accuracy", 0.9)]),
    ("other_monomials", FAILS, [("monomials", {"degree": 2}, "height", 0.4)]),
]


@pytest.mark.parametrize(("name", "outcome", "changes"), CASES)
def test_tables_decide(name: str, outcome: str, changes: Any, outcomes: Callable[..., dict[str, str]]) -> None:
    assert outcomes(PAPER, TABLES, *changes)[name] == outcome


def test_the_wave_in_n_plus_m_of_powers() -> None:
    assert wave_of_sum(2, 0.0) == pytest.approx(1)
    assert wave_of_sum(3, 0.0) == pytest.approx(0, abs=1e-12)
    assert wave_of_sum(3, 1.0) == pytest.approx(3)
    A, B = np.meshgrid(*[2 * np.pi * np.arange(64) / 64] * 2)
    assert wave_of_sum(6, 0.0) == pytest.approx(2 * np.mean((np.cos(A) + np.cos(B)) ** 6 * np.cos(A + B)))


def test_the_onset_is_measured_where_there_is_a_rule(write_runs: Any) -> None:
    study = PAPER.study("way_down")
    t = Table.from_json(study.measure(TINY, write_runs(study.needs(TINY))))
    for task, some in t.by("task").items():
        assert some["onset"].whole() == some["loss_at_onset"].whole() == (task == "n + m")
        assert all(some.each(lambda r: r.least <= r.loss[0]))
