import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from modgrok.errors import ModgrokError
from modgrok.experiments import Observer, Store
from modgrok.reproduce import catalogue, pipeline
from modgrok.reproduce.__main__ import main, parse
from modgrok.reproduce.catalogue import CLAIMS, FIGURES, chosen_studies
from modgrok.reproduce.pipeline import reproduce
from modgrok.reproduce.plan import cost, union
from modgrok.reproduce.profile import FULL, QUICK, TINY
from modgrok.reproduce.progress import LineProgress
from modgrok.reproduce.request import Request


class Counting(Observer):
    """Counts what is trained, and asks to stop after so many evaluations."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after, self.evaluations, self.ended_runs = stop_after, [], []  # type: ignore[var-annotated]

    def measured(self, run: Any, row: dict[str, Any]) -> None:
        self.evaluations.append((run.id, row["step"]))

    def ended(self, run: Any, result: dict[str, Any]) -> None:
        self.ended_runs.append(run.id)

    def stop_requested(self) -> bool:
        return self.stop_after is not None and len(self.evaluations) >= self.stop_after


def silent(text: str) -> None:
    pass


def test_an_interrupted_reproduction_goes_on_and_trains_nothing_twice(tmp_path: Path) -> None:
    from modgrok.experiments.trainer import Interrupted

    request = Request("tiny", ("fig2",), tmp_path)
    first, second, third = Counting(stop_after=10), Counting(), Counting()
    with pytest.raises(Interrupted):
        reproduce(request, first, silent)
    outcome = reproduce(request, second, silent)
    reproduce(request, third, silent)
    assert not set(first.evaluations) & set(second.evaluations)
    assert not set(first.ended_runs) & set(second.ended_runs)
    assert third.evaluations == []
    assert len(list(Store(tmp_path / "runs"))) == 4
    assert outcome.report == tmp_path / "report.html"
    for name in (
        "report.html",
        "report.md",
        "verdicts.json",
        "figures/fig2.png",
        "figures/fig2.svg",
        "figures/fig2.json",
    ):
        assert (tmp_path / name).stat().st_size > 0
    assert json.loads((tmp_path / "session.json").read_text())["environment"]["device"]
    forced = Counting()
    reproduce(dataclasses.replace(request, force=True), forced, silent)
    assert len(forced.ended_runs) == 4


def test_numbers_travel_without_their_runs(tmp_path: Path, write_runs: Any) -> None:
    write_runs(union(chosen_studies(("fig0", "fig2"), TINY), TINY))
    request = Request("tiny", ("fig0", "fig2"), tmp_path, numbers_only=True)
    (tmp_path / "session.json").write_text('{"profile": "tiny", "environment": {}, "training_seconds": 60}')
    outcome = reproduce(request, None, silent)
    assert outcome.report is None
    assert not (tmp_path / "figures" / "fig0.png").exists()
    there = tmp_path / "there"
    redrawn = reproduce(Request("quick", (), there, from_numbers=tmp_path), None, silent)
    assert redrawn.verdicts == outcome.verdicts
    assert redrawn.report is not None
    assert "1.0 minutes" in redrawn.report.read_text()
    assert {path.name for path in (there / "figures").iterdir()} >= {"fig0.png", "fig2.svg", "fig2.json"}
    assert not (there / "runs").exists()


def test_a_folder_without_numbers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModgrokError, match="no session"):
        reproduce(Request(from_numbers=tmp_path, out=tmp_path / "out"), None, silent)


def test_studies_share_runs() -> None:
    separate = sum(len(study.experiments(QUICK)) for study in chosen_studies((), QUICK))
    together = union(chosen_studies((), QUICK), QUICK)
    assert len({experiment.id for experiment in together[:40]}) == 40
    assert len(together) < separate
    assert union(chosen_studies(("fig0", "fig1"), QUICK), QUICK) == union(chosen_studies(("fig0",), QUICK), QUICK)


def test_profiles_keep_what_they_promise() -> None:
    assert QUICK.modulus == FULL.modulus == FULL.sweep_modulus == FULL.hard_modulus == 97
    assert min(FULL.seeds, FULL.sweep_seeds, FULL.hard_seeds, FULL.closed_seeds) >= 5
    assert not FULL.left_out
    assert cost(chosen_studies((), FULL), FULL)[-1].reference_steps < 10e6
    assert cost(chosen_studies((), QUICK), QUICK)[-1].reference_steps < 25e3


def test_names_are_figures_or_claims() -> None:
    assert [study.name for study in chosen_studies(("kernel", "fig2"), QUICK)] == ["fig2", "kernel"]
    assert [study.name for study in chosen_studies(("claim_two",), QUICK)] == ["figA3", "closed_forms"]
    with pytest.raises(ModgrokError) as caught:
        chosen_studies(("fig7",), QUICK)
    assert "figA5" in str(caught.value)
    assert "branches" in str(caught.value)
    assert not {study.name for study in FIGURES} & set(CLAIMS)


def test_a_study_that_a_profile_leaves_out_is_not_run() -> None:
    assert "more_data" not in [study.name for study in chosen_studies((), QUICK)]
    assert "more_data" in [study.name for study in chosen_studies((), FULL)]


def test_the_plain_command_takes_the_requests_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert parse(["--profile", "full", "--only", "fig2", "kernel", "--numbers-only"]) == Request(
        "full", ("fig2", "kernel"), numbers_only=True
    )
    assert main(["--plan"]) == 0
    assert "total" in capsys.readouterr().out
    assert main(["--only", "fig7"]) == 2
    assert "fig7" in capsys.readouterr().err
    assert main(["--only", "kernel", "--profile", "tiny", "--out", str(tmp_path)]) == 0
    assert "report.html" in capsys.readouterr().out


def test_progress_gives_back_the_work_of_runs_that_end_early(capsys: pytest.CaptureFixture[str]) -> None:
    class Member:
        run = type("run", (), {"id": "a"})
        experiment = catalogue.STUDIES["fig0"].experiments(TINY)[0]
        train = range(10)
        step = 0

    progress = LineProgress(seconds=0.0)
    progress.planned([type("batch", (), {"members": [Member]})])
    steps = Member.experiment.steps
    assert steps is not None
    progress.advanced([Member], 15, 15)
    assert progress.done / progress.total == pytest.approx(15 / steps)
    progress.ended(Member.run, {})
    assert progress.done == progress.total
    assert "1 of 1 runs" in capsys.readouterr().err


def test_the_output_has_to_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModgrokError, match="folder"):
        pipeline.check_out(tmp_path / "file")
