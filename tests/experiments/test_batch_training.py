"""When a batch goes on with fewer runs, and that these notice nothing."""

import dataclasses
from concurrent.futures import Future, wait
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

from modgrok.experiments import Experiment, Store, batch_training
from modgrok.experiments.batch_training import BatchTraining
from modgrok.experiments.train import train_stored
from modgrok.training.program import GPU, PLATFORMS
from modgrok.training.together import RunsTogether


@pytest.mark.parametrize(
    ("idle_share", "active", "later", "saved"),
    [(1.0, 1, 0, 30.0), (1.0, 1, 20, 15.0), (1.0, 3, 0, 10.0), (1 / 3, 1, 0, 20.0), (0.0, 1, 0, 0.0)],
)
def test_a_smaller_batch_saves_the_time_of_ended_runs(
    idle_share: float, active: int, later: float, saved: float
) -> None:
    """40 seconds are left of four runs' training."""
    training: Any = SimpleNamespace(
        live=SimpleNamespace(idle_share=idle_share),
        active=[*range(active)],
        members=[*range(4)],
        batch=SimpleNamespace(schedule=([0, 500],)),
        step=300,
        steps_per_second=5.0,
    )
    assert BatchTraining._saved_seconds(training, later) == pytest.approx(saved)


def experiments() -> list[Experiment]:
    """Two diverge, two collapse, two train to the end, in an order of their own."""
    common: dict[str, Any] = {"width": 32, "fraction": 0.8, "steps": 60, "evaluations": 12, "snapshots": 4}
    rates = [(1e8, 0.0), (0.2, 0.0), (1e-5, 5e4), (1e8, 0.0), (0.1, 0.0), (1e-5, 5e4)]
    return [
        Experiment("n + m", 11, lr=lr, weight_decay=decay, seed=seed, **common)
        for seed, (lr, decay) in enumerate(rates)
    ]


def test_runs_go_on_in_a_smaller_batch_that_was_compiled_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PLATFORMS, "cpu", dataclasses.replace(GPU, compiler_options={}))
    device = jax.local_devices()[:1]
    whole = train_stored(experiments(), Store(tmp_path / "whole"), devices=device)
    compile_smaller, shrink = BatchTraining._compile_smaller, RunsTogether.shrink
    sizes: list[int] = []

    def compile_now(training: BatchTraining, count: int) -> Future[None]:
        compiled = compile_smaller(training, count)
        wait([compiled])
        return compiled

    def count_runs(live: RunsTogether, runs: list[int]) -> None:
        shrink(live, runs)
        sizes.append(len(live.slots))

    monkeypatch.setattr(batch_training, "SHRINK_SECONDS", -np.inf)
    monkeypatch.setattr(BatchTraining, "_compile_smaller", compile_now)
    monkeypatch.setattr(RunsTogether, "shrink", count_runs)
    fewer = train_stored(experiments(), Store(tmp_path / "fewer"), devices=device)
    assert sizes == sorted(set(sizes), reverse=True)
    assert sizes[-1] == 2
    assert [run.status for run in fewer] == ["diverged", "finished", "collapsed"] * 2
    for one, other in zip(fewer, whole, strict=True):
        assert one.status == other.status
        assert [row["step"] for row in one.rows()] == [row["step"] for row in other.rows()]
        assert one.snapshots == other.snapshots
        assert one.rows()[-1]["train_loss"] == pytest.approx(other.rows()[-1]["train_loss"], rel=1e-4)
        np.testing.assert_allclose(one.network.w_in, other.network.w_in, rtol=1e-3, atol=1e-5)


def test_a_batch_stays_as_it_is_where_a_smaller_one_does_not_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PLATFORMS, "cpu", dataclasses.replace(GPU, compiler_options={}))
    monkeypatch.setattr(batch_training, "SHRINK_SECONDS", -np.inf)

    def refuse(live: RunsTogether, count: int) -> None:
        raise RuntimeError("RESOURCE_EXHAUSTED")

    monkeypatch.setattr(RunsTogether, "compile_smaller", refuse)
    monkeypatch.setattr(RunsTogether, "shrink", refuse)
    runs = train_stored(experiments(), Store(tmp_path), devices=jax.local_devices()[:1])
    assert [run.status for run in runs] == ["diverged", "finished", "collapsed"] * 2
