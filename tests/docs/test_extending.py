"""Adding an architecture, a kind of task and a measure, each in a few lines: all else works with them unchanged."""

import csv
import io
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from modgrok import cli
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Store
from modgrok.experiments.sweeps import Sweep
from modgrok.experiments.sweeps.execution import run_sweep
from modgrok.experiments.trainer import train_stored
from modgrok.networks import ARCHITECTURES, Architecture, Cost, outputs, register
from modgrok.networks.layers import rows_of
from modgrok.tasks import Task, families
from modgrok.tasks.families import FAMILIES, Family
from modgrok.training.recording import MEASURES, record

# What a user writes: an architecture, a kind of task, a measure.


@dataclass(frozen=True)
class Sum(Architecture):
    """One vector of scores for each value of each variable, added up."""

    name: ClassVar[str] = "sum"
    summary: ClassVar[str] = "scores of single values, added up"

    width: int = 1

    def init(self, key, signature, scale, dtype):
        import jax

        keys = jax.random.split(key, len(signature.sizes))
        shapes = [(size, signature.outputs) for size in signature.sizes]
        return {f"scores.{s}": scale * jax.random.normal(keys[s], shape, dtype) for s, shape in enumerate(shapes)}

    def apply(self, parameters, inputs, signature, noise=None):
        return sum(rows_of(parameters[f"scores.{s}"], inputs[:, s]) for s in range(len(signature.sizes)))

    def cost(self, signature):
        return Cost(signature.outputs, sum(signature.sizes) * signature.outputs, 1)


def _larger(text, modulus):
    size = int(text.partition(":")[2])
    return Task(text, (size, size), 2, np.greater.outer(np.arange(size), np.arange(size)).astype(int))


def largest_score(network, data):
    return abs(network.parameters["scores.0"]).max()


def setup_module():
    register(Sum)
    families.register(Family("larger", "larger:[0-9]+", _larger, "larger:9, whether n > m"))
    record("largest_score", "sum")(largest_score)


# To here.

SETTINGS = {"network": "sum", "lr": 0.1, "steps": 40, "evaluations": 8, "snapshots": 3, "record": ("largest_score",)}
LONG = SETTINGS | {"steps": 400_000, "evaluations": 30}


def teardown_module():
    ARCHITECTURES.pop("sum")
    FAMILIES.pop("larger")
    MEASURES.pop("largest_score")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    (run,) = train_stored([Experiment("larger:9", **SETTINGS)], Store(tmp_path_factory.mktemp("runs")))
    return run


def test_they_train(run):
    assert run.status == "finished"
    assert (run.network.architecture, run.network.signature.sizes) == (Sum(), (9, 9))
    assert run.result.train_accuracy > 0.9
    assert outputs(run.network, np.array([[8, 0]])).argmax() == 1
    assert run.experiment.modulus is None
    assert run.snapshot(0).parameters["scores.0"].shape == (9, 2)


def test_the_measure_is_in_curves_results_and_exports(run, capsys):
    found = run.history["largest_score"]
    assert found.shape == run.history["step"].shape
    for step in run.snapshots:
        expected = np.abs(run.snapshot(step).parameters["scores.0"]).max()
        assert found[run.history["step"].tolist().index(step)] == pytest.approx(expected, rel=1e-6)
    assert run.result.measures == {"largest_score": found[-1]}
    assert run.result["largest_score"] == found[-1]
    cli.main(["runs", "export", "--store", str(run.folder.parent)])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [float(row["largest_score"]) for row in rows] == found.tolist()


def test_they_are_listed_and_shown(run, capsys):
    for arguments in (["list"], ["show", run.id]):
        cli.main(["runs", *arguments, "--store", str(run.folder.parent)])
        text = capsys.readouterr().out
        assert run.id in text
        assert "larger:9" in text


def test_the_train_command_takes_them(run, capsys):
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items() if name != "record"]
    cli.main(["train", "larger:9", *flags, "--record", "largest_score", "--store", str(run.folder.parent)])
    captured = capsys.readouterr()
    assert "in the store already" in captured.err
    assert run.id in captured.out


def test_they_sweep(tmp_path):
    sweep = Sweep(Experiment("larger:9", **SETTINGS | {"snapshots": 0}), ["seed=0:2", "task=larger:5,larger:9"])
    table = run_sweep(sweep, tmp_path)
    assert table["status"] == ["finished"] * 4
    assert all(value > 0 for value in table["largest_score"])
    assert len(set(table["largest_score"])) == 4


PROGRAM = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import test_extending as extension
extension.setup_module()
from modgrok.experiments import Experiment, Store, batch_training
from modgrok.experiments.trainer import train_stored
batch_training.CHECKPOINT_SECONDS = batch_training.CALL_SECONDS = 0.02
batch_training.CHECKPOINT_SHARE = 1
train_stored([Experiment("larger:9", **extension.LONG)], Store(sys.argv[1]))
"""


def test_they_resume_after_a_kill(tmp_path):
    """To the same bits as a run that was not killed."""
    (whole,) = train_stored([Experiment("larger:9", **LONG)], Store(tmp_path / "whole"))
    store = Store(tmp_path / "killed")
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=1"
    environment = os.environ | {"XLA_FLAGS": flags}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(store.folder)], env=environment)
    run = store.run(whole.id)
    while (run.read_checkpoint() or (0,))[0] == 0 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert 0 < run.read_checkpoint()[0] < LONG["steps"]
    (resumed,) = train_stored([Experiment("larger:9", **LONG)], store)
    assert resumed.rows() == whole.rows()
    for name, w in whole.network.parameters.items():
        np.testing.assert_array_equal(resumed.network.parameters[name], w)


def test_measures_that_cannot_be_are_sentences(tmp_path):
    store = Store(tmp_path)
    for name in ("train_loss", "norm_x", "Two Words"):
        with pytest.raises(ModgrokError, match="A measure's name"):
            record(name)
    with pytest.raises(ModgrokError, match="no measure 'nothing'"):
        train_stored([Experiment("n+m", 5, width=4, steps=1, record=("nothing",))], store)
    with pytest.raises(ModgrokError, match="largest_score is one of sum networks, and this one is two-layer"):
        train_stored([Experiment("n+m", 5, width=4, steps=1, record=("largest_score",))], store)
