"""Table 1: Rule 30 with three fixed tensor networks, and how often random ones would do."""

from typing import Any

import numpy as np

from modgrok.palette import GRAY, SERIES
from modgrok.plot import style
from modgrok.reproduce.nested import Numbers, Study, Tree
from modgrok.reproduce.zunkovic2022 import rule30
from modgrok.reproduce.zunkovic2022.profile import Profile

BITS = 4
"""Of the rings that are trained on, all of them, where the flow is followed."""
STRENGTHS = (1e-4, 1e-3, 3e-3, 0.01, 0.02, 0.03, 0.05, 0.1)
TRAINED = {"l2, 3 bits": (3, STRENGTHS), "l1, 3 bits": (3, STRENGTHS), "l2, 4 bits": (4, STRENGTHS[:1])}
"""Bits of the rings that are trained on, and strengths of the regularizer of which the best counts."""
RANDOM_LENGTH, RANDOM_L2, RANDOM_L1 = 8, 1e-4, 1e-3
TIMES = np.logspace(-1, 4, 250)


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Effective dimension, test error at the end and exponent of each example, and shares of random matrices."""
    ridge, sparse = rule30.shares_that_generalize(profile.pairs, RANDOM_LENGTH, RANDOM_L2, RANDOM_L1, 30)
    return {
        "length": profile.length,
        "starts": profile.starts,
        "examples": [_example(np.array(pair), profile) for pair in rule30.EXAMPLES],
        "random": {"pairs": profile.pairs, "l2": ridge, "l1": sparse},
    }


def _example(matrices: np.ndarray, profile: Profile) -> dict[str, Any]:
    tested = rule30.all_inputs(matrices, profile.length)
    ends = {
        name: min(
            float(rule30.end_errors(matrices[None], bits, profile.length, **{"l2": 0.0, name[:2]: strength})[0])
            for strength in strengths
        )
        for name, (bits, strengths) in TRAINED.items()
    }
    train = rule30.all_inputs(matrices, BITS)
    flows = [
        rule30.Flow(train, RANDOM_L2, np.random.default_rng(seed).standard_normal(8)) for seed in range(profile.starts)
    ]
    found = [_transition(flow, train, tested) for flow in flows]
    return {
        "effective_dimension": rule30.effective_dimension(tested),
        "end_error": ends,
        "exponents": [one["exponent"] for one in found],
        "grokking_times": [one["grokking_time"] for one in found],
        "distance": np.logspace(-4, 0, 60),
        "errors": [one["errors"] for one in found[:8]],
    }


def _transition(flow: rule30.Flow, train: rule30.Inputs, tested: rule30.Inputs) -> dict[str, Any]:
    end = flow.last_error(tested, TIMES)
    if end is None:
        return {"exponent": None, "grokking_time": None, "errors": []}
    distance = np.logspace(-4, 0, 60) * end
    errors = flow.errors(tested, end - distance)
    learnt = flow.last_error(train, TIMES)
    return {
        "exponent": rule30.exponent(distance, errors),
        "grokking_time": end - (learnt or 0.0),
        "errors": errors,
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(1, 3, height=2.7, sharey=True)
    for i, (panel, found) in enumerate(zip(panels[0], n["examples"], strict=True)):
        for errors in found["errors"]:
            if errors:
                panel.loglog(found["distance"], errors, color=SERIES[i], alpha=0.6, linewidth=0.9)
        x = np.array([3e-3, 0.3])
        ball = (found["effective_dimension"] + 1) / 2
        panel.loglog(x, 0.1 * (x / 0.3) ** rule30.EXPONENTS[i], color="black", linewidth=1, label="slope of Table 1")
        panel.loglog(x, 0.1 * (x / 0.3) ** ball, color=GRAY, linestyle="--", linewidth=1, label="slope of the ball")
        panel.set_xlabel("$(t_\\epsilon - t) / t_\\epsilon$")
        panel.set_ylim(1.5 / 2 ** n["length"], 1)
    panels[0, 0].set_ylabel("test error E")
    panels[0, 0].legend(loc="upper left", fontsize=6)
    titles = (f"$D_{{eff}}$ = {found['effective_dimension']:.2f}" for found in n["examples"])
    style.letter(panels[0], titles)
    style.note(figure, f"trained on all rings of 4 bits, tested on all of {n['length']}; a line for each start")
    return figure


STUDIES = (
    Study(
        "figT1",
        "Rule 30 through three tensor networks",
        "A fixed tensor network maps rings of bits to eight features in which Rule 30 is linear. Learnt from all rings "
        "of four bits, the rule holds for long ones: the test error falls to zero at a finite time, in steps, since "
        "the features of long rings form a fractal. Three examples that the paper gives.",
        numbers,
        draw=draw,
    ),
)
