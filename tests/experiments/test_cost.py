"""What experiments are said to take, before any of them is trained."""

import pytest

from modgrok.experiments import Experiment
from modgrok.experiments.cost import GPU_STEP_SECONDS, gpu_seconds, work


def parts(count, **settings):
    some = [
        Experiment("n + m", seed=seed, **{"modulus": 11, "width": 16} | settings).resolve() for seed in range(count)
    ]
    return [work(experiment, experiment.load_task()) for experiment in some]


def test_on_a_gpu_steps_follow_each_other_and_runs_of_one_program_train_together():
    alone = gpu_seconds(parts(1, steps=1000))
    assert alone == pytest.approx(1000 * GPU_STEP_SECONDS)
    assert gpu_seconds(parts(3, steps=1000)) == alone
    assert gpu_seconds(parts(1, steps=1000) + parts(1, steps=1000, dropout=0.1)) == pytest.approx(2 * alone)
    assert gpu_seconds([]) == 0


def test_where_there_is_enough_to_do_twice_as_much_takes_twice_as_long():
    large = {"modulus": 97, "width": 500, "steps": 10}
    assert gpu_seconds(parts(200, **large)) == pytest.approx(2 * gpu_seconds(parts(100, **large)))


def test_a_wider_network_takes_longer():
    narrow, wide = (
        work(e, e.load_task()).cpu_seconds for e in (Experiment("n + m", 11, width=n).resolve() for n in (16, 512))
    )
    assert wide > narrow
