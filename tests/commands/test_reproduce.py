import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from modgrok import cli
from modgrok.experiments import Store
from modgrok.reproduce.gromov2023.sizes import TINY
from modgrok.reproduce.paper import find_paper

PAPER = find_paper()


@pytest.fixture
def with_runs(tmp_path: Path) -> Path:
    """A folder whose runs of fig2 are finished already."""
    path = Path(__file__).parents[1] / "reproduce" / "conftest.py"
    spec = importlib.util.spec_from_file_location("stored_runs", path)
    assert spec is not None
    assert spec.loader is not None
    stored_runs: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stored_runs)
    store = Store(tmp_path / "runs")
    for experiment in PAPER.study("fig2").needs(TINY):
        stored_runs.write_run(store.add(experiment), experiment.resolve())
    return tmp_path


def test_one_figure_is_redrawn_from_stored_runs(with_runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["reproduce", "--profile", "tiny", "--only", "fig2", "--out", str(with_runs)])
    out = capsys.readouterr().out
    assert "of 6 claims" in out.replace("\n", " ")
    assert str(with_runs / "report.html") in out.replace("\n", "")
    assert (with_runs / "figures" / "fig2.svg").exists()
    assert [path.name for path in (with_runs / "figures").glob("*.png")] == ["fig2.png"]


def test_an_unknown_name_is_answered_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["reproduce", "--only", "fig9"])
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert "fig9" in error
    assert "figA5" in error
    assert "loss_peak" in error


def test_the_plan_says_what_each_figure_costs(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["reproduce", "--plan", "--only", "fig0", "fig2"])
    out = capsys.readouterr().out
    assert "fig0" in out
    assert "total" in out
    assert "must be compiled, about 3 s for each" in out


def test_an_address_needs_its_engine_for_a_plan_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["reproduce", "--address", "foo", "--plan"])
    assert stopped.value.code == 2
    assert capsys.readouterr().err == "modgrok: An address is that of a Ray cluster; add --engine ray.\n"


def test_help_and_plan_do_not_import_jax() -> None:
    code = (
        "import sys; from modgrok.commands import reproduce; "
        "reproduce.main(['--plan', '--only', 'fig0']); print('jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("False")


def test_the_list_names_papers_and_what_they_cost(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["reproduce", "--list"])
    assert "gromov2023" in capsys.readouterr().out
    cli.main(["reproduce", "--list", "--json"])
    (first, *_) = json.loads(capsys.readouterr().out)["papers"]
    assert (first["key"], first["figures"], first["claims"]) == (PAPER.key, len(PAPER.figures), len(PAPER.claims))
    assert set(first["cost"]) == {"quick", "full"}
    with pytest.raises(SystemExit):
        cli.main(["reproduce", "gromov1923"])
    assert "gromov2023" in capsys.readouterr().err


def test_plan_and_verdicts_as_json(with_runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["reproduce", "gromov2023", "--plan", "--only", "fig0", "--json"])
    assert [row["study"] for row in json.loads(capsys.readouterr().out)["plan"]] == ["fig0", "total"]
    cli.main(["reproduce", "--profile", "tiny", "--only", "fig2", "--out", str(with_runs), "--numbers-only", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["report"] is None
    assert set(found["verdicts"]) == {claim.name for claim in PAPER.claims}
