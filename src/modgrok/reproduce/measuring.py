"""From trained runs to the numbers and figures of studies, beside the training where there are several cores."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Run, Store
from modgrok.plot import style
from modgrok.reproduce.paper import Paper, find_paper
from modgrok.reproduce.records import read_record, write_record
from modgrok.reproduce.sizes import Sizes
from modgrok.reproduce.study import Figure, Numbers, Study
from modgrok.text import duration

Say = Callable[[str], None]


class Measuring:
    """Computes and writes the numbers of studies and draws them: one after another in the end, or in other processes as
    soon as it can be where there are several cores."""

    def __init__(self, paper: Paper, profile: Sizes, out: Path, say: Say, drawn: bool) -> None:
        self.paper, self.profile, self.out, self.say, self.drawn = paper, profile, out, say, drawn
        self.waiting: list[Study] = []
        self.pool: Executor | None = None
        self.started: list[tuple[Study, Future[float]]] = []

    def __enter__(self) -> "Measuring":
        if (cores := os.cpu_count() or 1) > 1:
            processes = max(1, cores // BLAS_THREADS)
            self.pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _prepare_process)
        return self

    def start(self, studies: Sequence[Study]) -> None:
        """These can be measured now: their runs have ended, or they need none."""
        if self.pool is None:
            self.waiting += studies
            return
        with _environment_of_processes(), _without_main_module():
            self.started += [(study, self.pool.submit(measure, *self._asked(study))) for study in studies]

    def _asked(self, study: Study) -> tuple[str, str, str, Path, bool]:
        return self.paper.key, self.profile.name, study.name, self.out, self.drawn

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self.pool is not None:
            self.pool.shutdown(wait=error is None, cancel_futures=error is not None)
        if error is not None:
            return
        taken = [(study.name, future.result()) for study, future in self.started]
        taken += [(study.name, measure(*self._asked(study))) for study in self.waiting]
        for name, seconds in taken:
            if seconds > 2:
                self.say(f"{name}: numbers in {duration(seconds)}")


BLAS_THREADS = 4
"""The most threads of one process that measures; half as many as there are cores, where these are few: training has
them too, and threads that wait for each other's turn waste it."""


def _prepare_process() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The terminal's Ctrl-C is for the process that started this one.
    os.nice(5)  # Training, which all wait for, comes first.
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A process that is killed does not tell those that work for it."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _environment_of_processes() -> Iterator[None]:
    """Processes started inside leave the GPU alone and use few threads each."""
    threads = str(min(BLAS_THREADS, max(1, (os.cpu_count() or 1) // 2)))
    told = {"JAX_PLATFORMS": "cpu"} | dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), threads)
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


@contextmanager
def _without_main_module() -> Iterator[None]:
    """Processes started inside do not import the program that asked for them: a script would run once more in each."""
    main: dict[str, Any] = vars(sys.modules["__main__"])
    before = main.copy()
    main.pop("__file__", None)
    main["__spec__"] = None
    try:
        yield
    finally:
        main.update((name, before[name]) for name in ("__file__", "__spec__") if name in before)


def measure(paper: str, profile_name: str, study_name: str, out: Path, drawn: bool) -> float:
    """Computes and writes the numbers of one study, and its figure; returns how long the numbers took."""
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
    taken = time.monotonic() - began
    if drawn:
        draw(study, read_record(out, study, profile) or {}, out)
    return taken


def picture(out: Path, figure: Figure) -> Path:
    """Where a figure is; beside it lies the same as SVG."""
    return out / "figures" / f"{figure.name}.png"


def draw(study: Study, numbers: Numbers, out: Path) -> None:
    """Draws the figures of a study from its numbers, as PNG and SVG."""
    for figure in study.figures:
        with style.context():
            drawn = figure.draw(numbers)
        style.save(drawn, picture(out, figure))
        drawn.set_layout_engine("none")  # What was laid out for the first file stays where it is in the second.
        style.save(drawn, picture(out, figure).with_suffix(".svg"))
