"""From a request to the report: plan, train, measure, draw, judge; every stage reads what the one before wrote."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Observer, Store
from modgrok.experiments.cost import gpu_seconds, work
from modgrok.experiments.environment import host_environment
from modgrok.experiments.sweeps.engines import EngineName, check_engine, engine_named
from modgrok.experiments.sweeps.execution import Plan, plan
from modgrok.experiments.sweeps.table import Results
from modgrok.reproduce.claim import Verdict
from modgrok.reproduce.measuring import Measuring, Say, draw, picture
from modgrok.reproduce.paper import DEFAULT, Paper, find_paper
from modgrok.reproduce.records import (
    add_to_session,
    copy_records,
    read_records,
    read_session,
    recorded_otherwise,
    recorded_profile,
)
from modgrok.reproduce.report import write_report
from modgrok.reproduce.sizes import Sizes
from modgrok.reproduce.study import Study
from modgrok.setting import require_settings

Watch = Callable[[Plan, dict[str, str]], AbstractContextManager[Observer | None]]
"""From what is to be trained, and the study that needs each run first, to the observer of its training."""


@dataclass(frozen=True)
class Request:
    """Reproduce a paper: train its networks, draw its figures, and give a verdict on each of its claims."""

    paper: str = DEFAULT
    """Which paper; --list names them."""
    profile: Literal["quick", "full", "tiny"] = "quick"
    """quick: a few minutes on two CPU cores; full: the paper's scale with five seeds, on a GPU; tiny: only a test that
    everything runs."""
    only: tuple[str, ...] = ()
    """Only these figures or claims, for example fig2 kernel; all by default."""
    out: Path | None = None
    """Folder of the report, the figures, their numbers and the runs; by default reproduction/ for the first paper, and
    reproduction/PAPER/ for others."""
    force: bool = False
    """Train again what is already there."""
    plan: bool = False
    """Only say what would be trained, and about how long that takes."""
    numbers_only: bool = False
    """Train and write the numbers, without figures and report."""
    from_numbers: Path | None = None
    """Draw figures and report from the numbers in another reproduction's folder; nothing is trained."""
    engine: EngineName = "local"
    """Train on this machine's devices (local), or on a Ray cluster."""
    address: str | None = None
    """Address of a running Ray cluster, such as 10.0.0.1:6379 or auto; without it one is started here, on loopback
    only."""

    def __post_init__(self) -> None:
        check_engine(self.engine, self.address)
        if self.plan and self.from_numbers is not None:
            raise ModgrokError("plan has no effect beside from_numbers, with which nothing is trained; drop one.")

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> "Request":
        """The request that has these fields; folders may be texts, and what is wanted a single name."""
        require_settings("A reproduction", settings, [field.name for field in fields(cls)])
        folders = {name: Path(settings[name]) for name in ("out", "from_numbers") if settings.get(name) is not None}
        only = settings.get("only", ())
        return cls(**settings | folders | {"only": (only,) if isinstance(only, str) else tuple(only)})

    @property
    def folder(self) -> Path:
        """Where everything goes: a folder, or what can become one."""
        out = self.out or (Path("reproduction") if self.paper == DEFAULT else Path("reproduction", self.paper))
        if out.exists() and not out.is_dir():
            raise ModgrokError(f"The reproduction goes to a folder, and {out} is a file.")
        return out


@dataclass(frozen=True)
class Outcome:
    """What a reproduction ends with."""

    verdicts: dict[str, Verdict]
    """On all claims."""
    asked: tuple[str, ...]
    """The claims on the studies that were asked for."""
    report: Path | None


@dataclass(frozen=True)
class StudyCost:
    """The cost of a study beyond the studies before it."""

    runs: int
    run_steps: int
    """An upper bound: runs may stop when they have grokked."""
    programs: int
    """Programs to compile unless cached, at `COMPILE_SECONDS` each."""
    flops: float
    cpu_seconds: float
    """On the CPU of this machine."""
    gpu_seconds: float
    """On an H200."""
    study: str


