import dataclasses
import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import modgrok as mg
from modgrok.errors import ModgrokError
from modgrok.experiments import Observer, Store
from modgrok.reproduce import measuring
from modgrok.reproduce.gromov2023.sizes import TINY
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.pipeline import Request, reproduce, shares

PAPER = find_paper()


class Counting(Observer):
    """Counts what is trained, and asks to stop after so many evaluations."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after, self.evaluations, self.ended_runs = stop_after, [], []  # type: ignore[var-annotated]
        self.studies: dict[str, str] = {}

    def __call__(self, results: Any, studies: dict[str, str]) -> Any:
        self.studies = studies
        return nullcontext(self)

    def measured(self, run: Any, row: dict[str, Any]) -> None:
        self.evaluations.append((run.id, row["step"]))

    def ended(self, run: Any, result: Any) -> None:
        self.ended_runs.append(run.id)

    def stop_requested(self) -> bool:
        return self.stop_after is not None and len(self.evaluations) >= self.stop_after


def silent(text: str) -> None:
    pass


def test_an_interrupted_reproduction_goes_on_and_trains_nothing_twice(tmp_path: Path) -> None:
    from modgrok.errors import Interrupted

    request = Request(profile="tiny", only=("fig2",), out=tmp_path)
    first, second, third = Counting(stop_after=10), Counting(), Counting()
    with pytest.raises(Interrupted):
        reproduce(request, first, silent)
    outcome = reproduce(request, second, silent)
    reproduce(request, third, silent)
    assert not set(first.evaluations) & set(second.evaluations)
    assert not set(first.ended_runs) & set(second.ended_runs)
    assert set(first.studies.values()) == {"fig2"}
    assert set(first.studies) == set(first.ended_runs) | set(second.ended_runs)
    assert third.evaluations == []
    assert len(list(Store(tmp_path / "runs"))) == 4
    assert outcome.report == tmp_path / "report.html"
    figures = [f"figures/fig2.{suffix}" for suffix in ("png", "svg", "json.gz")]
    for name in ("report.html", "report.md", "verdicts.json", *figures):
        assert (tmp_path / name).stat().st_size > 0
    assert json.loads((tmp_path / "session.json").read_text())["environment"]["device"]
    forced = Counting()
    reproduce(dataclasses.replace(request, force=True), forced, silent)
    assert len(forced.ended_runs) == 4


def test_networks_of_a_study_that_takes_long_to_measure_are_trained_first(tmp_path: Path) -> None:
    counting = Counting()
    reproduce(Request(profile="tiny", only=("fig2", "tangent_kernel"), out=tmp_path), counting, silent)
    trained = [counting.studies[name] for name in counting.ended_runs]
    assert trained[0] == "tangent_kernel"
    assert set(trained[1:]) == {"fig2"}


def test_numbers_travel_without_their_runs(tmp_path: Path, write_runs: Any) -> None:
    write_runs(list(shares(PAPER.chosen(("fig0", "fig2"), TINY), TINY)))
    request = Request(profile="tiny", only=("fig0", "fig2"), out=tmp_path, numbers_only=True)
    (tmp_path / "session.json").write_text('{"profile": "tiny", "environment": {}, "training_seconds": 600}')
    outcome = reproduce(request, say=silent)
    assert outcome.report is None
    assert not (tmp_path / "figures" / "fig0.png").exists()
    there = tmp_path / "there"
    redrawn = reproduce(Request(out=there, from_numbers=tmp_path), say=silent)
    assert redrawn.verdicts == outcome.verdicts
    assert redrawn.report is not None
    assert "10 min" in redrawn.report.read_text()
    assert {path.name for path in (there / "figures").iterdir()} >= {"fig0.png", "fig2.svg", "fig2.json.gz"}
    assert not (there / "runs").exists()


def test_a_figure_is_drawn_from_numbers_though_the_quick_profile_leaves_it_out(tmp_path: Path) -> None:
    numbers = Path("docs/reproduction/power2022")
    reproduce(Request("power2022", only=("fig1c",), from_numbers=numbers, out=tmp_path), say=silent)
    assert {path.name for path in tmp_path.glob("figures/*.png")} == {"fig1c.png"}


def test_a_folder_without_numbers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModgrokError, match=r"session\.json is missing"):
        reproduce(Request(from_numbers=tmp_path, out=tmp_path / "out"), say=silent)


def test_numbers_of_another_paper_are_refused(tmp_path: Path) -> None:
    numbers = Path("docs/reproduction/liu2022")
    with pytest.raises(ModgrokError, match="holds the numbers of liu2022, not of nanda2023"):
        reproduce(Request("nanda2023", from_numbers=numbers, out=tmp_path / "out"), say=silent)
    with pytest.raises(ModgrokError, match="not of nanda2023"):
        reproduce(Request("nanda2023", profile="tiny", only=("fig3",), out=numbers), say=silent)
    with pytest.raises(ModgrokError, match="not of nanda2023"):
        reproduce(Request("nanda2023", from_numbers=Path("docs/reproduction/nanda2023"), out=numbers), say=silent)
    with pytest.raises(ModgrokError, match="plan has no effect beside from_numbers"):
        Request("liu2022", from_numbers=numbers, plan=True)
    assert not (tmp_path / "out").exists()


def test_a_change_of_profile_is_said(tmp_path: Path) -> None:
    (tmp_path / "session.json").write_text('{"paper": "gromov2023", "profile": "full"}')
    said: list[str] = []
    reproduce(Request(profile="tiny", only=("kernel",), out=tmp_path), say=said.append)
    assert said[0] == f"{tmp_path} holds numbers of the full profile; those of tiny take their place."


def test_the_call_from_python_plans_without_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = mg.reproduce_paper("gromov2023", profile="tiny", only=("fig0", "fig2"), plan=True)
    assert [row.study for row in rows] == ["fig0", "fig2", "total"]
    assert rows[-1].runs == 4
    assert not list(tmp_path.iterdir())


def test_the_call_from_python_takes_texts() -> None:
    asked = Request.from_dict({"out": "folder", "only": "fig2"})
    assert (asked.out, asked.only) == (Path("folder"), ("fig2",))


def test_the_call_from_python_names_settings_that_there_are_not() -> None:
    with pytest.raises(ModgrokError, match="no setting 'foo'; its settings are paper, profile"):
        mg.reproduce_paper("liu2022", foo=1)
    with pytest.raises(ModgrokError, match="did you mean 'profile'"):
        mg.reproduce_paper("liu2022", profil="tiny")


def test_every_paper_has_its_folder(tmp_path: Path) -> None:
    assert Request().folder == Path("reproduction")
    assert Request("power2022").folder == Path("reproduction/power2022")
    (tmp_path / "file").write_text("")
    with pytest.raises(ModgrokError, match="folder"):
        _ = Request(out=tmp_path / "file").folder


PARENT = """
import time
from modgrok.reproduce.measuring import Process
process = Process()
print("begun", flush=True)
time.sleep(600)
"""


def test_processes_that_measure_end_with_the_one_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(PARENT)
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, tmp_path / "parent.py"], text=True, **pipes) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "begun\n"
        parent.kill()
        parent.communicate(timeout=600)  # which ends when nobody holds stderr any more


def test_errors_of_processes_that_measure_come_back(tmp_path: Path) -> None:
    process = measuring.Process()
    try:
        with pytest.raises(ModgrokError, match="has not ended; train it first"):
            process.measure(("gromov2023", "tiny", "fig2", tmp_path, False))
        process.process.kill()
        with pytest.raises(ModgrokError, match="The process that measured fig2 was ended"):
            process.measure(("gromov2023", "tiny", "fig2", tmp_path, False))
    finally:
        process.end()


SCRIPT = """
import sys
from pathlib import Path
import modgrok as mg
print("once", flush=True)
outcome = mg.reproduce_paper(profile="tiny", only=("fig0",), out=Path(sys.argv[1]))
print(Path(__file__).name, __spec__, outcome.report.name)
"""


def test_a_script_that_reproduces_runs_once(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, tmp_path / "script.py", tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split("\n")) == (0, ["once", "script.py None report.html", ""]), done.stderr
