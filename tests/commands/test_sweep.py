"""`modgrok sweep` from the command line to table and figure, and what it does when it is stopped."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from modgrok import cli
from modgrok.commands.sweep import _grid
from modgrok.experiments import Store
from modgrok.experiments.sweeps.record import find_sweep
from modgrok.experiments.sweeps.summary import Cell, Summary
from modgrok.experiments.sweeps.table import Results

TINY = ["n + m", "--modulus", "11", "--width", "16", "--steps", "40", "--lr", "0.1"]
AXES = ["--vary", "seed=0:2", "--vary", "optimizer=adam,adamw; weight_decay=0,0.1"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    cli.main(["sweep", *arguments, "--json"])
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 1
    return json.loads(captured.out)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("store"))
    cli.main(["sweep", *TINY, *AXES, "--store", folder])
    return folder


def test_a_sweep_and_again(capsys: pytest.CaptureFixture[str], store: str, tmp_path: Path) -> None:
    result = run(capsys, *TINY, *AXES, "--store", store, "--out", str(tmp_path / "table.csv"))
    assert (result["runs"], result["done"], result["plan"]) == (4, 4, None)
    assert [(row["optimizer"], row["weight_decay"]) for row in result["rows"]] == [("adam", 0.0), ("adamw", 0.1)] * 2
    assert all(row["status"] == "finished" for row in result["rows"])
    assert (tmp_path / "table.csv").read_text() == (Path(store) / "sweeps" / result["sweep"] / "table.csv").read_text()


def test_a_plan_trains_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text("[experiment]\ntask='n + m'\nmodulus=11\nwidth=16\nsteps=40\nlr=0.1\n[[vary]]\nseed='0:2'\n")
    cli.main(["sweep", str(path), "--plan", "--store", str(tmp_path / "runs")])
    said = capsys.readouterr().err
    assert "2 runs; 1 batch to train." in said
    assert "80 run-steps" in said
    assert "on disk" in said
    assert not list(Store(tmp_path / "runs"))


def test_show(capsys: pytest.CaptureFixture[str], store: str, tmp_path: Path) -> None:
    figure = tmp_path / "figure.png"
    cli.main(["sweep", "show", "last", "--outcome", "test_accuracy", "--figure", str(figure), "--store", store])
    text = capsys.readouterr().out
    assert "weight_decay" in text
    assert "optimizer adamw" in text
    assert "%" in text
    assert figure.stat().st_size > 5000
    result = run(capsys, "show", "last", "--outcome", "ipr", "--x", "seed", "--store", store)
    assert (result["x"], result["y"], result["x_values"]) == ("seed", None, [0, 1])
    assert [cell["with_value"] for cell in result["cells"][0]] == [2, 2]


def test_list(capsys: pytest.CaptureFixture[str], store: str) -> None:
    (found,) = run(capsys, "list", "--store", store)["sweeps"]
    assert found["runs"] == 4
    cli.main(["sweep", "list", "--store", store])
    assert found["id"] in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["n + m", "--vary", "fractoin=0.5"], "did you mean 'fraction'"),
        (["n + m", "--vary", "seed=3:3"], "empty"),
        (["n + m", "--vary", "seed=0:100000", "--vary", "width=1:10001"], "1,000,000,000 runs"),
        (["n + m", "--vary", "fraction=0.5,1.5"], "1.5"),
        (["n +", "--vary", "seed=0:3"], "Column"),
        (["nothing.toml"], "cannot be read"),
        (["grid.toml", "--vary", "seed=0:2"], "from a file has its settings there; write vary into"),
        (["grid.toml", "--weight-decay=3"], "write weight_decay into grid.toml"),
        (["n + m", "--seed", "4", "--vary", "seed=0:2"], "given or varied, not both; leave out --seed"),
        (["show", "nothing"], "no sweep"),
        (["n + m", "--address", "auto"], "--engine ray"),
    ],
)
def test_mistakes_exit_with_2_before_anything_starts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], says: str
) -> None:
    store = tmp_path / "runs"
    with pytest.raises(SystemExit) as stop:
        cli.main(["sweep", *arguments, "--store", str(store)])
    assert stop.value.code == 2
    assert says in capsys.readouterr().err
    assert not store.exists()


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:99999"])
def test_an_address_where_nobody_answers_is_refused_at_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "init", lambda *_, **__: pytest.fail("Ray, which waits long, was asked."))
    with pytest.raises(SystemExit) as stop:
        cli.main(["sweep", *TINY, *AXES, "--engine", "ray", "--address", address, "--plan"])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert f"No Ray cluster answers at {address}" in said
    assert said.count("\n") == 1


def test_ctrl_c_leaves_a_table_and_the_same_command_finishes(tmp_path: Path) -> None:
    arguments = ["n + m", "--modulus", "11", "--width", "16", "--lr", "0.01", "--until", "None", "--evaluations", "10"]
    arguments += ["--vary", "seed=0:2", "--vary", "steps=20,3000000", "--store", str(tmp_path)]
    command = [sys.executable, "-c", "from modgrok.cli import main; main()", "sweep", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            while count(tmp_path, "result.json") < 2 or count(tmp_path, "experiment.json") < 4:
                assert process.poll() is None, process.communicate()
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate()
        finally:
            process.kill()
    assert process.returncode == 130
    assert "Stopped with 2 of 4 runs done" in said
    (table,) = tmp_path.glob("sweeps/*/table.csv")
    assert table.read_text().count("unfinished") == 2
    store = Store(tmp_path)
    pending = Results(find_sweep(store, "last").experiments, store).pending
    assert [experiment.steps for experiment in pending] == [3000000, 3000000]


def count(folder: Path, name: str) -> int:
    return len(list(folder.glob(f"*/{name}")))


def test_shares_are_printed_as_shares() -> None:
    cells = ((Cell(5, (1.0, 1.0, 0.0, 1.0, 0.0)), Cell(0, ())),)
    grid = _grid(Summary("n+m mod 7", "grokked", "fraction", None, (0.3, 0.5), (None,), cells))
    assert grid.columns[1].header == "share"
    assert next(iter(grid.columns[1].cells)) == "60\u202f% of 5 runs"


def test_a_json_file_is_a_sweep_too(capsys: pytest.CaptureFixture[str], store: str, tmp_path: Path) -> None:
    path = tmp_path / "grid.json"
    settings = {"task": "n + m", "modulus": 11, "width": 16, "steps": 40, "lr": 0.1}
    vary = [{"seed": "0:2"}, {"optimizer": ["adam", "adamw"], "weight_decay": [0, 0.1]}]
    path.write_text(json.dumps({"experiment": settings, "vary": vary}))
    result = run(capsys, str(path), "--store", store)
    assert (result["done"], result["plan"]) == (4, None)
    with pytest.raises(SystemExit) as stop:
        cli.main(["sweep", str(path.with_suffix(".yaml"))])
    assert stop.value.code == 2
    assert "write them as TOML" in capsys.readouterr().err


def test_runs_that_diverge_are_planned_and_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = [*TINY[:-1], "1e30", "--vary", "fraction=0.5,0.7", "--vary", "seed=0:2", "--store", str(tmp_path)]
    cli.main(["sweep", *arguments, "--plan"])
    assert "The learning rate 1e30 is" in capsys.readouterr().err
    cli.main(["sweep", *arguments])
    said = capsys.readouterr()
    assert said.out.count("–, 2 diverged") == 2
    assert "4 of 4 runs diverged. The first, " in said.err
    assert "the learning rate 1e30 is too large" in said.err
    result = run(capsys, *arguments)
    assert (result["done"], result["diverged"], result["collapsed"]) == (4, 4, 0)
    shown = run(capsys, "show", "last", "--store", str(tmp_path))
    assert [cell["diverged"] for cell in shown["cells"][0]] == [2, 2]


def test_bad_ends_stand_beside_values() -> None:
    cells = ((Cell(4, (70.0, 80.0), {"diverged": 1, "collapsed": 1}), Cell(2, (), {"diverged": 0, "collapsed": 0})),)
    grid = _grid(Summary("n+m mod 7", "grokked_at", "fraction", None, (0.3, 0.5), (None,), cells))
    assert list(grid.columns[1].cells) == ["75 (70 to 80), 2 of 4, 1 diverged, 1 collapsed", "–"]
