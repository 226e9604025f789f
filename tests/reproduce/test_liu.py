"""The toy, and the paper's pipeline on small runs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.reproduce.liu2022 import PAPER
from modgrok.reproduce.liu2022.sizes import FULL, QUICK, TINY, TOY
from modgrok.reproduce.pipeline import Request, reproduce
from modgrok.reproduce.sizes import Sizes
from modgrok.tasks import task


def test_the_task_has_fixed_codes() -> None:
    toys = task(TOY["task"])
    assert toys.codes is not None
    assert toys.codes.shape == (19, 30)
    assert np.array_equal(toys.codes, task(TOY["task"]).codes)
    assert len(toys.present) == 55
    assert task(toys.name).name == TOY["task"]
    assert PAPER.study("figE").needs(TINY)[0].resolve().loss == "mse"
    with pytest.raises(ModgrokError, match="add:10"):
        task("add:10,codes=")


def test_every_study_is_measured_drawn_and_judged(judge: Any) -> None:
    verdicts = judge(PAPER, Sizes("tiny", (), TINY.values))
    assert verdicts["phases_of_permutations"].outcome == "does not hold here"
    assert verdicts["critical_share"].outcome != "undecided here"


def test_the_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("liu2022", "tiny", only=("fig6",), out=tmp_path), say=lambda line: None)
    assert set(outcome.verdicts) == {claim.name for claim in PAPER.claims}
    assert outcome.verdicts["phases_of_rates"].outcome == "does not hold here"
    assert outcome.verdicts["circle"].outcome == "undecided here"
    text = (tmp_path / "report.md").read_text()
    assert "add:10,codes=30:unordered" in text.replace("\\", "")
    assert "None" not in text


def test_profiles_keep_what_they_promise() -> None:
    runs = sum(len(study.needs(FULL)) for study in PAPER.studies if study.name == "fig6")
    assert runs >= 1000
    assert not FULL.left_out
    assert PAPER.study("figP").needs(FULL)[0].resolve().width == 256
    assert sum(e.steps or 0 for study in PAPER.chosen((), QUICK) for e in study.needs(QUICK)) < 400_000
