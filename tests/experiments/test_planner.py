"""How experiments are grouped into batches."""

from dataclasses import dataclass

import pytest

from modgrok.experiments import Store, planner
from modgrok.experiments.planner import batch_limit, for_two_at_once, plan_experiments
from modgrok.training import devices
from modgrok.training.devices import cores


@dataclass(frozen=True)
class Device:
    platform: str = "cpu"
    memory: int = 1 << 30

    def memory_stats(self):
        return {"bytes_limit": self.memory}


@pytest.fixture
def planned(lab):
    return lambda **changes: lab.small(**changes).resolve()


def plan_on(members, devices):
    return plan_experiments(members, Store(), devices[0].platform, batch_limit(devices))


def sizes(found):
    return sorted(len(batch.members) for batch in found)


def test_what_may_differ_within_a_batch(planned):
    changes = [
        {},
        {"seed": 1},
        {"lr": 0.1},
        {"weight_decay": 0.5},
        {"init_scale": 2.0},
        {"split_seed": 3},
        {"until": 5},
    ]
    changes += [{"task": "n * m"}, {"threshold": 0.9}, {"beta1": 0.5}, {"sampling": "balanced"}]
    assert sizes(plan_on([planned(**change) for change in changes], [Device()])) == [len(changes)]


@pytest.mark.parametrize("platform", ["cpu", "gpu"])
def test_runs_of_a_batch_may_have_different_numbers_of_tested_examples(planned, platform):
    changes = [{"task": task, "examples": 20} for task in ("n + m", "n / m")]
    assert sizes(plan_on([planned(**change) for change in changes], [Device(platform)])) == [2]


def test_training_sets_of_all_lengths_share_a_batch_on_a_cpu(planned):
    fractions = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    (batch,) = plan_on([planned(fraction=fraction) for fraction in fractions], [Device()])
    rows = [member.rows for member in batch.members]
    assert batch.padded_shape.rows == max(rows)
    assert batch.step_flops == sum(batch.program.step_flops(length) for length in rows)
    pairs = plan_experiments(batch.experiments, Store(), "cpu", lambda *_: 2)
    assert [pair.padded_shape.rows for pair in pairs] == sorted(rows)[::-2]
    unequal = [planned(fraction=fraction, batch_norm=True) for fraction in fractions]
    assert sizes(plan_on(unequal, [Device()])) == [1] * len(fractions)


@pytest.mark.parametrize(
    "change",
    [
        {"width": 33},
        {"modulus": 13},
        {"activation": "relu"},
        {"loss": "cross_entropy"},
        {"optimizer": "gd"},
        {"steps": 61},
        {"evaluations": 13},
        {"snapshots": 3},
        {"precision": "float64"},
        {"batch_size": 16},
        {"dropout": 0.1},
        {"batch_norm": True},
        {"parametrization": "standard"},
        {"parent": "0123456789ab@0"},
    ],
    ids=str,
)
def test_what_may_not(planned, change):
    assert sizes(plan_on([planned(), planned(**change)], [Device()])) == [1, 1]


@pytest.mark.parametrize(("optimizer", "kin"), [("gd", "momentum"), ("momentum", "gd"), ("adam", "adamw")])
def test_optimizers_of_one_family_train_together(planned, optimizer, kin):
    pair = [planned(optimizer=name, steps=60) for name in (optimizer, kin)]
    assert sizes(plan_on(pair, [Device()])) == [2]


def test_lengths_are_padded_on_a_gpu(planned, monkeypatch):
    """Near ones always, others where a compilation of their own would take longer."""
    members = [planned(fraction=fraction) for fraction in (0.3, 0.7, 0.8, 0.6)]
    (batch,) = plan_on(members, [Device("gpu")])
    assert batch.padded_shape.rows > batch.members[0].rows == 97
    monkeypatch.setattr(planner, "COMPILE_SECONDS", 0.0)
    assert sizes(plan_on(members, [Device("gpu")])) == [1, 3]


@pytest.mark.parametrize("platform", ["cpu", "gpu"])
def test_minibatches_are_drawn_from_training_sets_of_all_lengths(planned, platform):
    few, many = (planned(batch_size=16, fraction=fraction) for fraction in (0.3, 0.8))
    (batch,) = plan_on([few, many], [Device(platform)])
    longest, shortest = (member.rows for member in batch.members)
    assert batch.padded_shape.rows == longest > shortest


def test_batches_are_cut_to_fit_memory(planned):
    members = [planned(seed=seed) for seed in range(20)]
    (whole,) = plan_on(members, [Device("gpu")])
    one = devices.run_bytes(whole.program, whole.padded_shape, whole.evaluated)
    for memory, devices_, expected in (
        (8 * one, 1, [4, 4, 4, 4, 4]),
        (8 * one, 2, [6, 7, 7]),
        (0, 1, [1] * 20),
    ):
        found = plan_on(members, [Device("gpu", memory)] * devices_)
        assert sizes(found) == expected
        assert {member.id for batch in found for member in batch.members} == {m.id for m in members}


@pytest.mark.parametrize(("runs", "expected"), [(5, [5, 5]), (1, [2, 4, 4])])
def test_cpu_batches_are_cut_to_short_calls(planned, monkeypatch, runs, expected):
    members = [planned(seed=seed) for seed in range(10)]
    (whole,) = plan_on(members, [Device()])
    monkeypatch.setattr(devices, "BATCH_FLOATS", runs * whole.padded_shape.rows * whole.program.architecture.width)
    assert sizes(plan_on(members, [Device()])) == expected


def test_cores_are_those_this_process_may_use(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {3, 5}, raising=False)
    assert cores() == 2
    monkeypatch.delattr("os.sched_getaffinity")
    assert cores() >= 1


def test_short_batches_train_evenly_beside_long_ones_and_children_last(planned):
    long = [planned(steps=steps) for steps in (200_000, 100_000)]
    short = [planned(steps=1000 + i) for i in range(3)]
    child = planned(steps=10, parent="0123456789abcdef@40")
    experiments = [child, *short, *long]
    batches = plan_on(experiments, [Device("gpu")])
    steps = [batch.experiments[0].steps for batch in for_two_at_once(batches)]
    assert steps == [200_000, 1000, 1001, 100_000, 1002, 10]
    assert for_two_at_once(batches[:2]) == batches[1:2] + batches[:1]
    assert for_two_at_once([]) == []
