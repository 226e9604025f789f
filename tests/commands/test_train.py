import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modgrok as mg
from modgrok import cli
from modgrok.commands.chart import HEIGHT, accuracy_chart
from modgrok.experiments import Experiment, Store, planner
from modgrok.experiments.experiment import known_settings

PROMISED = {
    "run",
    "status",
    "steps",
    "learning_rate",
    "train_accuracy",
    "test_accuracy",
    "train_loss",
    "test_loss",
    "memorized_at",
    "grokked_at",
    "ipr",
    "task_ipr",
}


def test_a_training_is_resolved_once_and_planned_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, addition: tuple[str, ...]
) -> None:
    counts = {"resolved": 0, "planned": 0}

    def counting(name: str, function: Any) -> Any:
        def counted(*values: Any) -> Any:
            counts[name] += 1
            return function(*values)

        return counted

    monkeypatch.setattr(Experiment, "resolve_for", counting("resolved", Experiment.resolve_for))
    monkeypatch.setattr(planner, "plan_experiments", counting("planned", planner.plan_experiments))
    cli.main(["train", *addition, "--store", str(tmp_path)])
    assert counts == {"resolved": 1, "planned": 1}


def test_a_run_groks_and_comes_back_from_the_store(
    run_json: Any, capsys: pytest.CaptureFixture[str], grokked: Path, addition: tuple[str, ...]
) -> None:
    result = run_json("train", *addition, "--store", str(grokked))
    assert result.keys() >= PROMISED
    assert (result["status"], result["steps"], result["learning_rate"]) == ("finished", 150, 0.1)
    assert result["test_accuracy"] >= 0.99
    assert 0 < result["memorized_at"] < result["grokked_at"] <= 150
    (run,) = Store(grokked)
    assert run.id == result["run"]
    cli.main(["train", *addition, "--store", str(grokked)])
    captured = capsys.readouterr()
    assert "100 % ┤" in captured.out
    assert f"modgrok analyze {run.id}" in captured.out
    assert "is already in the store" in captured.err
    assert len(list(Store(grokked))) == 1


def test_the_store_may_be_named_in_the_environment(
    run_json: Any, monkeypatch: pytest.MonkeyPatch, grokked: Path, addition: tuple[str, ...]
) -> None:
    monkeypatch.setenv("MODGROK_STORE", str(grokked))
    assert run_json("train", *addition)["run"] == next(iter(Store())).id


def test_a_damaged_run_is_named_moved_aside_and_trained_again(
    run_json: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path, grokked: Path, addition: tuple[str, ...]
) -> None:
    store = Path(shutil.copytree(grokked, tmp_path / "store"))
    (run,) = Store(store)
    before = run.network
    (run.folder / "result.json").write_text("{")
    cli.main(["train", *addition, "--store", str(store)])
    assert f"Run {run.id} was damaged" in capsys.readouterr().err
    np.testing.assert_array_equal(run.network.w_in, before.w_in)
    assert len(list((store / "damaged").iterdir())) == 1


