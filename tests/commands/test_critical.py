"""`modgrok critical`: flags to searches, and results to JSON, tables and figures, with runs that are pretended."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from modgrok import cli
from modgrok.commands import critical
from modgrok.experiments import Experiment, train
from modgrok.experiments.planner import plan_experiments
from modgrok.experiments.result import Result
from modgrok.experiments.sweeps.critical import LEAST, MOST, PLACES
from modgrok.experiments.sweeps.engines import local

SMALL = ["n + m", "--modulus", "11", "17", "23", "--seeds", "4", "--resolution", "0.02", "--steps", "50"]


def ended(grokked_at: int | None) -> Result:
    return Result("0" * 12, "finished", 50, 0.1, 1.0, None, None, None, None, grokked_at, None, 1.0)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[Experiment]:
    """Runs succeed above 4/√p, and a bit earlier with balanced sampling."""
    asked: list[Experiment] = []

    def train(work: Any, experiments: Sequence[Experiment]) -> list[Result | None]:
        asked.extend(experiments)
        bounds = [2.5 / e.modulus**0.5 - 0.05 * (e.sampling == "balanced") for e in experiments]
        pairs = zip(experiments, bounds, strict=True)
        return [ended(9 if e.fraction + 0.004 * (e.seed // PLACES - 2) > bound else None) for e, bound in pairs]

    monkeypatch.setattr(critical.WatchedExecutor, "finish", train)
    return asked


def test_several_moduli_and_samplings(
    trained: list[Experiment], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    files = ["--figure", str(tmp_path / "figure.png"), "--out", str(tmp_path / "numbers.json")]
    cli.main(["critical", *SMALL, "--sampling", "random", "balanced", *files, "--json"])
    result = json.loads(capsys.readouterr().out)
    assert [(one["modulus"], one["sampling"]) for one in result["critical"]] == [
        (p, sampling) for p in (11, 17, 23) for sampling in ("random", "balanced")
    ]
    for one in result["critical"][::2]:
        assert one["low"] <= 2.5 / one["modulus"] ** 0.5 <= one["high"]
        assert one["budget"] == 50
        assert sum(point["runs"] for point in one["curve"]) == one["runs"]
    assert result["power_law"]["exponent"] == pytest.approx(0.5, abs=0.05)
    assert [gain["sampling"] for gain in result["gains"]] == ["balanced"] * 3
    assert json.loads((tmp_path / "numbers.json").read_text()) == result
    assert (tmp_path / "figure.png").stat().st_size > 5000
    assert {(e.snapshots, e.until, e.steps) for e in trained} == {(0, 0, 50)}


def test_several_tasks(trained: list[Experiment], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    figure = tmp_path / "figure.png"
    tasks = ["n + m", "n * m", "n^2 + m^2"]
    cli.main(["critical", *tasks, *SMALL[1:], "--sampling", "random", "balanced", "--figure", str(figure), "--json"])
    result = json.loads(capsys.readouterr().out)
    assert [one["experiment"]["task"] for one in result["critical"][::6]] == ["n+m", "n*m", "n^2+m^2"]
    assert len(result["gains"]) == 9
    assert figure.stat().st_size > 5000
    cli.main(["critical", *tasks, "--modulus", "17", *SMALL[5:]])
    text = capsys.readouterr().out
    assert all(name in text for name in ("n+m", "n*m", "n^2+m^2"))


def test_tables_for_people(trained: list[Experiment], capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["critical", *SMALL])
    text = capsys.readouterr().out
    assert "95 % interval" in text
    assert "α_c falls with p" in text
    cli.main(["critical", "n + m", "--modulus", "23", "--seeds", "2", "--steps", "50"])
    assert "2 of 2" in capsys.readouterr().out


def test_help_says_what_is_tried_beyond_low_and_high(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["critical", "--help"])
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert f"all of its runs grok, {LEAST} is tried too" in text
    assert f"none of its runs groks, {MOST} is tried too" in text


def test_a_real_search(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    few = ["--points", "2", "--rounds", "0", "--low", "0.2", "--high", "0.9", "--seeds", "2", "--steps", "30"]
    arguments = ["critical", "n + m", "--modulus", "7", "--width", "16", *few, "--store", str(tmp_path), "--json"]
    cli.main(arguments)
    first = capsys.readouterr()
    assert json.loads(first.out)["critical"][0]["runs"] == 2
    cli.main(arguments)
    again = capsys.readouterr()
    assert again.out == first.out
    assert again.err == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["n +"], "Column"),
        (["n + m", "--low", "0.9", "--high", "0.5"], "low < high"),
        (["n + m", "--points", "1000000000"], "up to 1000"),
        (["n + m", "--optimizer", "sdg"], "optimizer must be one of"),
        (["n + m", "--modulus", "1"], "at least 2"),
        (["n + m", "--modulus"], "--modulus needs at least one value"),
        (["n + m", "--sampling", "--seeds", "2"], "--sampling needs at least one value"),
        (["n + m", "--record"], "--record needs at least one value"),
    ],
)
def test_mistakes_exit_with_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], says: str
) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["critical", *arguments, "--store", str(tmp_path / "runs")])
    assert stop.value.code == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


FEW = ["--points", "2", "--rounds", "0", "--low", "0.3", "--high", "0.9", "--seeds", "1", "--steps", "30"]


def test_runs_that_diverge_are_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["critical", "n + m", "--modulus", "7", "--width", "16", *FEW, "--lr", "1e30", "--store", str(tmp_path)]
    cli.main([*arguments, "--json"])
    said = capsys.readouterr()
    (found,) = json.loads(said.out)["critical"]
    assert found["diverged"] == found["runs"]
    assert said.err.count("The learning rate 1e30 is") == 1
    assert f"{found['runs']} of {found['runs']} runs diverged. The first, " in said.err


def test_a_run_that_fails_ends_the_program_with_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_batches = train.train_batches

    def failing(batches: Any, store: Any, observer: Any) -> None:
        if any(e.fraction == 0.9 for batch in batches for e in batch.experiments):
            raise ValueError("broken")
        train_batches(batches, store, observer)

    monkeypatch.setattr(local, "train_batches", failing)
    monkeypatch.setattr(local, "plan_here", lambda asked, store: plan_experiments(asked, store, "cpu", lambda *_: 1))
    with pytest.raises(SystemExit) as stop:
        cli.main(["critical", "n + m", "--modulus", "7", "--width", "16", *FEW, "--store", str(tmp_path)])
    assert stop.value.code == 1
    said = capsys.readouterr().err
    assert "failed: ValueError: broken" in said
    assert "1 run failed; rerun the command to try them again." in said
