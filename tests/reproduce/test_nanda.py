"""The phases, the verdicts, and the paper's pipeline."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modgrok.reproduce.nanda2023.progress import phases
from modgrok.reproduce.nanda2023.sizes import FULL, QUICK
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.pipeline import Request, reproduce

PAPER = find_paper("nanda2023")
Outcomes = Callable[..., dict[str, str]]


def test_phases_lie_between_memory_and_generalization() -> None:
    found = phases(
        {
            "test_loss": np.array([4.0, 5.0, 8.0, 7.0, 1.0, 0.01]),
            "excluded_loss": np.array([4.0, 2.0, 0.5, 2.0, 3.0, 3.0]),
            "test_accuracy": np.array([0.0, 0.0, 0.0, 0.1, 0.9, 1.0]),
        }
    )
    assert found == {"forming": 2, "cleaning": 3, "clean": 5}


SIZES = {"task": "n + m", "modulus": 113, "steps": 40_000}
SEED = SIZES | {
    "network": "transformer",
    "step": [0, 100, 200, 1400, 9000, 14000],
    "forming": 2,
    "cleaning": 3,
    "clean": 5,
    "frequencies": [14, 35, 41, 42, 52],
    "test_accuracy": [0.01, 0.01, 0.02, 0.1, 0.96, 1.0],
    "train_loss": [4.7, 1.0, 0.01, 1e-3, 1e-5, 1e-7],
    "test_loss": [4.7, 8.0, 20.0, 15.0, 0.5, 1e-6],
    "restricted_loss": [4.7, 4.0, 3.0, 1.0, 0.1, 1e-7],
    "excluded_loss": [4.7, 2.0, 0.1, 1.0, 4.0, 5.0],
    "gini_embedding": [0.1, 0.1, 0.2, 0.3, 0.5, 0.7],
    "gini_readout": [0.1, 0.1, 0.2, 0.3, 0.6, 0.8],
    "squares": [900.0, 1200.0, 1300.0, 1200.0, 900.0, 500.0],
    "memorized_at": 150,
}
"""Curves as the paper has them."""
TWO_LAYER = SEED | {
    "network": "two-layer",
    "restricted_loss": [4.7, 4.0, 2.0, 1.0, 0.1, 1e-7],
    "frequencies": list(range(1, 50)),
    "gini_readout": [0.1] * 6,
    "ipr": [0.01, 0.02, 0.05, 0.1, 0.2, 0.2],
}
STRUCTURE = SIZES | {
    "test_accuracy": 1.0,
    "frequencies": [14, 35, 41, 42, 52],
    "embedding_frequencies": [14, 35, 41, 42, 52, 3],
    "neuron_frequencies": [14, 35, 41, 42, 52],
    "embedding_gini": 0.6,
    "readout_gini": 0.8,
    "logits_explained": 0.95,
    "clear": 0.846,
    "readout_share": 0.994,
    "along_sums": 0.93,
    "attention_to_equals": 0.002,
    "heads": [[35, 0.99]],
    "full_loss": 2.4e-7,
    "restricted_loss": 4.7e-8,
}
LOSSES = {
    "nothing": 2.4e-7,
    "clear neurons as polynomials of their frequency": 2.5e-7,
    "clear neurons as waves of n + m": 5.5e-8,
    "neurons along the key directions alone": 1.2e-7,
    "neurons without the key directions": 5.27,
    "without the path around the MLP": 9.1e-7,
    "without the MLP": 8.0,
    "without attention": 24.3,
    "without the path around attention": 19.1,
}


def swept(line: str, memorized: dict[float, int], grokked: dict[float, int | None]) -> list[dict[str, Any]]:
    usual = SIZES | {"fraction": 0.3, "weight_decay": 1.0, "line": line}
    return [
        usual | {line: value, "seed": seed, "memorized_at": memorized[value], "grokked_at": grokked[value]}
        for value in grokked
        for seed in range(3)
    ]


KEYS = STRUCTURE["frequencies"]
LOGITS = SIZES | {
    "test_accuracy": 1.0,
    "frequencies": KEYS,
    "own_share": 0.95,
    "kept_step": [0, 1000, 14000],
    "coefficients": [[0.1, 5.0, 900.0] if k in KEYS else [0.1, 1.0, 2.0] for k in range(1, 57)],
}
"""Key frequencies stand out at step 1 000, before clean-up begins at step 1 400."""
NOT_YET = [[0.1, 1.0, 900.0] if k in KEYS else [0.1, 1.1, 2.0] for k in range(1, 57)]
TIMES = {
    (53, 0.3, 1.0): (100, None),
    (53, 0.3, 5.0): (100, 5000),
    (109, 0.3, 1.0): (150, 10_000),
    (113, 0.3, 1.0): (150, 9000),
    (401, 0.2, 1.0): (400, 600),
}
MODULI = [
    {"modulus": p, "fraction": a, "weight_decay": g, "memorized_at": times[0], "grokked_at": times[1]}
    | {"steps": 40_000, "seed": seed, "frequencies": KEYS}
    for (p, a, g), times in TIMES.items()
    for seed in range(3)
]

TABLES = {
    "figF": [LOGITS | {"seed": seed} for seed in range(3)],
    "figM": MODULI,
    "fig7": [SEED | {"seed": seed} for seed in range(3)] + [TWO_LAYER],
    "fig3": [STRUCTURE | {"seed": seed} for seed in range(3)],
    "fig5": [SIZES | {"part": part, "loss": loss} for part, loss in LOSSES.items()],
    "figA": swept("fraction", {0.2: 100, 0.3: 150, 0.6: 300}, {0.2: None, 0.3: 9000, 0.6: 500})
    + swept("weight_decay", dict.fromkeys((0.0, 0.5, 1.0, 3.0), 100), {0.0: None, 0.5: 18_000, 1.0: 9000, 3.0: 3000}),
}
"""The paper's own numbers."""


