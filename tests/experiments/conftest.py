"""Small experiments of one shape, so that all tests share its compilation, and the ways to compare their runs."""

from types import SimpleNamespace

import numpy as np
import pytest

from modgrok.experiments import Experiment, Observer, Store
from modgrok.experiments.trainer import train_stored

SMALL = {
    "modulus": 11,
    "width": 32,
    "fraction": 0.8,
    "lr": 0.2,
    "weight_decay": 0.0,
    "steps": 60,
    "evaluations": 12,
    "snapshots": 4,
}


def small(task="n + m", **changes):
    return Experiment(task, **(SMALL | changes))


class Listener(Observer):
    """Remembers what it hears, and asks to stop when it has heard of that many calls."""

    def __init__(self, stop_after=None):
        self.remarks, self.rows, self.kept_steps, self.batches = [], [], [], []
        self.calls, self.stop_after = 0, stop_after

    def planned(self, batches):
        self.batches += batches

    def advanced(self, members, step, run_steps):
        self.calls += 1

    def measured(self, run, row):
        self.rows.append((run.id, row["step"]))

    def kept(self, run, step, network):
        self.kept_steps.append(step)

    def remark(self, sentence):
        self.remarks.append(sentence)

    def stop_requested(self):
        return self.stop_after is not None and self.calls >= self.stop_after


def assert_same(one, other):
    """Bit-equal curves, weights, snapshots and results, except for the time it took."""
    assert one.rows() == other.rows()
    np.testing.assert_array_equal(one.network.w_in, other.network.w_in)
    np.testing.assert_array_equal(one.network.w_out, other.network.w_out)
    assert one.snapshots == other.snapshots
    for step in one.snapshots:
        np.testing.assert_array_equal(one.snapshot(step).w_in, other.snapshot(step).w_in)
    assert dict(one.result) | {"seconds": 0} == dict(other.result) | {"seconds": 0}


@pytest.fixture(scope="session")
def lab():
    """The names of this file."""
    return SimpleNamespace(small=small, Listener=Listener, assert_same=assert_same)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "runs")


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """An uninterrupted run of the small experiment, trained alone; not to be changed."""
    (run,) = train_stored([small()], Store(tmp_path_factory.mktemp("trained")))
    return run
