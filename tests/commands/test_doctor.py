from pathlib import Path
from typing import Any

import pytest

import modgrok
from modgrok import cli
from modgrok.commands import doctor, runs


def test_it_says_what_an_issue_needs(run_json: Any, tmp_path: Path) -> None:
    found = run_json("doctor", "--store", str(tmp_path / "runs"))
    assert (found["modgrok"], found["runs"]) == (modgrok.__version__, 0)
    assert found["store state"].startswith("can be written")
    assert {"jax", "numpy"} <= set(found["packages"])
    assert found["devices"]


def test_it_fits_on_a_screen(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cli.main(["doctor", "--store", str(tmp_path)])
    assert len(capsys.readouterr().out.splitlines()) <= 24


def test_a_file_in_place_of_the_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "MODGROK_STORE" in doctor.examine(tmp_path / "file")["store state"]


def test_without_arguments_the_next_step_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MODGROK_STORE", str(tmp_path / "runs"))
    cli.main([])
    assert "modgrok train" in capsys.readouterr().out
    (tmp_path / "runs" / "0d74bda716e8").mkdir(parents=True)
    cli.main([])
    assert "modgrok analyze last" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "following"),
    [
        (["classify", "n*m + n", "--modulus", "7"], "modgrok solve 'n*m + n' --modulus 7"),
        (["solve", "n+m", "--modulus", "7", "--width", "2"], "modgrok train n+m --modulus 7"),
        (["solve", "group:S3"], "modgrok train group:S3"),
        (["analyze", "last", "--top", "3"], "modgrok film last"),
    ],
)
def test_a_command_names_the_one_that_follows(argv: list[str], following: str) -> None:
    assert cli._following(argv[0], argv[1:]) == following


def test_every_command_is_followed_by_one() -> None:
    themselves = {"train", "runs", "sweep"}
    assert {*cli.FOLLOWING, *themselves} == set(cli.COMMANDS)


@pytest.mark.parametrize(
    "command",
    [
        *(name for name in cli.COMMANDS if name != "runs"),
        *(f"runs {name}" for name in runs.COMMANDS),
        "sweep show",
        "sweep list",
    ],
)
def test_every_command_prints_json_where_asked(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([*command.split(), "--help"])
    assert "--json" in capsys.readouterr().out


def test_the_file_of_the_story_is_named_in_json(run_json: Any, tmp_path: Path) -> None:
    said = run_json("lab", "--export-story", str(tmp_path))
    assert Path(said["story"]).stat().st_size > 100_000
