"""From a request to the report: plan, train, measure, draw, judge; every stage reads what the one before wrote."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Observer, Run, Store
from modgrok.experiments.environment import host_environment
from modgrok.experiments.sweeps.engines import engine_named
from modgrok.experiments.sweeps.execution import Plan, execute, plan
from modgrok.experiments.sweeps.results import Results
from modgrok.plot import style
from modgrok.reproduce.claim import Verdict
from modgrok.reproduce.paper import DEFAULT, Paper, find_paper
from modgrok.reproduce.plan import shares
from modgrok.reproduce.records import add_to_session, copy_records, read_records, read_session, write_record
from modgrok.reproduce.report import write_report
from modgrok.reproduce.study import Numbers, Profile, Study
from modgrok.text import duration

Say = Callable[[str], None]
Watch = Callable[[Plan, dict[str, str]], AbstractContextManager[Observer | None]]
"""From what is to be trained, and the study that needs each run first, to the observer of its training."""


@dataclass(frozen=True)
class Request:
    """Train, measure, draw and judge: a paper's figures and claims, with a verdict for each."""

    paper: str = DEFAULT
    """Which paper; --list names them."""
    profile: Literal["quick", "full", "tiny"] = "quick"
    """quick: two CPU cores, some minutes; full: the paper's scale with five seeds, on a GPU."""
    only: tuple[str, ...] = ()
    """Figures or claims to make, for example fig2 kernel; all by default."""
    out: Path | None = None
    """Folder of the report, the figures, their numbers and the runs; by default reproduction/ for the first paper, and
    reproduction/PAPER/ for others."""
    force: bool = False
    """Train again what is already there."""
    plan: bool = False
    """Only say what would be trained, and about how long it takes."""
    numbers_only: bool = False
    """Train and write the numbers, without figures and report."""
    from_numbers: Path | None = None
    """Draw figures and report from the numbers in another reproduction's folder; nothing is trained."""
    engine: Literal["local", "ray"] = "local"
    """Train on this machine's devices (local), or on a Ray cluster."""
    address: str | None = None
    """Of a running Ray cluster, for example 10.0.0.1:6379 or auto; without it one is started here, on loopback only."""

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
    report: Path | None


def reproduce(request: Request, watch: Watch = lambda planned, studies: nullcontext(), say: Say = print) -> Outcome:
    """Does what is asked and writes it to the request's folder."""
    paper, out = find_paper(request.paper), request.folder
    profile = paper.profile(request.profile)
    studies = paper.chosen(request.only, profile)
    if request.from_numbers is not None:
        profile = paper.profile(copy_records(request.from_numbers, paper, out))
    else:
        with Measuring(paper, profile, out, say) as measuring:
            alone = [study for study in studies if not study.needs(profile)]
            measuring.start(alone)
            train(request, studies, profile, watch)
            measuring.start([study for study in studies if study not in alone])
    records = read_records(out, paper, profile)
    verdicts = {claim.name: claim.verdict(records) for claim in paper.claims}
    if request.numbers_only:
        return Outcome(verdicts, None)
    wanted = studies if request.only else paper.studies
    for path in draw([study for study in wanted if study.name in records], records, out):
        if request.only:
            say(f"figure: {path}")
    return Outcome(verdicts, write_report(paper, profile, records, verdicts, out))


def train(request: Request, studies: Sequence[Study], profile: Profile, watch: Watch) -> None:
    """Trains what the folder's store does not have yet."""
    out = request.folder
    store, needed = Store(out / "runs"), shares(studies, profile)
    if request.force:
        for experiment in needed:
            if (run := store.add(experiment)).folder.exists():
                store.remove(run)
    results = Results(list(needed), store)
    if not needed and read_session(out).get("profile") != profile.name:
        add_to_session(out, profile, host_environment(), 0.0)
    if not results.pending:
        return
    from modgrok.training.devices import use_all_cores

    use_all_cores()
    engine = engine_named(request.engine, request.address)
    began = time.monotonic()
    try:
        planned = plan(results, store, engine)
        with watch(planned, dict(zip(results.ids, needed.values(), strict=True))) as observer:
            failures = execute(planned, results, store, engine, observer)
    finally:
        add_to_session(out, profile, _environment(store, results), time.monotonic() - began)
    if failures:
        raise ModgrokError(f"{failures[0]} The same command tries again what could not be trained.")


def _environment(store: Store, results: Results) -> dict[str, Any]:
    runs = (store.add(experiment) for experiment in results.experiments)
    return next((run.settings["environment"] for run in runs if (run.folder / "experiment.json").exists()), {})


class Measuring:
    """Computes and writes the numbers of studies: one after another in the end, or each in a process of its own as soon
    as it can be where there are cores to spare."""

    def __init__(self, paper: Paper, profile: Profile, out: Path, say: Say) -> None:
        self.paper, self.profile, self.out, self.say = paper, profile, out, say
        self.waiting: list[Study] = []
        self.pool: Executor | None = None
        self.started: list[tuple[Study, Future[float]]] = []

    def __enter__(self) -> "Measuring":
        if (spare := (os.cpu_count() or 1) // BLAS_THREADS) > 1:
            self.pool = ProcessPoolExecutor(spare, multiprocessing.get_context("spawn"), _prepare_process)
        return self

    def start(self, studies: Sequence[Study]) -> None:
        """These can be measured now: their runs have ended, or they need none."""
        if self.pool is None:
            self.waiting += studies
            return
        with _environment_of_processes():
            for study in studies:
                asked = (self.paper.key, self.profile.name, study.name, self.out)
                self.started.append((study, self.pool.submit(measure, *asked)))

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self.pool is not None:
            self.pool.shutdown(wait=error is None, cancel_futures=error is not None)
        if error is not None:
            return
        taken = [(study.name, future.result()) for study, future in self.started]
        taken += [(s.name, measure(self.paper.key, self.profile.name, s.name, self.out)) for s in self.waiting]
        for name, seconds in taken:
            if seconds > 2:
                self.say(f"{name}: numbers in {duration(seconds)}")


BLAS_THREADS = 4
"""Threads of one process that measures."""


def _prepare_process() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The terminal's Ctrl-C is for the process that started this one.


@contextmanager
def _environment_of_processes() -> Iterator[None]:
    """Processes started inside leave the GPU alone and use few threads each."""
    told = {"JAX_PLATFORMS": "cpu"} | dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(BLAS_THREADS))
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def measure(paper: str, profile_name: str, study_name: str, out: Path) -> float:
    """Computes and writes the numbers of one study; returns how long that took."""
    found, store = find_paper(paper), Store(out / "runs")
    profile = found.profile(profile_name)
    (study,) = (study for study in found.studies if study.name == study_name)

    def finished(experiment: Experiment) -> Run:
        run = store.add(experiment)
        if run.result is None:
            raise ModgrokError(f"Run {run.id} has not ended; train it first.")
        return run

    began = time.monotonic()
    write_record(out, study, profile, study.measure(profile, finished))
    return time.monotonic() - began


def draw(studies: Sequence[Study], records: dict[str, Numbers], out: Path) -> list[Path]:
    """Draws figures from numbers, as PNG and SVG; returns where the former are."""
    drawn = []
    for study in studies:
        if study.draw is None:
            continue
        with style.context():
            figure = study.draw(records[study.name])
        path = out / "figures" / f"{study.name}.png"
        style.save(figure, path)
        style.save(figure, path.with_suffix(".svg"))
        drawn.append(path)
    return drawn
