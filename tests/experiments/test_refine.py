"""Thresholds are found to the step, and the training does not notice."""

import numpy as np
import pytest

from modgrok.errors import Interrupted
from modgrok.experiments import Store
from modgrok.experiments.train import train_stored

CURVES = {"memorized": "train_accuracy", "grokked": "test_accuracy"}
SEEDS = (0, 1, 2)
COARSE = {"evaluations": 4, "threshold": 0.5}


@pytest.fixture(scope="module")
def runs(lab, tmp_path_factory):
    """Refined together, coarse, and measured at every step."""
    store = Store(tmp_path_factory.mktemp("refined"))
    kinds = {"refined": COARSE | {"refine": True}, "coarse": COARSE, "dense": {"evaluations": 1000, "threshold": 0.5}}
    return {name: train_stored([lab.small(seed=s, **own) for s in SEEDS], store) for name, own in kinds.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_step_is_the_one_that_dense_evaluations_find(runs, seed):
    refined, dense = runs["refined"][seed].result, runs["dense"][seed].result
    for name in CURVES:
        assert refined[f"{name}_at"] == dense[f"{name}_at"]
        assert refined[f"{name}_after"] == dense[f"{name}_after"]
    assert dense.memorized_at is not None


@pytest.mark.parametrize("seed", SEEDS)
def test_the_training_is_the_same(runs, seed):
    refined, coarse, dense = (runs[name][seed] for name in ("refined", "coarse", "dense"))
    np.testing.assert_array_equal(refined.network.w_in, coarse.network.w_in)
    every = {row["step"]: row for row in dense.rows()}
    steps = [row["step"] for row in refined.rows()]
    assert set(steps) > {row["step"] for row in coarse.rows()}
    assert steps == sorted(set(steps))
    for row in refined.rows():
        assert row == pytest.approx(every[row["step"]])


def test_a_run_alone_and_one_that_was_stopped_find_the_same(runs, lab, store):
    experiment = lab.small(seed=1, refine=True, **COARSE)
    for calls in (2, 2):
        with pytest.raises(Interrupted):
            train_stored([experiment], store, lab.Listener(stop_after=calls))
    lab.assert_same(*train_stored([experiment], store), runs["refined"][1])


def test_without_evaluations_nothing_is_said(lab, store):
    (run,) = train_stored([lab.small(evaluations=0)], store)
    assert run.result.train_accuracy == 1
    assert (run.result.memorized_at, run.result.memorized_after, run.result.grokked_at) == (None, None, None)
