"""Other processes: killed at any moment, two at once, eight devices."""

import signal

import numpy as np

from modgrok.experiments import Store
from modgrok.experiments.train import train_stored

DEVICES = 8
SIX_BLOCKS = 160
"""Floats of a block for each hidden unit at which the training set modulo 29 is six blocks of 128 examples."""


def test_kills_do_not_change_a_bit(lab, store):
    """Three times, the first before there is a checkpoint, and once in the midst of whatever it does then."""
    experiment = lab.small(batch_size=32, dropout=0.2, steps=600, evaluations=60, snapshots=20)
    (whole,) = train_stored([experiment], Store(store.folder.parent / "whole"))
    for step in (0, 50, 400):
        process = lab.start(store, experiment, killed_at=step)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    process = lab.start(store, experiment)
    process.stdout.readline()
    process.kill()
    process.communicate()
    steps, remarks = lab.wait_for(lab.start(store, experiment))
    assert remarks == ""
    assert steps < experiment.steps, "it goes on from a checkpoint"
    (run,) = store
    lab.assert_same(run, whole)
    assert not list(run.folder.rglob(".*"))


def test_two_processes_share_a_run(lab, store, trained):
    both = [lab.start(store, lab.small()), lab.start(store, lab.small())]
    steps, remarks = zip(*map(lab.wait_for, both), strict=True)
    assert sorted(steps) == [0, 60]
    assert "damaged" not in "".join(remarks)
    (run,) = store
    lab.assert_same(run, trained)


def test_a_waiting_process_says_so_and_takes_the_result(lab, store, trained):
    from modgrok.disk import Lock

    lock = Lock(store.folder / trained.id)
    lock.acquire()
    process = lab.start(store, lab.small())
    assert process.stderr.readline() == f"Run {trained.id} is being trained by another process; waiting for it.\n"
    train_all_holding(lab, store, lock)
    assert lab.wait_for(process) == (0, "")


def train_all_holding(lab, store, lock):
    """Trains what the lock is held for, and lets go."""
    elsewhere = Store(store.folder.parent / "elsewhere")
    (run,) = train_stored([lab.small()], elsewhere)
    for path in sorted(run.folder.rglob("*")):
        if path.is_file() and path.name != "lock":
            target = store.folder / run.id / path.relative_to(run.folder)
            target.parent.mkdir(exist_ok=True)
            path.rename(target)
    lock.release()


def test_runs_spread_over_eight_devices_are_the_runs_alone(lab, store, trained):
    """Ten runs on eight devices: two of them wait for a thread."""
    experiments = [lab.small(seed=seed) for seed in range(10)]
    steps, _ = lab.wait_for(lab.start(store, *experiments, devices=DEVICES))
    assert steps == 600
    lab.assert_same(store.find(trained.id), trained)
    (last,) = train_stored([lab.small(seed=9)], Store(store.folder.parent / "alone"))
    lab.assert_same(store.find(last.id), last)


def test_a_run_is_shared_as_it_was_begun_and_two_devices_do_not_change_a_bit(lab, store):
    """On eight devices: one of a batch, in which each has a device of its own and which goes on alone, and one that is
    alone from the beginning, which more devices than two share and round differently."""
    pair = [lab.small(modulus=29, dropout=0.2, seed=seed) for seed in (0, 1)]
    name, blocks = pair[0].resolve().id, {"block_floats": SIX_BLOCKS * pair[0].width}

    def trained_on(devices, *experiments, place, **options):
        place = Store(store.folder.parent / place)
        process = lab.start(place, *experiments, devices=devices, **blocks, **options)
        if "killed_at" in options:
            process.communicate()
            assert process.returncode == -signal.SIGKILL
            return None
        steps, _ = lab.wait_for(process)
        return place.find(name), steps

    found = {}
    for begun, shared_by in ((pair, 1), (pair[:1], 6)):
        whole, _ = trained_on(DEVICES, *begun, place=f"whole {shared_by}")
        trained_on(DEVICES, *begun, place=f"broken {shared_by}", killed_at=30)
        run, steps = trained_on(DEVICES, pair[0], place=f"broken {shared_by}")
        assert 0 < steps < 60
        assert run.settings["environment"]["shared_by"] == shared_by
        lab.assert_same(run, whole)
        found[shared_by] = whole
    two, _ = trained_on(2, pair[0], place="alone on two")
    assert two.settings["environment"]["shared_by"] == 2
    lab.assert_same(two, found[1])
    rows = [[list(row.values()) for row in run.rows()] for run in (two, found[6])]
    np.testing.assert_allclose(*rows, rtol=1e-3)
