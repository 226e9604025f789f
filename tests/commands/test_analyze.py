from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from modgrok import cli
from modgrok.closed_form import solve
from modgrok.experiments import Store
from modgrok.tasks import task


def test_a_grokked_network_is_made_of_waves(run_json: Any, grokked: Path) -> None:
    (run,) = Store(grokked)
    result = run_json("analyze", run.id[:5], "--store", str(grokked), "--top", "3")
    assert (result["run"], result["step"], result["structure"]) == (run.id, 150, "sum")
    assert result["accuracy"] >= 0.99
    assert result["ipr"] == pytest.approx(run.result["ipr"], rel=1e-4)
    assert result["explained"] > 0.7
    assert abs(result["residual"]["mean"]) < 0.2
    assert result["residual"]["resultant"] > 0.8
    assert sum(row["neurons"] for row in result["frequencies"]) + result["neurons_without_wave"] == 96
    assert len(result["top_frequencies"]) == 3
    cleaning = {row["name"]: row["accuracy"] for row in result["cleaning"]}
    assert cleaning["waves only"] >= 0.99
    names = list(cleaning)
    assert names.index("top 2 frequencies only") < names.index("top 3 frequencies only")
    assert names.index("top 3 frequencies only") < names.index("top 4 frequencies only")
    assert any(name.startswith("without neuron") for name in names)
    assert 0 < result["distance_to_closed_form"]["both"] < 1


def test_tables(capsys: pytest.CaptureFixture[str], grokked: Path) -> None:
    cli.main(["analyze", "last", "--store", str(grokked)])
    text = capsys.readouterr().out
    for words in ("φ1 + φ2 − φ3", "waves only", "power in waves", "strongest", "closed form", "100 % on anything"):
        assert words in text


def test_an_early_step_has_not_learned(run_json: Any, grokked: Path) -> None:
    result = run_json("analyze", "last", "--store", str(grokked), "--step", "0")
    assert (result["step"], result["accuracy"] < 0.2) == (0, True)


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_figures(capsys: pytest.CaptureFixture[str], grokked: Path, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "new" / f"network.{suffix}"
    cli.main(["analyze", "last", "--store", str(grokked), "--figure", str(path)])
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
    assert path.read_bytes().startswith(begins)
    assert str(path) in capsys.readouterr().err.replace("\n", "")


def test_networks_in_files(run_json: Any, grokked: Path, tmp_path: Path) -> None:
    path = tmp_path / "solved.safetensors"
    run_json("solve", "n*m", "--modulus", "7", "--save", str(path))
    figure = tmp_path / "solved.png"
    result = run_json("analyze", str(path), "--figure", str(figure))
    assert (result["run"], result["accuracy"], result["structure"]) == (None, 1.0, "product")
    assert figure.exists()
    (run,) = Store(grokked)
    result = run_json("analyze", str(run.folder / "network.safetensors"))
    assert result["accuracy"] >= 0.99
    bare = tmp_path / "bare.safetensors"
    run.network.save(bare)
    assert run_json("analyze", str(bare), "--task", "n+m")["accuracy"] == result["accuracy"]


def test_weights_of_other_programs(run_json: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    network = solve(task("n + m", 7), "exact")
    matrices = {"first": network.w_in.reshape(network.width, -1), "last": network.w_out}
    np.savez(tmp_path / "foreign.npz", **matrices)
    save_file({name: np.ascontiguousarray(m) for name, m in matrices.items()}, tmp_path / "foreign.safetensors")
    for name in ("foreign.npz", "foreign.safetensors"):
        assert run_json("analyze", str(tmp_path / name), "--task", "n+m")["accuracy"] == 1
    options = ("--parametrization", "mean-field", "--activation", "x^2", "--variables", "2")
    assert run_json("analyze", str(tmp_path / "foreign.npz"), "--task", "n+m", *options)["accuracy"] == 1


def test_other_networks_are_drawn_by_their_curves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ("--modulus", "5", "--network", "mlp", "--width", "8", "--steps", "3", "--evaluations", "3")
    cli.main(["train", "n + m", *small, "--store", str(tmp_path)])
    picture = tmp_path / "curves.png"
    cli.main(["analyze", "last", "--figure", str(picture), "--store", str(tmp_path)])
    assert picture.stat().st_size > 1000
    assert "Figure:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "There is no run"),
        (["last", "--step", "7777"], "kept no weights of step 7777"),
        (["last", "--top", "0"], "at least 1"),
        (["last", "--task", "n+m"], "knows its task"),
        (["last", "--activation", "relu"], "knows its activation"),
        (["bare.safetensors", "--parametrization", "standard"], "leave out --parametrization"),
        (["last", "--figure", "network.xyz"], ".png, .svg or .pdf"),
        (["absent.safetensors"], "is missing"),
        (["bare.safetensors"], "--task"),
        (["bare.safetensors", "--task", "n1+n2+n3"], "3 modulo 23"),
        (["bare.safetensors", "--step", "0"], "leave out --step"),
    ],
)
def test_mistakes_are_sentences(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    grokked: Path,
    tmp_path: Path,
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    next(iter(Store(grokked))).network.save("bare.safetensors")
    with pytest.raises(SystemExit) as ended:
        cli.main(["analyze", *arguments, "--store", str(grokked)])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_names_in_files_do_not_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table's name and a tensor's come from files that others wrote."""
    table = tmp_path / "a\x1b[2Jb.csv"
    table.write_text("0,1\n1,0\n")
    cli.main(["classify", str(table)])
    weights = tmp_path / "net.npz"
    np.savez(weights, **{"\x1b]0;owned\x07": np.ones((3, 3))})
    with pytest.raises(SystemExit):
        cli.main(["analyze", str(weights)])
    said = capsys.readouterr()
    for text in said:
        assert "\ufffd" in text
        assert not {"\x1b", "\x07"} & set(text)
