"""The solve command: what the paper claims, what is printed, what is refused."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modgrok import cli, load
from modgrok.commands.solve import sparkline
from modgrok.networks import predictions
from modgrok.tasks import task


def solve(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    cli.main(["solve", *arguments, "--json"])
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 1
    assert captured.err == ""
    return json.loads(captured.out)


@pytest.mark.parametrize(
    ("arguments", "width", "accuracy"),
    [
        ('"n + m" --form exact --frequencies 1', 5, 1),
        ('"n + m" --form waves --width 500', 500, 1),
        ('"n + m" --form complex --parametrization standard', 500, 1),
        ('"n + m" --form complex --width 1', 1, 1),
        ("n*m --form complex --width 4", 4, 1),
        ('"n + m" --form waves --width 501 --constant', 501, 1),
        ('"n + m" --form waves --activation relu', 500, 1),
        ("(n+m)^2 --form waves --branches all", 500, 1),
        ("(n+m)^2 --form waves --branches one", 500, pytest.approx(0.515, abs=0.005)),
        ("n*m --form waves", 500, 1),
    ],
)
def test_accuracy(capsys: pytest.CaptureFixture[str], arguments: str, width: int, accuracy: float) -> None:
    result = solve(capsys, *shlex.split(arguments), "--modulus", "97")
    assert result["width"] == width
    assert result["accuracy"] == accuracy


@pytest.mark.parametrize(
    ("expression", "modulus", "structure", "width"),
    [
        ("n + m", 97, "sum", 193),
        ("n + m", 2, "sum", 2),
        ("n + m", 12, "sum", 22),
        ("n^2 + m^2", 97, "sum", 193),
        ("n^2 + 2*n*m + m^2", 23, "function_of_sum", 45),
        ("n*m", 97, "product", 192),
        ("n*m + n + m", 23, "function_of_product", 44),
        ("n1 + n2 + n3", 7, "sum", 58),
    ],
)
def test_exact_is_the_default(
    capsys: pytest.CaptureFixture[str], expression: str, modulus: int, structure: str, width: int
) -> None:
    result = solve(capsys, expression, "--modulus", str(modulus))
    assert (result["structure"], result["form"], result["width"]) == (structure, "exact", width)
    assert result["accuracy"] == 1
    assert result["loss"] < 1e-20


@pytest.mark.parametrize(
    ("expression", "modulus", "asked", "width"),
    [("n + m", 3, [], 4), ("n + m", 5, ["--width", "8"], 8), ("n*m", 5, ["--width", "7"], 7)],
)
def test_minimal(
    capsys: pytest.CaptureFixture[str], expression: str, modulus: int, asked: list[str], width: int
) -> None:
    cli.main(["solve", expression, "--modulus", str(modulus), "--form", "minimal", *asked, "--json"])
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert result["width"] == width < 2 * modulus - 1
    assert result["accuracy"] == 1
    assert result["loss"] < 1e-20
    assert f"width {width}: start" in captured.err


def test_minimal_says_the_bound(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["solve", "n + m", "--modulus", "3", "--form", "minimal", "--width", "4"])
    assert "4, at least 4 for an exact network" in capsys.readouterr().out


def test_a_width_asks_for_waves(capsys: pytest.CaptureFixture[str]) -> None:
    result = solve(capsys, "n + m", "--modulus", "97", "--width", "200")
    assert (result["form"], result["width"]) == ("waves", 200)
    assert result["ipr"] == pytest.approx(0.25, abs=1e-12)


def test_the_ratio_of_a_product_is_seen_in_its_own_coordinate(capsys: pytest.CaptureFixture[str]) -> None:
    result = solve(capsys, "n*m", "--modulus", "97")
    assert result["ipr"] < 0.05 < 0.2 < result["ipr_in_coordinate"]


@pytest.mark.parametrize("form", ["waves", "exact", "complex"])
def test_save(capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str) -> None:
    from safetensors import safe_open

    file = tmp_path / "network.safetensors"
    result = solve(capsys, "n*m", "--modulus", "11", "--form", form, "--save", str(file))
    with safe_open(str(file), framework="numpy") as stored:
        assert json.loads(stored.metadata()["settings"]) == result
    np.testing.assert_array_equal(predictions(load(file)), task("n*m", 11).table)


def test_tables(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "network.safetensors"
    cli.main(["solve", "n + m", "--modulus", "5", "--save", str(file)])
    printed = capsys.readouterr().out
    for word in (
        "structure",
        "sum",
        "exact",
        "width",
        "9",
        "accuracy",
        "100.00\u202f%",
        "loss",
        "IPR",
        "│▁██│",
        "Network: ",
    ):
        assert word in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["n^3+n*m^2+m", "--modulus", "97"], "No closed form is known for n^3+n*m^2+m mod 97"),
        (["n*m", "--modulus", "1001"], "product"),
        (["n + m", "--modulus", "1"], "at least 2"),
        (["n/97", "--modulus", "97"], "no inverse modulo 97"),
        (["n + + m)", "--modulus", "97"], "Column 5"),
        (["n + m", "--modulus", "97", "--width", "0"], "at least 1"),
        (["n + m", "--modulus", "97", "--frequencies", "49"], "1 to 48, and 49"),
        (["n + m", "--modulus", "97", "--activation", "cosine"], "activation"),
        (["n + m", "--modulus", "97", "--form", "minimal"], "goes up to p = 13"),
        (["n + m", "--modulus", "97", "--form", "exact", "--constant"], "has it anyway"),
        (["n + m", "--modulus", "5", "--save", "/dev/null/network.safetensors"], "could not be written"),
    ],
)
def test_refusals(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        cli.main(["solve", *arguments])
    assert stop.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("modgrok: ")
    assert message in captured.err


def test_jax_is_not_imported() -> None:
    script = "import sys, modgrok.cli; modgrok.cli.main(sys.argv[1:]); sys.exit('jax' in sys.modules)"
    command = [sys.executable, "-c", script, "solve", "n + m", "--modulus", "5", "--json"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0


def test_sparkline() -> None:
    assert sparkline(np.array([0, 1, 4, 8.0])) == " ▁▄█"
    assert sparkline(np.zeros(3)) == "   "
    assert len(sparkline(np.arange(500.0))) == 64
