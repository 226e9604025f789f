"""The paper's pipeline on small runs."""

from pathlib import Path
from typing import Any

import pytest

from modgrok.reproduce.barak2022 import PAPER
from modgrok.reproduce.barak2022.sizes import FULL, TINY, parity
from modgrok.reproduce.pipeline import Request, reproduce


def test_online_runs_see_fresh_examples() -> None:
    ((_, experiment),) = parity(30, 3, 1, lr=0.1, steps=10)
    run = experiment.resolve()
    assert run.examples is None
    assert run.batch_size == 32
    assert run.load_task().table is None


def test_every_study_is_measured_drawn_and_judged(judge: Any) -> None:
    assert judge(PAPER, TINY)["fourier_identity"].outcome == "holds with a remark"


GRADIENT = {"samples": 100, "found": True, "error": 0.4}
TIMES = {"memorized_at": 900, "grokked_at": 4000, "test_accuracy": [1.0]}
NEURONS = [TIMES | {"seed": seed, "active": 6, "width": 1000} for seed in range(3)]
GAP = {"identity": True, "gap": 2.0, "bound": 1.0}
TABLES: dict[str, list[dict[str, Any]]] = {
    "figF": [GAP, *(GRADIENT | {"neuron": i} for i in range(3))],
    "figG": NEURONS,
}
MISSED = ("figF", {"neuron": 1}, "found", False)


@pytest.mark.parametrize(
    ("claim", "outcome", "changes"),
    [
        ("one_gradient", "holds", []),
        ("one_gradient", "does not hold here", [MISSED]),
        ("small_subnetwork", "holds", []),
        ("small_subnetwork", "holds with a remark", [("figG", {"seed": 0}, "active", 29)]),
        ("small_subnetwork", "does not hold here", [("figG", {}, "active", 29)]),
        ("one_gradient", "undecided here", [MISSED, ("figF", {"neuron": 1}, "error", 0.6)]),
    ],
)
def test_what_is_claimed_can_hold_and_fail(claim: str, outcome: str, changes: Any, outcomes: Any) -> None:
    assert outcomes(PAPER, TABLES, *changes)[claim] == outcome


def test_the_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("barak2022", "tiny", only=("fig2",), out=tmp_path), say=lambda line: None)
    assert set(outcome.verdicts) == {claim.name for claim in PAPER.claims}
    assert outcome.verdicts["plateau"].outcome == "undecided here"
    assert 4 in FULL.scaling
