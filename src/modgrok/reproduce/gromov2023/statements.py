"""Statements that the paper makes in passing, without a figure: each trained, a table of numbers for each."""

from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.measures import neuron_waves
from modgrok.measures.times import THRESHOLD
from modgrok.reproduce.gromov2023.profile import Further, Profile, natural_unit
from modgrok.reproduce.nested import Numbers, Study, Tree, results

PRODUCTS = ("n*m", "n^2*m", "(n + 1)*(m^2 + 2)", "(n^2 + 1)*(m + 3)", "n^3*m^3")
SUMS = ("n + m", "n^2 + m^2", "n^3 + 2*m")
MIXED = ("n^2 + m^2 + n*m", "n^2*m + n", "n*m + n^2 + m")
"""f(n, m) + g(n, m), f a sum of functions and g a product of functions, not of that kind together."""
DISGUISED = "n + m + n*m"
"""A sum of that kind which is a product: (n + 1)(m + 1) − 1."""
FUNCTIONS = ("n - m", "n*m", "n^2 + m^2", "(n + m)^2")
BATCH_NORM_RATE = 4.0
"""Rate of minibatches with batch norm, in units of gradient descent's divided by p."""
ONSET = 0.1
"""Test accuracy at which generalization counts as begun."""


def cells(runs: Tree) -> Numbers:
    """Outcome of every run, nested as the runs are."""
    names = ("test_accuracy", "train_accuracy", "memorized_at", "grokked_at")
    return {name: results(runs, name) for name in names}


def minibatch_runs(further: Further) -> list[Experiment]:
    """Minibatches of a quarter of the training pairs with batch normalization."""
    p, width = further.modulus, further.width
    rate = float(f"{BATCH_NORM_RATE * further.gd.rate * natural_unit(p, width) / p:.4g}")
    settings: Any = {
        "optimizer": "sgd",
        "lr": rate,
        "batch_norm": True,
        "batch_size": round(further.fraction * p * p / 4),
    }
    return further.descend(**settings)


def _three_variables(profile: Profile) -> Tree:
    return [
        profile.further.adapt("n1 + n2 + n3", 0.5, modulus=p, width=N, activation="x^3", lr=0.1, until=20)
        for p, N in profile.further.three_variables
    ]


def _mixed(profile: Profile) -> Tree:
    further = profile.further
    tasks = (*SUMS, *MIXED, DISGUISED)
    return {text: [further.adapt(text, a, until=0) for a in further.mixed_fractions] for text in tasks}


def _capacity(profile: Profile) -> Tree:
    settings: Any = {"optimizer": "adam", "weight_decay": 0.0}
    widths = profile.further.capacity_widths
    return {
        name: [profile.further.adapt(text, width=width, **settings) for width in widths]
        for name, text in (("n + m", "n + m"), ("random labels", "random:0"))
    }


def _behavior(profile: Profile) -> Tree:
    """By what is varied: optimizers, losses and functions, all else as in the first row of each."""
    further = profile.further
    momentum: Any = {"optimizer": "momentum", "lr": further.descend()[0].lr / 10}  # type: ignore[operator]
    return {
        "optimizer": {
            "GD": further.descend(),
            "momentum": further.descend(**momentum),
            "SGD + batch norm": minibatch_runs(further),
            "Adam": further.adapt("n + m", optimizer="adam", weight_decay=0.0),
            "AdamW": further.adapt("n + m"),
        },
        "loss": {
            "mean squared error": further.adapt("n + m"),
            "cross-entropy": further.adapt("n + m", loss="cross_entropy", lr=0.1),
        },
        "function": {text: further.adapt(text) for text in ("n + m", *FUNCTIONS)},
    }


def behavior(run: Run) -> dict[str, Any]:
    """What the paper calls the general behavior, of one run: memorization, a maximum of the test loss, grokking, waves.

    The maximum is local: where the loss stands highest above the least that it was before. Answers that are not equally
    frequent, as those of (n + m)², are learnt first, and the loss begins by falling.
    """
    history, result = run.history, dict(run.result or {})
    step, test, loss = (history[name] for name in ("step", "test_accuracy", "test_loss"))
    grokked = result["grokked_at"]
    before = len(step) if grokked is None else int(np.searchsorted(step, grokked)) + 1
    rise = loss[:before] / np.minimum.accumulate(loss[:before])
    peak = int(rise.argmax())
    waves = neuron_waves(run.network, run.task.structure.coordinate)
    return {
        "memorized_at": result["memorized_at"],
        "grokked_at": grokked,
        "peak_at": step[peak],
        "rise": rise[peak] - 1,
        "test_accuracy_at_peak": test[peak],
        "explained": float(np.nanmedian(waves.explained)),
    }


