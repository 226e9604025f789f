"""Small stumbles of the command line, each of which someone met once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modgrok import cli
from modgrok.commands.arguments import require_suffix
from modgrok.commands.settings import Settings, given
from modgrok.commands.sweep import _grid
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment
from modgrok.experiments.divergence import rate_hint
from modgrok.experiments.sweeps.summary import Cell, Summary

TINY = ("--width", "16", "--lr", "0.1", "--evaluations", "3")


def test_powers_of_ten_are_whole_numbers_and_names_may_be_capitals(
    run_json: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    rest = ("--modulus", "7", "--width", "16", "--evaluations", "3", "--store", str(tmp_path))
    one = run_json("train", "n + m", "--steps", "1e1", "--optimizer", "GD", *rest)
    two = run_json("train", "n + m", "--steps", "10", "--optimizer", "gd", *rest)
    assert (one["run"], one["steps"]) == (two["run"], 10)


def test_a_table_brings_its_modulus(run_json: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "five.csv"
    np.savetxt(path, np.add.outer(range(5), range(5)) % 5, fmt="%d", delimiter=",")
    run_json("train", str(path), "--steps", "3", *TINY, "--store", str(tmp_path))
    (run,) = run_json("runs", "list", "--store", str(tmp_path))["runs"]
    assert (run["task"], run["experiment"]["modulus"]) == ("five.csv", 5)


def test_a_rate_far_from_the_natural_one_is_told() -> None:
    assert rate_hint(Experiment("n + m", 23, lr=0.3).resolve()) == ""
    far = rate_hint(Experiment("n + m", 97, optimizer="gd", lr=0.3).resolve())
    assert "--lr auto" in far
    assert "1/" in far


def test_misspelt_names_are_corrected() -> None:
    with pytest.raises(ModgrokError, match="did you mean 'nesterov'"):
        Experiment("n + m", 7, optimizer="nestrov")
    with pytest.raises(ModgrokError, match="did you mean 'weight_decay'"):
        Experiment.from_dict({"task": "n + m", "weigth_decay": 1})


@pytest.mark.parametrize(
    "command",
    [
        ["critical", "n + m", "--out", "numbers.csv"],
        ["landscape", "n + m", "--out", "table.json"],
        ["sweep", "n + m", "--vary", "seed=0:2", "--out", "table.txt"],
        ["runs", "export", "--format", "parquet", "--out", "curves.csv"],
        ["solve", "n + m", "--modulus", "7", "--save", "network.pt"],
        ["inspect", "last", "--figure", "picture.txt"],
    ],
    ids=lambda command: command[0],
)
def test_suffixes_that_lie_are_refused_before_anything_is_done(
    command: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        cli.main(command)
    assert ended.value.code == 2
    assert "says that it is something else" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_suffixes_in_capitals_do_not_lie() -> None:
    require_suffix(Path("A.PNG"), ".png")
    require_suffix(None, ".png")


def test_shares_are_printed_as_shares() -> None:
    cells = ((Cell(5, (1.0, 1.0, 0.0, 1.0, 0.0)), Cell(0, ())),)
    grid = _grid(Summary("n+m mod 7", "grokked", "fraction", None, (0.3, 0.5), (None,), cells))
    assert grid.columns[1].header == "share"
    assert next(iter(grid.columns[1].cells)) == "60\u202f% of 5 runs"


def test_runs_are_removed_after_a_yes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cli.main(["train", "n + m", "--modulus", "7", "--steps", "3", *TINY, "--store", str(tmp_path)])
    with pytest.raises(SystemExit):
        cli.main(["runs", "remove", "last", "--store", str(tmp_path)])
    assert "add --yes" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", type("Terminal", (), {"isatty": lambda self: True})())
    for answer, left in (("n", 1), ("y", 0)):
        monkeypatch.setattr("builtins.input", lambda answer=answer: answer)
        cli.main(["runs", "remove", "last", "--store", str(tmp_path)])
        assert len(list(tmp_path.glob("*/result.json"))) == left


def test_every_setting_is_a_flag() -> None:
    assert given(Settings("n + m"))["train_on"] == ""
