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


def test_two_devices_that_share_a_run_do_not_change_a_bit_and_more_round_differently(lab, store):
    """Alone it is shared, in a batch each device has a run of its own."""
    pair = [lab.small(modulus=29, dropout=0.2, seed=seed, steps=8, evaluations=4) for seed in (0, 1)]
    first, blocks = pair[0].resolve(), {"block_floats": SIX_BLOCKS * pair[0].width}
    lab.wait_for(lab.start(store, *pair, devices=2, **blocks))
    batched, alone = store.find(first.id), {}
    for devices, shared_by in ((1, 1), (2, 2), (DEVICES, 6)):
        place = Store(store.folder.parent / f"alone on {devices}")
        lab.wait_for(lab.start(place, first, devices=devices, **blocks))
        (alone[devices],) = place
        assert alone[devices].settings["environment"]["shared_by"] == shared_by
    lab.assert_same(alone[1], batched)
    lab.assert_same(alone[2], batched)
    rows = [[list(row.values()) for row in alone[devices].rows()] for devices in (1, DEVICES)]
    np.testing.assert_allclose(*rows, rtol=1e-4)


def test_a_run_is_shared_as_it_was_begun(lab, store):
    """On eight devices: one of a batch, which goes on alone, and one that is alone from the beginning."""
    pair = [lab.small(modulus=29, seed=seed) for seed in (0, 1)]
    name = pair[0].resolve().id
    eight = {"devices": DEVICES, "block_floats": SIX_BLOCKS * pair[0].width}
    for begun, shared_by in ((pair, 1), (pair[:1], 6)):
        whole, broken = (Store(store.folder.parent / f"{word} {shared_by}") for word in ("whole", "broken"))
        lab.wait_for(lab.start(whole, *begun, **eight))
        process = lab.start(broken, *begun, **eight, killed_at=30)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        steps, _ = lab.wait_for(lab.start(broken, pair[0], **eight))
        assert 0 < steps < 60
        run = broken.find(name)
        assert run.settings["environment"]["shared_by"] == shared_by
        lab.assert_same(run, whole.find(name))
