"""A store of format 1, made by the code that wrote it: every reading command opens it, and its runs are not trained
again."""

import csv
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from modgrok import cli
from modgrok.experiments import Experiment, Store, batch_training
from modgrok.experiments.sweeps.record import find_sweep
from modgrok.experiments.sweeps.results import Results
from modgrok.experiments.trainer import train_stored

OLD = Path(__file__).parents[1] / "data" / "format_1"
SMALL = {"modulus": 5, "width": 4, "fraction": 0.7, "steps": 20, "evaluations": 6, "snapshots": 2}
GD, NORMALIZED, UNFINISHED, TABLE = "4a1c3f004a3f", "1dfe25e1a29a", "705d07a861ca", "d65f8b7ed194"
SWEPT = {"9133340f2293", "738d629cebb8"}
SWEEP = "df7c876b58c4"
ENDED = {GD, NORMALIZED, TABLE, *SWEPT}


@pytest.fixture
def old(tmp_path):
    """A copy: commands take locks."""
    return Path(shutil.copytree(OLD, tmp_path / "runs"))


@pytest.fixture
def ask(old, capsys):
    def ask(*arguments):
        cli.main([*arguments, "--store", str(old), "--json"])
        return json.loads(capsys.readouterr().out)

    return ask


def test_all_runs_are_listed_as_what_they_are(ask, old, capsys):
    rows = {row["run"]: row for row in ask("runs", "list")["runs"]}
    assert {name: row["status"] for name, row in rows.items()} == dict.fromkeys(ENDED, "finished") | {
        UNFINISHED: "unfinished"
    }
    assert rows[GD]["experiment"]["optimizer"] == "gd"
    assert rows[NORMALIZED]["experiment"]["batch_norm"] is True
    cli.main(["runs", "list", "--store", str(old)])
    text = capsys.readouterr().out
    assert "damaged" not in text
    assert all(name in text for name in rows)


@pytest.mark.parametrize("name", [GD, NORMALIZED, UNFINISHED, TABLE])
def test_a_run_is_shown(ask, old, capsys, name):
    shown = ask("runs", "show", name)
    assert shown["environment"]["jax"] == "0.10.2"
    if name == UNFINISHED:
        assert shown["result"] is None
    else:
        written = json.loads((OLD / name / "result.json").read_text())
        assert {key: value for key, value in shown["result"].items() if key in written} == written
        assert shown["result"]["grokked_after"] is None
        assert shown["snapshots"] == [0, 20]
    cli.main(["runs", "show", name, "--store", str(old)])
    assert name in capsys.readouterr().out


def test_curves_are_exported(old, capsys):
    cli.main(["runs", "export", "--store", str(old)])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["run"] for row in rows} == ENDED | {UNFINISHED}
    written = [json.loads(line) for line in (OLD / GD / "curves.jsonl").read_text().splitlines()]
    exported = [row for row in rows if row["run"] == GD]
    assert [float(row["test_loss"]) for row in exported] == [row["test_loss"] for row in written]


@pytest.mark.parametrize("name", [GD, NORMALIZED, TABLE])
def test_networks_are_inspected(ask, name):
    stored = json.loads((OLD / name / "result.json").read_text())
    found = ask("inspect", name)
    assert (found["run"], found["step"]) == (name, 20)
    accuracy = 0.72 * stored["train_accuracy"] + 0.28 * stored["test_accuracy"]  # 18 of 25 inputs are trained on
    assert found["accuracy"] == pytest.approx(accuracy, abs=1e-6)
    assert ask("inspect", name, "--step", "0")["step"] == 0


def test_a_normalized_network_has_its_statistics(old):
    network = Store(old).find(NORMALIZED).network
    assert network.normalization.mean.shape == (4,)
    assert network.batch_norm


def test_sweeps_are_listed_and_shown(ask):
    (listed,) = ask("sweep", "list")["sweeps"]
    assert (listed["id"], listed["runs"]) == (SWEEP, 2)
    shown = ask("sweep", "show", SWEEP, "--outcome", "test_accuracy")
    assert shown["x"] == "seed"
    assert [cell["with_value"] for cell in shown["cells"][0]] == [1, 1]


def test_a_sweep_finds_its_runs(old):
    store = Store(old)
    results = Results(find_sweep(store, SWEEP).experiments, store)
    assert set(results.ids) == SWEPT
    assert results.pending == []


def test_what_has_ended_is_returned_and_not_trained(old, monkeypatch):
    monkeypatch.setattr(batch_training.BatchTraining, "run", None)
    np.save(old.parent / "table.npy", np.load(next((old / "tables").iterdir())))
    experiments = [
        Experiment("n + m", optimizer="gd", lr=100.0, **SMALL),
        Experiment("n*m", batch_norm=True, lr=0.1, **SMALL),
        Experiment(str(old.parent / "table.npy"), lr=0.1, **SMALL),
    ]
    runs = train_stored(experiments, Store(old))
    assert [run.id for run in runs] == [GD, NORMALIZED, TABLE]
    assert all(run.status == "finished" for run in runs)


def test_the_train_command_says_that_it_has_the_run(old, capsys):
    settings = [f"--{name}={value}" for name, value in SMALL.items()]
    cli.main(["train", "n + m", "--optimizer", "gd", "--lr", "100", *settings, "--store", str(old)])
    captured = capsys.readouterr()
    assert "in the store already" in captured.err
    assert GD in captured.out


def test_an_unfinished_run_is_trained_anew_beside_the_old_one(old):
    """Its checkpoint cannot be gone on with; the old folder stays as it is."""
    before = {path.name: path.read_bytes() for path in (old / UNFINISHED).glob("*.*")}
    (run,) = train_stored([Experiment("n + m", optimizer="momentum", seed=3, **SMALL)], Store(old))
    assert run.id != UNFINISHED
    assert run.status == "finished"
    assert run.rows()[0]["step"] == 0
    assert {path.name: path.read_bytes() for path in (old / UNFINISHED).glob("*.*")} == before
    old_rows = {row["step"]: row for row in Store(old).find(UNFINISHED).rows()}
    new_rows = {row["step"]: row for row in run.rows()}
    assert all(new_rows[step]["train_loss"] == pytest.approx(row["train_loss"]) for step, row in old_rows.items())
