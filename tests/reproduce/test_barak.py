"""The paper's pipeline on small runs."""

import copy
from pathlib import Path
from typing import Any

import pytest

from modgrok.reproduce.barak2022 import PAPER
from modgrok.reproduce.barak2022.sizes import FULL, TINY, parity
from modgrok.reproduce.pipeline import Request, reproduce
from modgrok.reproduce.table import Table


def test_online_runs_see_fresh_examples() -> None:
    ((_, experiment),) = parity(30, 3, 1, lr=0.1, steps=10)
    run = experiment.resolve()
    assert run.examples is None
    assert run.batch_size == 32
    assert run.load_task().table is None


def test_every_study_is_measured_drawn_and_judged(judge: Any) -> None:
    assert judge(PAPER, TINY)["fourier_identity"].outcome == "holds with a remark"


GRADIENT = {"samples": 100, "found": True, "error": 0.4}
NEURONS = [{"seed": seed, "active": 6, "width": 1000} for seed in range(3)]
TABLES: dict[str, list[dict[str, Any]]] = {"figF": [GRADIENT | {"neuron": i} for i in range(3)]}
MISSED = ("figF", {"neuron": 1}, "found", False)


@pytest.mark.parametrize(
    ("claim", "outcome", "changes"),
    [
        ("one_gradient", "holds", []),
        ("one_gradient", "does not hold here", [MISSED]),
        ("one_gradient", "undecided here", [MISSED, ("figF", {"neuron": 1}, "error", 0.6)]),
    ],
)
def test_what_is_claimed_can_hold_and_fail(claim: str, outcome: str, changes: Any) -> None:
    rows = copy.deepcopy(TABLES)
    for study, where, column, value in changes:
        for row in rows[study]:
            if where.items() <= row.items():
                row[column] = value
    judged = next(one for one in PAPER.claims if one.name == claim)
    assert judged.verdict({name: Table(some).to_json(5) for name, some in rows.items()}).outcome == outcome


def test_the_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("barak2022", "tiny", only=("fig2",), out=tmp_path), say=lambda line: None)
    assert set(outcome.verdicts) == {claim.name for claim in PAPER.claims}
    assert outcome.verdicts["plateau"].outcome == "undecided here"
    assert 4 in FULL.scaling
