"""Speed is that of whole steps, whatever the settings make of the weights; equal examples are laid out once."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from modgrok.experiments import Experiment, Store, placement
from modgrok.experiments.placement import measure_speed, place_batch
from modgrok.experiments.planner import plan_here
from modgrok.training.loop import NEVER

WILD: list[dict[str, Any]] = [
    {"lr": 1e30},
    {"init_scale": 1e30},
    {"optimizer": "gd", "lr": 1e30, "weight_decay": 1e30},
    {"weight_decay": 1e30, "update_noise": 1e30, "weight_noise": 1e30},
    {"network": "transformer", "heads": 2, "embedding_lr": 1e30, "lr": 1e-3},
]


@pytest.mark.parametrize("settings", WILD, ids=str)
def test_runs_that_would_diverge_are_measured_standing_still(settings: dict[str, Any], tmp_path: Path) -> None:
    experiment = Experiment("n + m", 5, **{"width": 8, "steps": 20} | settings).resolve()
    (batch,) = plan_here([experiment], Store(tmp_path))

    def diverged(still: bool) -> int:
        placed = place_batch(batch, tuple(jax.local_devices()), still=still)
        placed.begin()
        before = placed.weights([0])[0]
        placed.state, _ = placed.advance(placed.state, 0, 5, measured=False)
        if still:
            for name, now in placed.weights([0])[0].items():
                np.testing.assert_array_equal(now, before[name])
        return int(placed.diverged_at()[0])

    assert diverged(still=True) == NEVER
    assert diverged(still=False) != NEVER
    assert measure_speed(batch).run_steps_per_second > 0


def test_runs_with_the_same_examples_lay_them_out_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    varied: list[dict[str, Any]] = [{}, {"lr": 0.1}, {"seed": 1}, {"seed": 1, "split_seed": 0}, {"wrong_labels": 0.5}]
    experiments = [Experiment("n + m", 5, width=8, steps=20, **{"seed": 0} | more).resolve() for more in varied]
    (batch,) = plan_here(experiments, Store(tmp_path))
    made, run_data = list[Any](), placement.run_data

    def counted(*asked: Any) -> Any:
        made.append(asked)
        return run_data(*asked)

    monkeypatch.setattr(placement, "run_data", counted)
    placed = place_batch(batch, tuple(jax.local_devices()))
    assert len(made) == 3
    for data, member in zip(placed.data_of(range(len(varied))), batch.members, strict=True):
        alone = run_data(batch.program, member.task, member.examples, batch.padded_shape)
        jax.tree.map(np.testing.assert_array_equal, data, alone)