def test_every_setting_is_a_flag_with_help(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert "EXPR" in text
    for name in known_settings().keys() - {"task"}:
        assert f"--{name.replace('_', '-')}" in text


@pytest.mark.parametrize(
    ("settings", "status", "words"),
    [
        (["--weight-decay", "5", "--steps", "600"], "collapsed", "the weight decay 5 is too strong"),
        (["--lr", "1e30", "--steps", "50"], "diverged", "the learning rate 1e30 is too large"),
    ],
)
def test_bad_ends_are_explained(
    capsys: pytest.CaptureFixture[str],
    run_json: Any,
    tmp_path: Path,
    addition: tuple[str, ...],
    settings: list[str],
    status: str,
    words: str,
) -> None:
    arguments = ["train", *addition, *settings, "--store", str(tmp_path)]
    cli.main(arguments)
    captured = capsys.readouterr()
    assert words in captured.err
    assert status in captured.out
    result = run_json(*arguments)
    assert (result["status"], result["grokked_at"]) == (status, None)
    assert result["steps"] < 600


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("grid.toml", "[experiment]\ntask = 'n + m'\n[[vary]]\nseed = '0:2'"),
        ("grid.json", '{"experiment": {"task": "n + m"}, "vary": [{"seed": "0:2"}]}'),
    ],
)
def test_the_file_of_a_sweep_is_sent_to_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, content: str
) -> None:
    path, store = tmp_path / name, tmp_path / "runs"
    path.write_text(content)
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", str(path), "--store", str(store)])
    assert ended.value.code == 2
    assert f"`modgrok sweep {path}` trains all combinations" in capsys.readouterr().err
    with pytest.raises(mg.ModgrokError, match=r"Sweep\.from_file"):
        mg.train(path, store=store)
    assert not store.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["n + + m)"], "Column"),
        (["n+m", "--modulus", "1"], "at least 2"),
        (["n+m", "--lr", "-1"], "positive"),
        (["n+m", "--optimizer", "sophia"], "one of gd"),
        (["n+m", "--fraction", "1.5"], "between 0 and 1"),
    ],
)
def test_mistakes_are_sentences(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], words: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", *arguments, "--store", str(tmp_path / "store")])
    assert ended.value.code == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.out == ""
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["n + m", "--modulus", "5", "--network", "transformer", "--layers", "1", "--heads", "2", "--width", "8"],
        ["group:S3", "--network", "embedding-mlp", "--width", "8", "--embedding", "4", "--combine", "concat"],
        [
            "parity:30,3",
            "--network",
            "mlp",
            "--width",
            "8",
            "--loss",
            "hinge",
            "--optimizer",
            "sgd",
            "--batch-size",
            "8",
        ],
        ["add:4", "--width", "8", "--hold-norm", "--record", "ipr"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_network_and_kind_of_task_has_its_flags(run_json: Any, tmp_path: Path, arguments: list[str]) -> None:
    small = ["--steps", "2", "--evaluations", "2", "--snapshots", "0", "--store", str(tmp_path)]
    result = run_json("train", *arguments, *small)
    assert result.keys() >= PROMISED - {"ipr", "task_ipr"}
    assert (result["status"], result["steps"]) == ("finished", 2)


def test_a_flag_that_nobody_reads_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", "n+m", "--heads", "2", "--store", str(tmp_path / "store")])
    assert ended.value.code == 2
    assert "heads has no effect with network two-layer" in capsys.readouterr().err
    assert not (tmp_path / "store").exists()


def test_expressions_may_begin_with_a_minus(run_json: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["-n+m", "--modulus", "7"], ["--modulus", "7", "-(n + 2*m)"], ["--modulus", "7", "-2*n-m"]):
        result = run_json("classify", *arguments)
        assert result["structure"] == "sum"
        assert result["expression"] in arguments
    with pytest.raises(SystemExit):
        cli.main(["classify", "-n+*m", "--modulus", "7"])
    assert "Column 4" in capsys.readouterr().err


def start(store: Path, *arguments: str) -> subprocess.Popen[str]:
    script = "from modgrok.cli import main; main()"
    command = [sys.executable, "-c", script, "train", "n+m", "--modulus", "13", "--width", "32"]
    return subprocess.Popen(
        [*command, "--steps", "100000000", "--store", str(store), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"FORCE_COLOR": "", "PYTHONPATH": "src"},
    )


def wait_for_curves(process: subprocess.Popen[str], store: Path, size: int) -> None:
    """Waits until the only run of a store has longer curves than that."""
    while not (files := list(store.glob("*/curves.jsonl"))) or files[0].stat().st_size <= size:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def test_signals_stop_cleanly_and_the_same_command_goes_on(tmp_path: Path) -> None:
    size = 1000
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        process = start(tmp_path)
        wait_for_curves(process, tmp_path, size)
        process.send_signal(number)
        stdout, stderr = process.communicate()
        (curves,) = tmp_path.glob("*/curves.jsonl")
        size = curves.stat().st_size
        assert process.returncode == code
        assert stdout == ""
        assert "rerun the command to resume" in stderr
        assert "\x1b" not in stderr
        assert "\r" not in stderr
        assert ("Resuming from step" in stderr) == (number == signal.SIGTERM)
    (run,) = Store(tmp_path)
    assert run.status == "unfinished"
    steps = run.history["step"]
    assert (np.diff(steps) > 0).all()


def test_the_chart_has_a_line_and_an_area() -> None:
    steps = np.array([0, 1, 10, 100, 1000])
    chart = accuracy_chart(steps, np.array([0, 0, 1, 1, 1.0]), np.array([0, 0, 0, np.nan, 1.0]), width=60).plain
    lines = chart.split("\n")
    assert len(lines) == HEIGHT + 3
    assert all(len(line) <= 60 for line in lines[:-1])
    assert lines[0].startswith("100 % ┤")
    assert lines[0].rstrip()[-1] == "⠉"
    assert "█" in lines[1]
    assert [tick for tick in lines[HEIGHT + 1].split(" ") if tick] == ["1", "10", "100", "1\u202f000"]


def test_the_chart_of_a_run_that_never_began_to_learn() -> None:
    chart = accuracy_chart(np.array([0]), np.array([0.0]), np.array([np.nan]), width=10).plain
    assert "█ test" in chart


def test_a_table_brings_its_modulus(run_json: Any, tmp_path: Path) -> None:
    path = tmp_path / "five.csv"
    np.savetxt(path, np.add.outer(range(5), range(5)) % 5, fmt="%d", delimiter=",")
    small = ("--steps", "3", "--width", "16", "--lr", "0.1", "--evaluations", "3")
    run_json("train", str(path), *small, "--store", str(tmp_path))
    (run,) = run_json("runs", "list", "--store", str(tmp_path))["runs"]
    assert (run["task"], run["experiment"]["modulus"]) == ("five.csv", 5)


@pytest.mark.parametrize("kind", ["toml", "json"])
def test_settings_come_from_a_file_and_flags_change_them(run_json: Any, tmp_path: Path, kind: str) -> None:
    place = ("--store", str(tmp_path / "store"))
    known = {"task": "n + m", "modulus": 7, "width": 16, "steps": 5, "evaluations": 3, "optimizer": "gd", "lr": 1e3}
    path = tmp_path / f"settings.{kind}"
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in known.items())
    path.write_text(lines if kind == "toml" else json.dumps(known))
    flags = "--modulus 7 --width 16 --steps 5 --evaluations 3 --optimizer gd --lr 1e3".split()
    from_file, typed = run_json("train", str(path), *place), run_json("train", "n + m", *flags, *place)
    assert from_file["run"] == typed["run"] == mg.train(path, store=tmp_path / "store").id
    assert run_json("train", str(path), "--steps", "6", *place)["steps"] == 6
    own = tmp_path / "store" / typed["run"] / "experiment.json"
    assert run_json("train", str(own), *place)["run"] == typed["run"]
    for name, text, words in (
        ("a.yaml", "task: n + m", "write them as TOML"),
        ("b.json", "[1]", "settings by name"),
        ("c.toml", "modulus = 7", "needs a task"),
        ("d.json", "{", "is not a JSON file"),
        ("e.toml", 'task = "n + m"\nalpha = 0.5', "did you mean 'fraction'"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(mg.ModgrokError, match=words):
            mg.train(tmp_path / name, store=tmp_path / "store")
