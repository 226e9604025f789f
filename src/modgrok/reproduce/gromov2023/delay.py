"""How long after memorization a network groks, from much to little data, and what becomes of it with too little."""

from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, Tree, last, results

DRAMATIC_FRACTION, DRAMATIC_DECAY = 0.2, 0.05
"""AdamW from a fifth of the table."""


def delay_runs(profile: Profile) -> Tree:
    p, width, make = profile.sweep_modulus, profile.sweep_width, profile.delay.descend
    fraction, decay = DRAMATIC_FRACTION, DRAMATIC_DECAY
    return {
        "gd": [
            [make("n + m", p, width, alpha, seed, until=0) for seed in profile.sweep_range]
            for alpha in profile.delay_fractions
        ],
        "dramatic": [
            profile.dramatic.adapt("n + m", profile.modulus, profile.width, fraction, seed, until=0, weight_decay=decay)
            for seed in range(profile.dramatic_seeds)
        ],
    }


def delay_numbers(profile: Profile, runs: Tree) -> Numbers:
    """Memorization and grokking steps of every seed, and their median ratios."""
    cells = [_cell(cell, alpha) for alpha, cell in zip(profile.delay_fractions, runs["gd"], strict=True)]
    return {
        "modulus": profile.sweep_modulus,
        "width": profile.sweep_width,
        "cells": cells,
        "dramatic": _cell(runs["dramatic"], DRAMATIC_FRACTION) | {"modulus": profile.modulus, "width": profile.width},
    }


def _cell(runs: list[Run], fraction: float) -> dict[str, Any]:
    memorized, grokked = results(runs, "memorized_at"), results(runs, "grokked_at")
    ratios = [g / m if m and g else None for m, g in zip(memorized, grokked, strict=True)]
    return {
        "fraction": fraction,
        "memorized_at": memorized,
        "grokked_at": grokked,
        "delays": ratios,
        "delay": _median(ratios),
    }


def _median(ratios: list[float | None]) -> float | None:
    """Over the seeds that grokked; None where fewer than half did."""
    known = [ratio for ratio in ratios if ratio is not None]
    return float(np.median(known)) if 2 * len(known) >= len(ratios) else None


def memorizing_runs(profile: Profile) -> list[Experiment]:
    p, width, alpha = profile.sweep_modulus, profile.sweep_width, profile.memorizing_fraction
    return [profile.delay.descend("n + m", p, width, alpha, seed) for seed in profile.sweep_range]


def memorizing_numbers(profile: Profile, runs: list[Run]) -> Numbers:
    """Where curves end, how far they have moved over the second half of the steps, and how long that is."""
    histories = [run.history for run in runs]
    half = [int(np.searchsorted(h["step"], h["step"][-1] / 2)) for h in histories]
    pairs = list(zip(histories, half, strict=True))
    return {
        "modulus": profile.sweep_modulus,
        "fraction": profile.memorizing_fraction,
        "steps": profile.delay.steps,
        "memorized_at": results(runs, "memorized_at"),
        "train_accuracy": last(runs, "train_accuracy"),
        "best_test_accuracy": [h["test_accuracy"][h["step"] > 0].max() for h in histories],
        "test_pairs": round((1 - profile.memorizing_fraction) * profile.sweep_modulus**2),
        "loss_start": [h["test_loss"][0] for h in histories],
        "loss_peak": [h["test_loss"].max() for h in histories],
        "loss_end": last(runs, "test_loss"),
        "train_loss_half": [h["train_loss"][i] for h, i in pairs],
        "train_loss_end": last(runs, "train_loss"),
    }


STUDIES = (
    Study(
        "delay",
        "The delay between memorizing and grokking",
        "n + m under plain gradient descent from little to much data: how many times as long as memorizing it takes to "
        "grok. And AdamW from a fifth of the table, where the delay is more than tenfold.",
        delay_numbers,
        delay_runs,
    ),
    Study(
        "memorizing",
        "Too little data",
        "n + m under plain gradient descent from so small a share of the table that networks learn it by heart and "
        "stay there.",
        memorizing_numbers,
        memorizing_runs,
    ),
)
