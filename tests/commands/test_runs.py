import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import modgrok as mg
from modgrok import cli
from modgrok.commands import runs
from modgrok.disk import Lock
from modgrok.errors import Unknown
from modgrok.experiments import Experiment, Observer, Run, Store
from modgrok.experiments.run import write_settings
from modgrok.experiments.run_writer import RunWriter
from modgrok.experiments.sweeps.record import Record
from modgrok.experiments.sweeps.sweep import Sweep


@pytest.fixture
def store(grokked: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(grokked, tmp_path / "store"))


def only_run(store: Path) -> Run:
    (run,) = Store(store)
    return run


def test_list(run_json: Any, capsys: pytest.CaptureFixture[str], store: Path) -> None:
    listed = run_json("runs", "list", "--store", str(store))
    (row,) = listed["runs"]
    run = only_run(store)
    assert (row["run"], row["status"], row["steps"]) == (run.id, "finished", 150)
    assert row["experiment"]["task"] == "n+m"
    for arguments in (["runs", "list"], ["runs"]):
        cli.main([*arguments, "--store", str(store)])
        text = capsys.readouterr().out
        assert run.id in text
        assert "finished" in text


def test_an_unfinished_run_has_grokked_if_its_curves_have(
    run_json: Any, capsys: pytest.CaptureFixture[str], store: Path
) -> None:
    (finished,) = run_json("runs", "list", "--store", str(store))["runs"]
    (only_run(store).folder / "result.json").unlink()
    (row,) = run_json("runs", "list", "--store", str(store))["runs"]
    assert row["grokked_at"] is not None
    assert row == finished | {"status": "unfinished"}
    RunWriter(only_run(store)).truncate(finished["grokked_after"])
    (row,) = run_json("runs", "list", "--store", str(store))["runs"]
    assert row["grokked_at"] is None


def test_a_piped_list_is_not_cut(store: Path) -> None:
    program = "import sys; from modgrok import cli; cli.main(sys.argv[1:])"
    command = [sys.executable, "-c", program, "runs", "--store", str(store)]
    listed = subprocess.run(command, env={**os.environ, "COLUMNS": "30"}, capture_output=True, text=True, check=True)
    header, row = listed.stdout.splitlines()
    assert header.endswith("grokked at")
    assert row.startswith(f"{only_run(store).id}  n+m ")


def test_an_empty_store(capsys: pytest.CaptureFixture[str], run_json: Any, tmp_path: Path) -> None:
    assert run_json("runs", "list", "--store", str(tmp_path))["runs"] == []
    cli.main(["runs", "list", "--store", str(tmp_path / "absent")])
    assert "no runs" in capsys.readouterr().out


@pytest.mark.parametrize("file", ["experiment.json", "curves.jsonl", "result.json", "network.safetensors"])
def test_damage_is_named_and_does_not_hide_the_rest(
    run_json: Any, capsys: pytest.CaptureFixture[str], store: Path, file: str
) -> None:
    run = only_run(store)
    other = shutil.copytree(run.folder, store / "0123456789ab")
    (other / "experiment.json").unlink()
    (run.folder / file).write_bytes(b"{broken\n")
    rows = run_json("runs", "list", "--store", str(store))["runs"]
    assert {row["run"]: row["status"] for row in rows} == {run.id: "damaged", "0123456789ab": "damaged"}
    cli.main(["runs", "list", "--store", str(store)])
    text = capsys.readouterr().out
    assert f"{run.id} is damaged: " in text
    assert file in text
    run_json("runs", "remove", run.id, "0123456789ab", "--yes", "--store", str(store))
    assert run_json("runs", "list", "--store", str(store))["runs"] == []


