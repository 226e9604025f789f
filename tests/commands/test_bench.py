from typing import Any

import numpy as np
import pytest

from modgrok import cli
from modgrok.experiments import bench
from modgrok.experiments.bench import Workload


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "PAUSE_SECONDS", 0.0)


def test_all_numbers_are_there(run_json: Any) -> None:
    size = ("--modulus", "7", "--width", "16", "--runs", "1", "--seconds", "0.02")
    result = run_json("bench", *size)
    assert result["flops_per_step"] == 6 * round(0.5 * 49) * 16 * 7
    assert (result["one"]["runs"], result["batch"]["runs"]) == (1, 1)
    for speed in (result["one"], result["batch"]):
        assert all(value > 0 for value in speed.values())
        assert speed["flops_per_second"] == pytest.approx(result["flops_per_step"] * speed["run_steps_per_second"])
    assert result["environment"]["jax"]


def test_tables(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def timed(contestants: Any, seconds: float, tell: Any) -> dict[str, np.ndarray]:
        return {name: np.full(5, 2e-3 if name == "one run" else 1e-3) for name in contestants}

    monkeypatch.setattr(bench, "time_in_turns", timed)
    cli.main(["bench", "--modulus", "7", "--width", "16", "--runs", "1"])
    text = capsys.readouterr().out
    assert "2 ms" in text
    assert "50\u202f%" in text


def test_contestants_take_turns_in_another_order_each_round() -> None:
    taken: list[str] = []

    class Contestant:
        def __init__(self, name: str) -> None:
            self.name = name

        def take(self, steps: int) -> None:
            taken.append(self.name)

    told: list[str] = []
    seconds = bench.time_in_turns({"a": Contestant("a"), "b": Contestant("b")}, 1e-6, told.append)
    assert taken[-6:] == ["a", "b", "b", "a", "a", "b"]
    assert len(told) == 2 * bench.ROUNDS
    assert all(len(times) == bench.ROUNDS for times in seconds.values())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--runs", "0"], "at least 1 run"), (["--seconds", "0"], "600 seconds"), (["--modulus", "1"], "at least 2")],
)
def test_mistakes_are_sentences(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["bench", *arguments])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_the_products_are_those_of_a_step() -> None:
    from modgrok.experiments.contestants import operands

    for width in (5, 16):
        hidden, readout = operands(Workload(modulus=11, width=width))
        assert (hidden.shape, readout.shape) == ((round(0.5 * 121), width), (11, width))
        gram = readout @ readout.T if width > 11 else readout.T @ readout
        np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-5)
