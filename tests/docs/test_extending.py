"""Adding an architecture, a kind of task and a measure, each in a few lines: all else works with them unchanged."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import modgrok as mg
from modgrok import cli
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Store
from modgrok.experiments.experiment import known_settings
from modgrok.experiments.sweeps import Sweep
from modgrok.experiments.sweeps.execution import run_sweep
from modgrok.experiments.train import train_stored
from modgrok.networks import ARCHITECTURES, Architecture, Cost, outputs, register
from modgrok.networks.layers import rows_of
from modgrok.setting import Setting, setting
from modgrok.tasks import Task, families
from modgrok.tasks.families import FAMILIES, Family
from modgrok.training import optimizers
from modgrok.training.losses import LOSSES, Loss, cross_entropy
from modgrok.training.optimizers import OPTIMIZERS, SCALINGS, Optimizer
from modgrok.training.recording import MEASURES, record

# What a user writes: an architecture, a kind of task, a measure.


@dataclass(frozen=True)
class Sum(Architecture):
    """One vector of scores for each value of each variable, added up."""

    name: ClassVar[str] = "sum"
    summary: ClassVar[str] = "scores of single values, added up"

    copies: int = setting(1, "Numbers that every score is the sum of", "[1, 9]")
    signed: bool = setting(False, "Subtract the scores of the second variable")

    def init(self, key, signature, scale, dtype):
        import jax

        keys = jax.random.split(key, len(signature.sizes))
        shapes = [(size, signature.outputs, self.copies) for size in signature.sizes]
        return {f"scores.{s}": scale * jax.random.normal(keys[s], shape, dtype) for s, shape in enumerate(shapes)}

    def apply(self, parameters, inputs, signature, noise=None):
        scores = (rows_of(parameters[f"scores.{s}"], inputs[:, s]).sum(axis=-1) for s in range(len(signature.sizes)))
        return sum(-one if self.signed and s == 1 else one for s, one in enumerate(scores))

    def cost(self, signature):
        return Cost(signature.outputs * self.copies, sum(signature.sizes) * signature.outputs * self.copies, 1)


def _larger(text, modulus, margin):
    size = int(text.partition(":")[2])
    return Task(text, (size, size), 2, np.greater.outer(np.arange(size), np.arange(size) + margin).astype(int))


def _tempered(out, answers, count, temperature):
    return cross_entropy(out / temperature, answers, count)


def _clipped(rates):
    import optax

    return optax.stateless(lambda updates, _: {k: u.clip(-rates["most"], rates["most"]) for k, u in updates.items()})


def largest_score(network, data):
    return abs(network.parameters["scores.0"]).max()


def setup_module():
    register(Sum)
    margin = Setting("margin", int, 0, "By how much it has to be larger", "[0, 100]")
    families.register(Family("larger", "larger:[0-9]+", _larger, "larger:9, whether n > m", settings=(margin,)))
    record("largest_score", "sum")(largest_score)
    LOSSES["tempered"] = Loss(_tempered, (Setting("temperature", float, 1.0, "Divides the logits", "(0, inf)"),))
    most = Setting("most", float, 0.1, "The largest entry of a gradient that counts", "(0, inf)")
    optimizers.register("clipped", Optimizer("clipped", 1.0, 100, 1.0, (most,)), _clipped)


# To here.

SETTINGS = {"network": "sum", "copies": 2, "lr": 0.1, "steps": 40, "evaluations": 8, "snapshots": 3}
SETTINGS |= {"record": ("largest_score",)}
LONG = SETTINGS | {"steps": 400, "evaluations": 30}


def teardown_module():
    ARCHITECTURES.pop("sum")
    FAMILIES.pop("larger")
    MEASURES.pop("largest_score")
    LOSSES.pop("tempered")
    OPTIMIZERS.pop("clipped")
    SCALINGS.pop("clipped")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    (run,) = train_stored([Experiment("larger:9", **SETTINGS)], Store(tmp_path_factory.mktemp("runs")))
    return run


def test_they_train(run):
    assert run.status == "finished"
    assert (run.network.architecture, run.network.signature.sizes) == (Sum(copies=2), (9, 9))
    assert run.result.train_accuracy > 0.9
    assert outputs(run.network, np.array([[8, 0]])).argmax() == 1
    assert run.experiment.modulus is None
    assert run.snapshot(0).parameters["scores.0"].shape == (9, 2, 2)


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
    assert {row["copies"] for row in rows} == {"2"}


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
    assert "already in the store" in captured.err
    assert run.id in captured.out


def test_they_sweep(tmp_path):
    sweep = Sweep(Experiment("larger:9", **SETTINGS | {"snapshots": 0}), ["seed=0:2", "task=larger:5,larger:9"])
    table = run_sweep(sweep, tmp_path)
    assert table["status"] == ["finished"] * 4
    assert all(value > 0 for value in table["largest_score"])
    assert len(set(table["largest_score"])) == 4


def test_settings_that_they_bring_are_part_of_the_id_and_checked():
    base = {"network": "sum", "lr": 0.1}
    unset, two = Experiment("larger:9", **base), Experiment("larger:9", **base, copies=2)
    assert (unset.copies, unset.resolve().copies, two.copies) == (None, 1, 2)
    assert unset.id == Experiment("larger:9", **base, copies=1, margin=0, signed=False).id
    others = {"copies": 2}, {"signed": True}, {"margin": 1}, {"loss": "tempered"}, {"optimizer": "clipped"}
    assert len({unset.id, *(Experiment("larger:9", **base | other).id for other in others)}) == 6
    for settings, sentence in [
        ({"copies": 10}, "copies must be at most 9, not 10"),
        ({"copies": "two"}, "copies must be a whole number, not 'two'"),
        ({"coppies": 2}, "did you mean 'copies'"),
        ({"network": "mlp", "copies": 2}, "copies has no effect with network mlp"),
        ({"temperature": 2}, "temperature has no effect with loss cross_entropy"),
        ({"most": 2}, "most has no effect with optimizer adamw"),
        ({"task": "parity:8,2", "margin": 2}, "margin has no effect with task parity"),
    ]:
        with pytest.raises(ModgrokError, match=sentence):
            Experiment(**{"task": "larger:9"} | base | settings).resolve()


def test_no_id_depends_on_what_is_registered_and_not_used(monkeypatch):
    """Neither of an experiment nor of a sweep."""
    sweep = Sweep(Experiment("n + m", 7), ["seed=0:3"])
    before = sweep.id, sweep.experiment.id, sweep.experiment.as_dict()
    monkeypatch.delitem(ARCHITECTURES, "sum")
    again = Sweep(Experiment("n + m", 7), ["seed=0:3"])
    assert (again.id, again.experiment.id, again.experiment.as_dict()) == before
    assert not {"copies", "signed"} & known_settings().keys()


def test_settings_that_they_bring_are_flags_axes_and_columns(tmp_path, capsys):
    small = ["--network=sum", "--steps=5", "--evaluations=2", "--store", str(tmp_path)]
    cli.main(["sweep", "larger:9", "--signed", "--vary", "copies=1,3", "--vary", "margin=0:2", *small, "--json"])
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["copies"], row["margin"], row["signed"]) for row in rows] == [
        (copies, margin, True) for copies in (1, 3) for margin in (0, 1)
    ]
    runs = [mg.load(row["run"], tmp_path) for row in rows]
    assert [run.network.parameters["scores.0"].shape[2] for run in runs] == [1, 1, 3, 3]
    assert [int(run.task.table.sum()) for run in runs] == [36, 28, 36, 28]
    with pytest.raises(SystemExit):
        cli.main(["train", "--help"])
    assert "--copies" in capsys.readouterr().out


def test_losses_and_optimizers_read_the_settings_that_they_bring(tmp_path):
    settings = SETTINGS | {"loss": "tempered", "temperature": 2.0, "optimizer": "clipped", "most": 1e-3, "lr": 1.0}
    (run,) = train_stored([Experiment("larger:9", **settings | {"steps": 1})], Store(tmp_path))
    before, after = run.snapshot(0), run.snapshot(1)
    moved = [np.abs(after.parameters[name] - before.parameters[name]).max() for name in before.parameters]
    assert max(moved) == pytest.approx(1e-3, rel=1e-2)
    examples = run.experiment.split.examples_of(run.task)
    trained = examples.trained
    out = np.asarray(outputs(before, examples.inputs[trained])) / 2
    right = out[np.arange(len(out)), examples.labels[trained]]
    expected = np.mean(np.log(np.exp(out).sum(axis=1)) - right)
    assert run.history["train_loss"][0] == pytest.approx(expected, rel=1e-4)


def test_who_does_not_register_them_is_told_so(run, monkeypatch, capsys):
    monkeypatch.delitem(ARCHITECTURES, "sum")
    with pytest.raises(ModgrokError, match=r"The network 'sum' of run .* is not known here"):
        _ = Store(run.folder.parent).find(run.id).experiment


def test_a_replay_shows_what_the_page_knows_of_them(run, tmp_path):
    mg.replay(run, tmp_path / "replay.html")
    assert run.id in (tmp_path / "replay.html").read_text()


PROGRAM = f"""
import os, signal, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import test_extending as extension
extension.setup_module()
from modgrok.experiments import Experiment, Observer, Store, batch_training, run_writer
from modgrok.experiments.train import train_stored
batch_training.CHECKPOINT_SECONDS, run_writer.SHARE = 0, float("inf")

class Killer(Observer):
    def advanced(self, members, step, run_steps):
        if step > 100:
            os.kill(os.getpid(), signal.SIGKILL)

train_stored([Experiment("larger:9", **extension.LONG)], Store(sys.argv[1]), Killer())
"""


def test_they_resume_after_a_kill(tmp_path):
    """To the same bits as a run that was not killed."""
    (whole,) = train_stored([Experiment("larger:9", **LONG)], Store(tmp_path / "whole"))
    store = Store(tmp_path / "killed")
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=1"
    environment = os.environ | {"XLA_FLAGS": flags}
    killed = subprocess.run([sys.executable, "-c", PROGRAM, str(store.folder)], env=environment)
    assert killed.returncode == -signal.SIGKILL
    run = store.run(whole.id)
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