@pytest.mark.parametrize(("setting", "name"), [("network", "bilinear"), ("activation", "softsign"), ("task", "max:20")])
def test_a_run_of_something_unknown_is_sound_and_does_not_hide_the_rest(
    run_json: Any, capsys: pytest.CaptureFixture[str], store: Path, setting: str, name: str
) -> None:
    run, own = only_run(store), store / "0123456789ab"
    others = {"modulus": None, "cap": 10} if setting == "task" else {}
    write_settings(own, run.experiment.as_dict() | {setting: name} | others, {})
    assert [one.id for one in mg.runs(store, modulus=run.experiment.modulus)] == [run.id]
    rows = run_json("runs", "list", "--store", str(store))["runs"]
    assert {row["run"]: row["status"] for row in rows} == {run.id: "finished", own.name: "unknown"}
    cli.main(["runs", "list", "--store", str(store)])
    assert f"The {setting} '{name}' of run {own.name} is not known here" in capsys.readouterr().out
    cli.main(["runs", "export", "--store", str(store)])
    exported = capsys.readouterr()
    assert {row["run"] for row in csv.DictReader(io.StringIO(exported.out))} == {run.id}
    assert f"'{name}' of run {own.name} is not known here" in exported.err
    assert "left out" in exported.err
    with pytest.raises(SystemExit) as stop:
        cli.main(["runs", "export", own.name, "--store", str(store)])
    assert stop.value.code == 2
    with pytest.raises(Unknown):
        Store(store).repair(Run(own), Observer())
    assert (own / "experiment.json").exists()


def test_a_run_that_is_about_to_begin_is_not_damaged(run_json: Any, store: Path) -> None:
    lock = Lock(store / "0123456789ab")
    assert lock.acquire()
    assert len(run_json("runs", "list", "--store", str(store))["runs"]) == 1
    lock.release()


def test_show(run_json: Any, capsys: pytest.CaptureFixture[str], store: Path) -> None:
    run = only_run(store)
    shown = run_json("runs", "show", run.id, "--store", str(store))
    assert shown["experiment"] == run.experiment.as_dict()
    assert shown["result"] == dict(run.result)
    assert shown["snapshots"][0] == 0
    assert shown["environment"]["jax"]
    cli.main(["runs", "show", "--store", str(store)])
    assert "learning rate 0.1" in capsys.readouterr().out
    (run.folder / "result.json").unlink()
    cli.main(["runs", "show", "--store", str(store)])
    assert "unfinished at step 150" in capsys.readouterr().out


def test_export_csv(capsys: pytest.CaptureFixture[str], run_json: Any, store: Path, tmp_path: Path) -> None:
    run = only_run(store)
    cli.main(["runs", "export", "--store", str(store)])
    printed = capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert {row["run"] for row in rows} == {run.id}
    assert [float(row["test_accuracy"]) for row in rows] == run.history["test_accuracy"].tolist()
    path = tmp_path / "curves.csv"
    written = run_json("runs", "export", run.id, "--out", str(path), "--store", str(store))
    assert written == {"format": "csv", "out": str(path), "runs": [run.id]}
    assert path.read_text() == printed


