"""Small experiments of one shape, so that all tests share its compilation, and the ways to compare their runs."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from modgrok.experiments import Experiment, Observer, Store
from modgrok.experiments.train import train_stored

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
    assert weights(one.network) == weights(other.network)
    assert one.snapshots == other.snapshots
    for step in one.snapshots:
        assert weights(one.snapshot(step)) == weights(other.snapshot(step))
    assert dict(one.result) | {"seconds": 0} == dict(other.result) | {"seconds": 0}


PROGRAM = """
import dataclasses, json, os, signal, sys
from modgrok.experiments import Experiment, Observer, Store, batch_training, run_writer
from modgrok.experiments.train import train_stored
from modgrok.training.program import PLATFORMS

folder, options, *settings = map(json.loads, sys.argv[1:])
killed_at = options.get("killed_at", float("inf"))
cpu = PLATFORMS["cpu"]
PLATFORMS["cpu"] = dataclasses.replace(cpu, block_floats=options.get("block_floats", cpu.block_floats))
batch_training.CHECKPOINT_SECONDS = 0 if "killed_at" in options else 0.05
run_writer.SHARE = float("inf") if "killed_at" in options else 0.05
batch_training.CALL_SECONDS = 0.02


class Counter(Observer):
    steps = 0

    def advanced(self, members, step, run_steps):
        self.steps += run_steps
        if step >= killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def remark(self, sentence):
        print(sentence, file=sys.stderr)


counter = Counter()
print("ready", flush=True)
train_stored([Experiment(**s) for s in settings], Store(folder), counter)
print(counter.steps, flush=True)
"""


def start(store, *experiments, devices=1, **options):
    """A process that trains experiments into a store."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            PROGRAM,
            *map(json.dumps, (str(store.folder), options, *(e.as_dict() for e in experiments))),
        ],
        env=os.environ | {"XLA_FLAGS": flags},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process):
    """Its output, the steps that it trained, and what it said beside."""
    out, err = process.communicate()
    assert process.returncode == 0, err
    return int(out.split()[-1]), err


def weights(network):
    return {name: np.asarray(value).tobytes() for name, value in network.parameters.items()}


@pytest.fixture(scope="session")
def lab():
    """The names of this file."""
    return SimpleNamespace(small=small, Listener=Listener, assert_same=assert_same, start=start, wait_for=wait_for)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "runs")


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """An uninterrupted run of the small experiment, trained alone; not to be changed."""
    (run,) = train_stored([small()], Store(tmp_path_factory.mktemp("trained")))
    return run
