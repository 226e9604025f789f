"""The paper's pipeline on small runs."""

from pathlib import Path
from typing import Any

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


def test_the_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("barak2022", "tiny", only=("fig2",), out=tmp_path), say=lambda line: None)
    assert set(outcome.verdicts) == {claim.name for claim in PAPER.claims}
    assert outcome.verdicts["plateau"].outcome == "undecided here"
    assert 4 in FULL.scaling