def test_export_parquet(store: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    run, path = only_run(store), tmp_path / "curves.parquet"
    cli.main(["runs", "export", "--format", "parquet", "--out", str(path), "--store", str(store)])
    table = parquet.read_table(path)
    assert table["step"].to_pylist() == run.history["step"].tolist()
    assert json.loads(table.schema.metadata[b"modgrok"])[run.id] == run.experiment.as_dict()


def test_export_tensorboard(capsys: pytest.CaptureFixture[str], store: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    run = only_run(store)
    arguments = ["runs", "export", "--format", "tensorboard", "--out", str(tmp_path / "tb"), "--store", str(store)]
    cli.main(arguments)
    (events,) = (tmp_path / "tb" / run.id).iterdir()
    assert b"test_accuracy" in events.read_bytes()
    with pytest.raises(SystemExit):
        cli.main(arguments)
    assert "name another folder" in capsys.readouterr().err


def test_a_run_in_training_is_not_removed(capsys: pytest.CaptureFixture[str], run_json: Any, store: Path) -> None:
    run = only_run(store)
    lock = Lock(run.folder)
    assert lock.acquire()
    with pytest.raises(SystemExit) as ended:
        cli.main(["runs", "remove", run.id, "--yes", "--store", str(store)])
    assert ended.value.code == 2
    assert "being trained" in capsys.readouterr().err
    lock.release()
    assert run_json("runs", "remove", run.id[:6], "--yes", "--store", str(store)) == {"removed": [run.id]}
    assert not run.folder.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["remove"], "needs a RUN: modgrok runs remove last"),
        (["remove", "ffffffffffff", "--yes"], "There is no run"),
        (["export", "--format", "parquet"], "--out"),
        (["export", "--json"], "--out"),
        (["show", "nothing"], "There is no run"),
    ],
)
def test_mistakes_are_sentences(
    capsys: pytest.CaptureFixture[str], store: Path, arguments: list[str], words: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["runs", *arguments, "--store", str(store)])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_runs_are_removed_after_a_yes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, store: Path
) -> None:
    with pytest.raises(SystemExit):
        cli.main(["runs", "remove", "last", "--store", str(store)])
    assert "pass --yes" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", type("Terminal", (), {"isatty": lambda self: True})())
    for answer, left in (("n", 1), ("y", 0)):
        monkeypatch.setattr("builtins.input", lambda answer=answer: answer)
        cli.main(["runs", "remove", "last", "--store", str(store)])
        assert len(list(store.glob("*/result.json"))) == left


def test_runs_are_packed_named_replayed_and_unpacked(run_json: Any, store: Path, tmp_path: Path) -> None:
    place = ("--store", str(store))
    run = only_run(store)
    named = run_json("runs", "label", "last", "--name", "baseline", "--tag", "a", "b", "--note", "it groks", *place)
    assert named == {run.id: {"name": "baseline", "tags": ["a", "b"], "note": "it groks"}}
    for text, found in (("basel", 1), ("#b", 1), ("GROKS", 1), ("#c", 0)):
        assert len(run_json("runs", "list", text, *place)["runs"]) == found
    assert run_json("runs", "show", "baseline", *place)["name"] == "baseline"
    assert run_json("runs", "pack", "baseline", str(tmp_path / "one.zip"), *place)["runs"] == [run.id]
    other = ("--store", str(tmp_path / "other"))
    assert run_json("runs", "unpack", str(tmp_path / "one.zip"), *other) == {"added": [run.id], "known": []}
    assert run_json("runs", "unpack", str(tmp_path / "one.zip"), *other) == {"added": [], "known": [run.id]}
    page = tmp_path / "run.html"
    assert run_json("runs", "replay", "baseline", "--out", str(page), *other)["bytes"] == len(page.read_bytes())
    assert page.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_narrow_list_keeps_what_matters(
    columns: int, capsys: pytest.CaptureFixture[str], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs.out, "width", columns)
    cli.main(["runs", "--store", str(store)])
    head, *rows = capsys.readouterr().out.splitlines()
    assert max(map(len, (head, *rows))) <= columns
    assert "grokked at" in head
    assert "status" in head
    assert "finished" in rows[0]
    assert ("rate" in head) == ("seed" in head) == (columns == 120)


def test_sweeps_have_names_too(run_json: Any, tmp_path: Path) -> None:
    sweep = Sweep(Experiment("n + m", 5), ["seed=0:3"])
    Record(sweep, Store(tmp_path)).begin()
    place = ("--store", str(tmp_path))
    run_json("runs", "label", sweep.id[:6], "--name", "seeds", "--tag", "first", *place)
    (listed,) = run_json("sweep", "list", *place)["sweeps"]
    assert listed["label"] == {"name": "seeds", "tags": ["first"], "note": ""}
    assert run_json("sweep", "show", "seeds", *place)["sweep"] == sweep.id
