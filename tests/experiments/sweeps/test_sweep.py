"""Sweeps as data: values, axes, files, and what is refused before anything starts."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok import plot
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment
from modgrok.experiments.sweeps import Sweep
from modgrok.experiments.sweeps.summary import Cell, Summary
from modgrok.experiments.sweeps.values import LIMIT, value, values

BASE = Experiment("n + m", 11, width=16)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("seed", "0:5", (0, 1, 2, 3, 4)),
        ("seed", "0:4:2", (0, 2, 4)),
        ("modulus", "11,13,17", (11, 13, 17)),
        ("fraction", "0.2:0.8:0.05", tuple(round(0.2 + 0.05 * i, 2) for i in range(13))),
        ("fraction", "0.1:0.35:0.1", (0.1, 0.2, 0.3)),
        ("fraction", "0.5, 0.6:0.8:0.1", (0.5, 0.6, 0.7, 0.8)),
        ("lr", "log:1e-4:1e-1:4", (1e-4, 1e-3, 1e-2, 1e-1)),
        ("lr", "auto,0.1", ("auto", 0.1)),
        ("width", "log:16:128:4", (16, 32, 64, 128)),
        ("optimizer", "gd,adamw", ("gd", "adamw")),
        ("task", "n + m, random:3", ("n + m", "random:3")),
        ("batch_norm", "true,false", (True, False)),
        ("until", "none,0", (None, 0)),
        ("steps", "1e3", (1000,)),
        ("seed", range(3), (0, 1, 2)),
        ("fraction", [1 / 2], (0.5,)),
        ("seed", 7, (7,)),
    ],
)
def test_values(name: str, text: Any, expected: tuple[Any, ...]) -> None:
    found = values(name, text)
    assert found == pytest.approx(expected) if name in ("lr", "fraction") and "auto" not in found else found == expected
    assert [type(x) for x in found] == [type(x) for x in expected]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("seed", "5:5", "empty"),
        ("fraction", "0.8:0.2:0.1", "empty"),
        ("fraction", "0.2:0.8", "needs a step"),
        ("fraction", "0.2:0.8:0", "positive"),
        ("fraction", "0.2:0.8:-0.1", "positive"),
        ("fraction", "0.1:0.9:1e-9", "800,000,001 values"),
        ("seed", "0:1000000000", "1,000,000,000 values"),
        ("lr", "log:0:1:5", "positive"),
        ("lr", "log:1:2:1", "two values"),
        ("lr", "log:1:2:2.5", "two values"),
        ("lr", "log:1e-3:1e-1:1e12", "values"),
        ("lr", "fast", "a number or auto"),
        ("seed", "1.5", "a whole number"),
        ("seed", "a:b", "START:STOP"),
        ("seed", "1:2:3:4", "START:STOP"),
        ("seed", "1,1", "twice"),
        ("seed", "", "a whole number"),
        ("seed", [], "no values"),
        ("seed", [True], "a whole number"),
        ("batch_norm", "maybe", "true or false"),
        ("fractoin", "0.5", "did you mean 'fraction'"),
        ("nonsense_setting", "1", "its settings are"),
    ],
)
def test_what_is_no_value(name: str, text: Any, says: str) -> None:
    with pytest.raises(ModgrokError, match=says):
        values(name, text)


@given(st.integers(1, 99), st.integers(0, 60), st.sampled_from([0.01, 0.02, 0.05, 0.1]))
def test_ranges_include_both_ends_and_have_no_noise(start: int, count: int, step: float) -> None:
    low, high = start / 100, start / 100 + count * step
    found = values("lr", f"{low}:{high:.10g}:{step}")
    assert len(found) == count + 1
    assert found[-1] == pytest.approx(high)
    assert all(len(repr(x)) < 12 for x in found)


def test_numpy_numbers_are_numbers() -> None:
    import numpy as np

    assert values("fraction", np.linspace(0.2, 0.4, 3)) == pytest.approx((0.2, 0.3, 0.4))
    assert value("seed", np.int64(3)) == 3
    with pytest.raises(ModgrokError, match="a number"):
        value("fraction", math.nan)


def test_a_sweep_has_all_combinations() -> None:
    sweep = Sweep(BASE, ["fraction=0.4:0.8:0.2", {"optimizer": ["gd", "adamw"], "lr": [4e5, 0.03]}, "seed=0:2"])
    assert len(sweep) == len(sweep.experiments) == 12
    assert sweep.names == ("fraction", "optimizer", "lr", "seed")
    assert {(e.optimizer, e.lr) for e in sweep.experiments} == {("gd", 4e5), ("adamw", 0.03)}
    assert sweep.experiments[1] == Experiment("n + m", 11, width=16, fraction=0.4, optimizer="gd", lr=4e5, seed=1)
    assert Sweep.from_dict(sweep.as_dict()) == sweep
    assert Sweep.from_dict(sweep.as_dict()).id == sweep.id != Sweep(BASE, ["seed=0:2"]).id
    assert len(Sweep(BASE)) == 1


def test_text_mapping_and_file_mean_the_same(tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(
        """
        [experiment]
        task = "n + m"
        modulus = 11
        width = 16
        [[vary]]
        fraction = "0.4:0.8:0.2"
        [[vary]]
        optimizer = ["gd", "adamw"]
        lr = ["auto", 0.03]
        """
    )
    base = Experiment("n + m", 11, width=16, snapshots=0, until=0)
    texts = Sweep(base, ["fraction=0.4:0.8:0.2", "optimizer = gd, adamw; lr = auto, 0.03"])
    assert Sweep.from_file(path) == texts
    assert Sweep(base, [{"fraction": [0.4, 0.6, 0.8]}, {"optimizer": ("gd", "adamw"), "lr": ("auto", 0.03)}]) == texts


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[experiment]\ntask = 'n+m'\nwdith = 3", "no setting 'wdith'; did you mean 'width'"),
        ("[experiment]\ntask = 'n+m'\n[[vary]]\nsed = '0:5'", "no setting 'sed'; did you mean 'seed'"),
        ("[experiment]\ntask = 'n+m'\n[[vary]]\nseed = '5:5'", "empty"),
        ("[experiment]\ntask = 'n+m'\n[[vary]]\nseed = []", "no values"),
        ("[experiment]\ntask = 'n+m'\n[[vary]]\nseed = '0:100000'\n[[vary]]\nwidth = '1:10001'", "1,000,000,000 runs"),
        ("[experiment]\ntask = 'n+m'\n[[vary]]\n", "An axis gives"),
        ("[experiment]\nmodulus = 11", "needs a task"),
        ("[experiment]\ntask = 'n+m'\noptimizer = 'sdg'", "optimizer must be one of"),
        ("[experiments]\ntask = 'n+m'", "not 'experiments'"),
        ("experiment = 3", "one table"),
        ("[experiment", "not a TOML file"),
    ],
)
def test_bad_files(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(content)
    with pytest.raises(ModgrokError, match=says) as error:
        Sweep.from_file(path)
    assert "sweep.toml" in str(error.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModgrokError, match="cannot be read"):
        Sweep.from_file(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("vary", "says"),
    [
        (["seed=0:3", "seed=0:2"], "two axes"),
        (["optimizer=gd,adam; lr=1"], "2 of optimizer, 1 of lr"),
        (["seed"], "NAME=VALUES"),
        ([3], "An axis gives"),
        ([f"seed=0:{LIMIT}", "width=1:3"], "400,000 runs"),
    ],
)
def test_bad_axes(vary: list[Any], says: str) -> None:
    with pytest.raises(ModgrokError, match=says):
        Sweep(BASE, vary)


@pytest.mark.parametrize(
    ("vary", "says"),
    [
        ("fraction=0.5,1.5", "1.5"),
        ("task=n+m,n+", "Column"),
        ("fraction=0.001", "both sides"),
        ("optimizer=gd,sdg", "sdg"),
    ],
)
def test_every_experiment_is_checked_before_the_first(vary: str, says: str) -> None:
    with pytest.raises(ModgrokError, match=says):
        _ = Sweep(BASE, [vary]).experiments


def test_a_figure_shows_where_runs_have_no_value() -> None:
    row = (Cell(5, ()), Cell(5, (140.0, 150.0)), Cell(5, (80.0,) * 5), Cell(0, ()))
    summary = Summary("n + m mod 23", "grokked_at", "fraction", None, (0.2, 0.4, 0.6, 0.8), (None,), (row,))
    axes = plot.sweep(summary)
    marked = {line.get_gid(): list(line.get_xdata()) for line in axes.lines if line.get_gid()}
    assert marked == {"none": [0.2], "some": [0.4]}
    assert axes.get_legend_handles_labels()[1] == ["some runs do not grok", "no run groks"]
