"""A network on a group taken apart: in Python, on the command line, as pictures."""

import json
from pathlib import Path

import numpy as np
import pytest

import modgrok as mg
from modgrok import cli
from modgrok.closed_form import solve
from modgrok.experiments import Experiment
from modgrok.tasks import task

S4 = task("group:S4")


def test_the_closed_form_is_told() -> None:
    found = mg.analyze(solve(S4, "waves", width=200), S4)
    assert found.score.accuracy == 1
    assert found.basis.names == ["1", "1′", "2", "3", "3′"]
    assert found.medians() == pytest.approx({"share": 1, "rank_one": 1, "agreement": 1, "aligned": 1})
    assert abs(found.counts - found.expected).max() < 1
    assert [len(found.neurons(k)) for k in range(5)] == found.counts.tolist()
    np.testing.assert_array_equal(found.neurons("3′"), found.neurons(4))
    with pytest.raises(mg.ModgrokError, match="representations here are 1, 1′, 2, 3, 3′, not '5'"):
        found.neurons("5")
    numbers = found.as_dict()
    assert json.loads(json.dumps(numbers))["representations"][2]["dimension"] == 2


def test_waves_are_not_looked_for_in_a_group_that_is_not_cyclic() -> None:
    assert isinstance(mg.analyze(solve(S4, "exact"), "group:S4"), mg.GroupAnalysis)
    assert isinstance(mg.analyze(solve(S4, "exact"), "n^3 + n*m^2 + m"), mg.Analysis)


def test_inspect(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "s4.safetensors"
    solve(S4, "waves", width=200).save(path, {"expression": "group:S4"})
    cli.main(["analyze", str(path), "--task", "group:S4", "--figure", str(tmp_path / "s4.png")])
    text = " ".join(capsys.readouterr().out.split())
    assert "group: S4" in text
    assert "vectors of other neurons" in text
    assert "frequenc" not in text
    assert (tmp_path / "s4.png").stat().st_size > 1000
    cli.main(["analyze", str(path), "--task", "group:S4", "--json"])
    assert json.loads(capsys.readouterr().out)["group"] == "S4"


def test_pictures() -> None:
    found = mg.analyze(solve(S4, "waves", width=64), S4)
    assert mg.plot.representations(found).get_xlabel().startswith("representation")
    assert mg.plot.purity(found).get_legend() is not None
    assert mg.plot.gaps(found).get_xlabel()
    assert len(mg.plot.portrait(found).axes) == 4


def test_rates_and_decays_in_units_of_the_group() -> None:
    chosen = {name: Experiment(f"group:{name}", optimizer="adamw").resolve() for name in ("S3", "S4", "A5", "S5")}
    assert {one.lr for one in chosen.values()} == {0.3}
    decays = [one.weight_decay for one in chosen.values()]
    np.testing.assert_allclose(decays, [0.05 * 97 / order for order in (24, 24, 60, 120)], rtol=1e-5)
    assert Experiment("n + m", optimizer="adamw").resolve().weight_decay == 0.05
    mlp = Experiment("group:S4", optimizer="adamw", network="mlp").resolve()
    assert (mlp.lr, mlp.weight_decay) == (1e-3, 1.0)
