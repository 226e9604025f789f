"""What all commands share: how flags may be written, and what the names of files promise."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modgrok import cli
from modgrok.commands.arguments import check_output


def test_powers_of_ten_are_whole_numbers_and_names_may_be_capitals(
    run_json: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    rest = ("--modulus", "7", "--width", "16", "--evaluations", "3", "--store", str(tmp_path))
    one = run_json("train", "n + m", "--steps", "1e1", "--optimizer", "GD", *rest)
    two = run_json("train", "n + m", "--steps", "10", "--optimizer", "gd", *rest)
    assert (one["run"], one["steps"]) == (two["run"], 10)


@pytest.mark.parametrize(
    "command",
    [
        ["critical", "n + m", "--out", "numbers.csv"],
        ["landscape", "n + m", "--out", "table.json"],
        ["sweep", "n + m", "--vary", "seed=0:2", "--out", "table.txt"],
        ["runs", "export", "--format", "parquet", "--out", "curves.csv"],
        ["solve", "n + m", "--modulus", "7", "--save", "network.pt"],
        ["analyze", "last", "--figure", "picture.txt"],
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
    assert "not to" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_suffixes_in_capitals_do_not_lie() -> None:
    check_output(Path("A.PNG"), ".png")
    check_output(None, ".png")


def test_a_folder_that_is_made_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "new" / "network.safetensors"
    cli.main(["solve", "n + m", "--modulus", "5", "--save", str(target)])
    assert f"Creating the folder {target.parent}." in capsys.readouterr().err
    assert target.exists()
