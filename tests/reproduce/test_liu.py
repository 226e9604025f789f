"""The effective theory's exact numbers, the toy's measure, and the paper's pipeline on small runs."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.measures.parallelograms import parallelograms, representation_quality, unordered_pairs
from modgrok.reproduce.liu2022 import PAPER
from modgrok.reproduce.liu2022.effective_theory import (
    best_accuracy,
    degrees_of_freedom,
    draw_pairs,
    grokking_rate,
    predicted_accuracy,
)
from modgrok.reproduce.liu2022.profile import FULL, QUICK, TASK, TINY, toy
from modgrok.reproduce.liu2022.studies_circle import effective_dimension, experiments, principal, roundness
from modgrok.reproduce.pipeline import Request, reproduce
from modgrok.tasks import task

EVERYTHING = unordered_pairs(10)


def test_all_pairs_have_seventy_parallelograms_and_force_a_line() -> None:
    shapes = parallelograms(EVERYTHING)
    assert shapes.shape == (70, 4)
    assert (shapes[:, 0] + shapes[:, 1] == shapes[:, 2] + shapes[:, 3]).all()
    assert degrees_of_freedom(EVERYTHING) == 2
    assert grokking_rate(EVERYTHING) == pytest.approx(6 / 7)
    assert degrees_of_freedom([]) == 10


@pytest.mark.parametrize(("size", "share"), [(15, 0.0), (18, 0.06), (21, 0.27), (24, 0.72), (27, 0.90), (33, 1.0)])
def test_how_often_a_training_set_forces_a_line(size: int, share: float) -> None:
    rng = np.random.default_rng(size)
    found = np.mean([degrees_of_freedom(draw_pairs(size, rng)) == 2 for _ in range(200)])
    assert found == pytest.approx(share, abs=0.1)


@pytest.mark.parametrize(("size", "rate"), [(20, 0.0), (25, 0.10), (30, 0.23), (40, 0.47), (50, 0.71)])
def test_grokking_rates(size: int, rate: float) -> None:
    rng = np.random.default_rng(size)
    assert np.median([grokking_rate(draw_pairs(size, rng)) for _ in range(100)]) == pytest.approx(rate, abs=0.05)


def test_quality_is_one_for_lines_and_small_for_noise() -> None:
    line = np.arange(10.0)[:, None] * 3 + 5
    assert representation_quality(line) == 1
    assert representation_quality(np.hstack([line, -2 * line])) == 1
    noise = np.random.default_rng(0).standard_normal((10, 1))
    assert representation_quality(noise) < 0.2


def test_accuracy_that_embeddings_and_training_sets_imply() -> None:
    line, noise = np.arange(10.0)[:, None], np.random.default_rng(0).standard_normal((10, 3))
    some = draw_pairs(30, np.random.default_rng(1))
    assert predicted_accuracy(noise, some) == pytest.approx(30 / 55)
    sums = {i + j for i, j in some}
    assert predicted_accuracy(line, some) == pytest.approx(sum(i + j in sums for i, j in EVERYTHING) / 55)
    assert 30 / 55 <= best_accuracy(some) <= predicted_accuracy(line, some)
    assert best_accuracy(EVERYTHING) == 1
    assert best_accuracy([(0, 1), (3, 4)]) == pytest.approx(2 / 55)


def test_the_task_has_fixed_codes() -> None:
    toys = task(TASK)
    assert toys.codes is not None
    assert toys.codes.shape == (19, 30)
    assert np.array_equal(toys.codes, task(TASK).codes)
    assert len(toys.present) == 55
    assert task(toys.name).name == TASK
    assert toy(45, 0, 10).resolve().loss == "mse"
    with pytest.raises(ModgrokError, match="add:10"):
        task("add:10,codes=")


def test_a_circle_is_round() -> None:
    angle = 2 * np.pi * 7 * np.arange(53) / 53
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1) @ np.random.default_rng(0).standard_normal((2, 20))
    assert effective_dimension(circle) == pytest.approx(2, abs=0.1)
    plane = principal(np.stack([np.cos(angle), np.sin(angle)], axis=1))
    assert roundness(plane) == pytest.approx(0, abs=1e-9)
    assert roundness(np.random.default_rng(0).standard_normal((53, 2))) > 0.3
    assert experiments(FULL)[0].resolve().width == 256


def test_every_study_is_measured_drawn_and_judged(judge: Any) -> None:
    verdicts = judge(PAPER, dataclasses.replace(TINY, left_out=()))
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
    assert sum(e.steps or 0 for study in PAPER.chosen((), QUICK) for e in study.needs(QUICK)) < 400_000