def planned(request: Request) -> list[StudyCost]:
    """What a request would train, and what that costs: a row for each study, and the total."""
    paper = find_paper(request.paper)
    profile = paper.profile(request.profile)
    studies = paper.chosen(request.only, profile)
    asked = [(first, experiment.resolve()) for experiment, first in shares(studies, profile).items()]
    works = [(first, work(experiment, experiment.load_task())) for first, experiment in asked]
    parts = {study.name: [one for first, one in works if first == study.name] for study in studies}
    parts["total"] = [one for _, one in works]
    return [
        StudyCost(
            runs=len(some),
            run_steps=sum(one.steps for one in some),
            programs=len({one.program for one in some}),
            flops=float(sum(one.flops for one in some)),
            cpu_seconds=sum(one.cpu_seconds for one in some),
            gpu_seconds=gpu_seconds(some),
            study=name,
        )
        for name, some in parts.items()
    ]


def shares(studies: Sequence[Study], profile: Sizes) -> dict[Experiment, str]:
    """The experiments of all studies, each once, in the order of first need, with the study that needs it first."""
    found: dict[Experiment, str] = {}
    for study in studies:
        for experiment in study.needs(profile):
            found.setdefault(experiment, study.name)
    return found


def reproduce(request: Request, watch: Watch = lambda planned, studies: nullcontext(), say: Say = print) -> Outcome:
    """Does what is asked and writes it to the request's folder."""
    paper, out = find_paper(request.paper), request.folder
    source = request.from_numbers
    profile = paper.profile(request.profile) if source is None else recorded_profile(source, paper)
    studies = paper.chosen(request.only, profile)
    if replaced := recorded_otherwise(out, paper, profile):
        say(f"{out} holds numbers of the {replaced} profile; those of {profile.name} take their place.")
    if source is not None:
        copy_records(source, paper, profile, out)
    else:
        with Measuring(paper, profile, out, say, drawn=not request.numbers_only) as measuring:
            train(request, paper, studies, profile, watch, measuring)
    records = read_records(out, paper, profile)
    verdicts = paper.verdicts(records, profile)
    names = {study.name for study in studies}
    asked = tuple(claim.name for claim in paper.claims if not request.only or names.intersection(claim.studies))
    if request.numbers_only:
        return Outcome(verdicts, asked, None)
    if source is not None:
        for study in studies if request.only else paper.studies:
            if study.name in records:
                draw(study, records[study.name], out)
    for study in studies if request.only else ():
        for figure in study.figures if study.name in records else ():
            say(f"figure: {picture(out, figure)}")
    return Outcome(verdicts, asked, write_report(paper, profile, records, verdicts, out))


def train(
    request: Request, paper: Paper, studies: Sequence[Study], profile: Sizes, watch: Watch, measuring: Measuring
) -> None:
    """Trains what the folder's store does not have yet, and has each study measured as soon as its runs have ended."""
    out = request.folder
    store = Store(out / "runs")
    asked = shares(sorted(studies, key=lambda study: not study.slow), profile)
    needed = {e: asked[e] for e in sorted(asked, key=lambda e: bool(e.parent))}  # Whoever has a parent comes after it.
    results = Results(list(needed), store, request.force)
    if not needed and read_session(out).get("profile") != profile.name:
        add_to_session(out, paper, profile, host_environment(), 0.0)
    ids = dict(zip(needed, results.ids, strict=True))
    measuring.missing = {study.name: {ids[e] for e in study.needs(profile)} for study in studies}
    measuring.start(set(results.outcomes))
    if not results.pending:
        return
    from modgrok.training.devices import use_all_cores

    use_all_cores()
    engine = engine_named(request.engine, request.address)
    began = time.monotonic()
    try:
        planned = plan(results, engine)
        with watch(planned, dict(zip(results.ids, needed.values(), strict=True))) as observer:
            measuring.observer = observer or Observer()
            failures = planned.train(measuring)
    finally:
        add_to_session(out, paper, profile, _environment(store, results), time.monotonic() - began)
    if failures:
        raise ModgrokError(f"{failures[0]} Rerun the command to try again.")


def _environment(store: Store, results: Results) -> dict[str, Any]:
    runs = (store.add(experiment) for experiment in results.experiments)
    return next((run.settings["environment"] for run in runs if (run.folder / "experiment.json").exists()), {})