def acceleration(history: dict[str, np.ndarray], result: Any) -> dict[str, Any]:
    """The mean rate −d ln(train loss)/dt until the training pairs are known, and from the onset of generalization (10 %
    test accuracy) to grokking."""
    step, test, loss = history["step"], history["test_accuracy"], np.log(history["train_loss"])
    if result["grokked_at"] is None:
        return {"before": None, "during": None}
    onset, grokked = (int(np.flatnonzero(test >= share)[0]) for share in (ONSET, THRESHOLD))
    known = min(int(np.searchsorted(step, result["memorized_at"])), onset)
    begun = int(np.searchsorted(step, 0.1 * step[known]))  # what comes before belongs to the start

    def rate(first: int, last: int) -> float | None:
        return (loss[first] - loss[last]) / (step[last] - step[first]) if last > first else None

    return {"before": rate(begun, known), "during": rate(onset - 1, grokked)}


def _ipr_over_time(history: dict[str, np.ndarray], result: Any) -> dict[str, Any]:
    """The ratio at grokking, half way from there to the end, and at the end."""
    step, ipr = history["step"], history["ipr"]
    if (grokked := result["grokked_at"]) is None:
        return {"at_grokking": None, "half_way": None, "end": ipr[-1]}
    half = (grokked + step[-1]) / 2
    return {"at_grokking": np.interp(grokked, step, ipr), "half_way": np.interp(half, step, ipr), "end": ipr[-1]}


def _over_training(profile: Profile, runs: dict[str, list[Run]]) -> Numbers:
    return {
        "ipr": {name: [_ipr_over_time(run.history, run.result) for run in found] for name, found in runs.items()},
        "train_loss": [acceleration(run.history, run.result) for run in runs["GD"]],
    }


def _sizes(profile: Profile) -> dict[str, Any]:
    further = profile.further
    return {"modulus": further.modulus, "width": further.width, "fraction": further.fraction}


STUDIES = (
    Study(
        "three_variables",
        "Three variables, trained",
        "n1 + n2 + n3 under AdamW with the activation x³ from half of the table.",
        lambda profile, runs: {"sizes": profile.further.three_variables} | cells(runs),
        _three_variables,
    ),
    Study(
        "composite",
        "Moduli that are not prime",
        "n + m under AdamW modulo composite numbers, and modulo a prime beside them.",
        lambda profile, runs: {"width": profile.further.width} | cells(runs),
        lambda profile: {
            p: profile.further.adapt("n + m", modulus=p, until=0)
            for p in (profile.further.modulus, *profile.further.composite)
        },
    ),
    Study(
        "products",
        "Products of functions",
        "g1(n)·g2(m) under AdamW for several g1, g2, bijective or not, with zeros or without.",
        lambda profile, runs: _sizes(profile) | cells(runs),
        lambda profile: {text: profile.further.adapt(text, until=0) for text in PRODUCTS},
    ),
    Study(
        "mixed_functions",
        "Sums of unlike functions",
        "Sums f1(n) + f2(m), and sums of such a sum and a product, under AdamW with equal settings, against the share "
        "of data.",
        lambda profile, runs: (
            _sizes(profile)
            | {"fractions": profile.further.mixed_fractions, "steps": profile.further.adamw.steps}
            | cells(runs)
        ),
        _mixed,
    ),
    Study(
        "capacity",
        "Under- and overparametrized networks",
        "n + m and random labels from the same share of the table under Adam, against width: where random labels "
        "cannot be learnt by heart there are too few parameters to memorize.",
        lambda profile, runs: _sizes(profile) | {"widths": profile.further.capacity_widths} | cells(runs),
        _capacity,
    ),
    Study(
        "minibatches",
        "Minibatches with batch normalization",
        "n + m under SGD with minibatches of a quarter of the training pairs and batch normalization.",
        lambda profile, runs: _sizes(profile) | {"batch_size": runs[0].experiment.batch_size} | cells(runs),
        lambda profile: minibatch_runs(profile.further),
    ),
    Study(
        "general_behavior",
        "Other optimizers, losses and functions",
        "Memorization, maximum of the test loss, grokking and waves for five optimizers, two losses and "
        "five functions.",
        lambda profile, runs: (
            _sizes(profile)
            | {
                "rows": {
                    kind: {name: [behavior(run) for run in found] for name, found in rows.items()}
                    for kind, rows in runs.items()
                }
            }
        ),
        _behavior,
    ),
    Study(
        "over_training",
        "What goes on while training does",
        "The rate at which the training loss falls under gradient descent, and the IPR from grokking to the end.",
        _over_training,
        lambda profile: {"GD": profile.addition_by_gd(), "AdamW": profile.addition_by_adamw()},
    ),
)