def test_the_papers_own_numbers_hold(outcomes: Outcomes) -> None:
    assert set(outcomes(PAPER, TABLES).values()) == {"holds"}


TRANSFORMER = {"network": "transformer"}
SLOW = [4.7, 2, 1, 1.1, 1.5, 5]
FAILURES: dict[str, tuple[str, dict[str, Any], str, Any]] = {
    "grokking": ("fig7", TRANSFORMER, "memorized_at", 900),
    "excluded_rises_first": ("fig7", TRANSFORMER, "excluded_loss", SLOW),
    "restricted_falls_first": ("fig7", TRANSFORMER, "restricted_loss", [4.7] * 5 + [0.1]),
    "clean_up": ("fig7", TRANSFORMER, "squares", [900.0] * 6),
    "key_frequencies": ("fig3", {}, "frequencies", list(range(20))),
    "trigonometric_circuit": ("fig3", {}, "clear", 0.5),
    "restriction_helps": ("fig3", {}, "restricted_loss", 1e-3),
    "parts_of_the_circuit": ("fig3", {"seed": 1}, "restricted_loss", 1e-6),
    "fractions": ("figA", {"fraction": 0.6, "seed": 1}, "grokked_at", 3000),
    "too_little_data": ("figA", {"fraction": 0.2, "seed": 1}, "grokked_at", 5000),
    "decays": ("figA", {"weight_decay": 3.0}, "grokked_at", 20000),
    "sparse_logits": ("figF", {}, "own_share", 0.5),
    "chosen_while_forming": ("figF", {}, "coefficients", NOT_YET),
    "other_moduli": ("figM", {"modulus": 401, "seed": 1}, "grokked_at", 3000),
    "frequencies_of_moduli": ("figM", {"modulus": 109}, "frequencies", list(range(20))),
    "two_layer_network": ("fig7", {"network": "two-layer"}, "restricted_loss", [4.7] * 6),
}


@pytest.mark.parametrize("name", FAILURES)
def test_every_claim_can_fail(name: str, outcomes: Outcomes) -> None:
    assert outcomes(PAPER, TABLES, FAILURES[name])[name] == "does not hold here"


def test_neurons_may_become_clear_until_the_papers_last_step(outcomes: Outcomes) -> None:
    early = ("fig3", {}, "steps", 25_000)
    assert outcomes(PAPER, TABLES, early)["trigonometric_circuit"] == "holds"
    assert (
        outcomes(PAPER, TABLES, early, FAILURES["trigonometric_circuit"])["trigonometric_circuit"] == "undecided here"
    )


@pytest.mark.parametrize(
    ("where", "time"),
    [
        ({"weight_decay": 5.0}, None),
        ({"modulus": 53, "weight_decay": 1.0}, 5000),
        ({"modulus": 109}, 30_000),
        ({"modulus": 401, "seed": 0}, None),
    ],
)
def test_every_modulus_decides(where: dict[str, Any], time: int | None, outcomes: Outcomes) -> None:
    assert outcomes(PAPER, TABLES, ("figM", where, "grokked_at", time))["other_moduli"] == "does not hold here"
    early = ("figM", {}, "steps", 10_000), ("figM", where, "grokked_at", time)
    assert outcomes(PAPER, TABLES, *early)["other_moduli"] == "undecided here"


def test_a_part_that_is_not_needed_fails_too(outcomes: Outcomes) -> None:
    found = outcomes(PAPER, TABLES, ("fig5", {"part": "without attention"}, "loss", 1e-6))
    assert found["parts_of_the_circuit"] == "does not hold here"


def test_a_single_seed_that_differs_is_a_remark(outcomes: Outcomes) -> None:
    found = outcomes(
        PAPER,
        TABLES,
        ("fig7", {"network": "transformer", "seed": 1}, "excluded_loss", SLOW),
        ("fig3", {"seed": 2}, "frequencies", [1, 2]),
        ("figA", {"weight_decay": 3.0}, "grokked_at", 5000),
        ("figA", {"fraction": 0.6}, "grokked_at", 700),
    )
    remarks = ("excluded_rises_first", "key_frequencies", "decays", "fractions")
    assert {found[name] for name in remarks} == {"holds with a remark"}
    never = [("figA", {"weight_decay": decay, "line": "weight_decay"}, "grokked_at", None) for decay in (0.5, 3.0)]
    assert outcomes(PAPER, TABLES, *never)["decays"] == "undecided here"
    assert outcomes(PAPER, TABLES, ("figA", {}, "steps", 25_000))["too_little_data"] == "undecided here"


def test_the_whole_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("nanda2023", "tiny", out=tmp_path), say=lambda line: None)
    assert set(outcome.verdicts) == {claim.name for claim in PAPER.claims}
    assert "too little to decide. So far: Not so:" in outcome.verdicts["grokking"].sentence
    assert "None" not in (tmp_path / "report.md").read_text()


def test_profiles_keep_what_they_promise() -> None:
    first = PAPER.study("fig7").needs(FULL)[0].resolve()
    assert (first.modulus, first.width, first.fraction, first.weight_decay, first.warmup) == (113, 128, 0.3, 1.0, 10)
    assert first.split.counts(first.load_task()) == (3831, 8938)
    assert sum(e.steps or 0 for study in PAPER.chosen((), QUICK) for e in study.needs(QUICK)) < 50_000
