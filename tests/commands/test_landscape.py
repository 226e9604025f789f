"""`modgrok landscape` from functions to classes."""

import json
from pathlib import Path

import pytest

from modgrok import cli


def test_functions_from_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["landscape", "n + m", "n^3 + n*m^2 + m", "--modulus", "7", "--width", "16", "--fraction", "0.5"]
    arguments += ["--seeds", "1", "--steps", "30", "--store", str(tmp_path / "runs")]
    cli.main([*arguments, "--figure", str(tmp_path / "figure.svg"), "--out", str(tmp_path / "table.csv"), "--json"])
    result = json.loads(capsys.readouterr().out)
    kinds = {row["function"]: row["structure"] for row in result["functions"]}
    assert kinds == {"n + m": "sum", "n^3 + n*m^2 + m": "none"}
    assert all(row["runs"] == [1] for row in result["functions"])
    assert (tmp_path / "figure.svg").stat().st_size > 5000
    assert (tmp_path / "table.csv").read_text().count("\n") == 3
    cli.main(arguments)
    text = capsys.readouterr().out
    assert "structure" in text
    assert "mod 7, N = 16, adamw, at most 30 steps" in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["n +"], "Column"),
        (["n + m", "--seeds", "0"], "seed"),
        (["n + m", "--fraction", "2"], "between 0 and 1"),
        (["n + m", "--fraction"], "--fraction needs"),
    ],
)
def test_mistakes_exit_with_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], says: str
) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["landscape", *arguments, "--modulus", "7", "--store", str(tmp_path / "runs")])
    assert stop.value.code == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_runs_that_diverge_are_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["landscape", "n + m", "--modulus", "7", "--width", "16", "--fraction", "0.5", "--seeds", "2"]
    cli.main([*arguments, "--steps", "30", "--lr", "1e30", "--store", str(tmp_path), "--json"])
    said = capsys.readouterr()
    assert json.loads(said.out)["diverged"] == 2
    assert "2 of 2 runs diverged. The first, " in said.err
