"""From trained runs to the numbers and figures of studies, beside the training where there are several cores."""

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Observer, Run, Store
from modgrok.experiments.observer import Forwarding
from modgrok.experiments.result import Result
from modgrok.plot import style
from modgrok.reproduce.paper import Paper, find_paper
from modgrok.reproduce.records import read_record, write_record
from modgrok.reproduce.sizes import Sizes
from modgrok.reproduce.study import Figure, Numbers, Study
from modgrok.text import duration

Say = Callable[[str], None]
RESOLUTION = 120
"""Dots per inch of the PNG files, which are kept with the sources; the SVG files beside them are not."""

Asked = tuple[str, str, str, Path, bool]
"""The arguments of `measure`."""
BLAS_THREADS = 4
"""The most threads of one process that measures; half as many as there are cores, where these are few: training has
them too, and threads that wait for each other's turn waste it."""


class Measuring(Forwarding):
    """Computes and writes the numbers of studies whose runs have ended, and draws them: in other processes, or where
    there is a single core one after another in the end. Other events of the training it passes on."""

    def __init__(self, paper: Paper, profile: Sizes, out: Path, say: Say, drawn: bool) -> None:
        super().__init__(Observer())
        self.paper, self.profile, self.out, self.say, self.drawn = paper, profile, out, say, drawn
        self.missing: dict[str, set[str]] = {}
        """By study: its runs that have not ended."""
        self.seconds: dict[str, Callable[[], float]] = {}
        """By study: waits until it is measured, or measures it, and says how long that took."""
        self.idle: queue.SimpleQueue[Process] = queue.SimpleQueue()

    def __enter__(self) -> "Measuring":
        cores = os.cpu_count() or 1
        self.processes = [Process() for _ in range(max(1, cores // BLAS_THREADS))] if cores > 1 else []
        for process in self.processes:
            self.idle.put(process)
        self.threads = ThreadPoolExecutor(max(1, len(self.processes)))
        return self

    def ended(self, run: Any, result: Result) -> None:
        super().ended(run, result)
        self.start({run.id})

    def start(self, ended: set[str]) -> None:
        """Has every study measured of which no run is missing any more now that these have ended."""
        for study, runs in self.missing.items():
            runs -= ended
            if not runs and study not in self.seconds:
                asked = self.paper.key, self.profile.name, study, self.out, self.drawn
                later = self.threads.submit(self._measure, asked).result if self.processes else partial(measure, *asked)
                self.seconds[study] = later

    def _measure(self, asked: Asked) -> float:
        process = self.idle.get()
        try:
            return process.measure(asked)
        finally:
            self.idle.put(process)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.threads.shutdown(wait=error is None, cancel_futures=error is not None)
        for process in self.processes:
            process.end()
        for study, seconds in self.seconds.items() if error is None else ():
            if (taken := seconds()) > 2:
                self.say(f"{study}: numbers in {duration(taken)}")


class Process:
    """A process that measures studies: it leaves the GPU alone, uses few threads, and ends with this one. Its own
    session keeps the terminal's Ctrl-C away from it."""

    def __init__(self) -> None:
        threads = str(min(BLAS_THREADS, max(1, (os.cpu_count() or 1) // 2)))
        told = {"JAX_PLATFORMS": "cpu"} | dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), threads)
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": os.environ | told}
        self.process: Any = subprocess.Popen([sys.executable, "-m", __name__], start_new_session=True, **pipes)

    def measure(self, asked: Asked) -> float:
        """What the function returns or raises."""
        try:
            pickle.dump(asked, self.process.stdin)
            self.process.stdin.flush()
            answer = pickle.load(self.process.stdout)
        except (OSError, EOFError):
            raise ModgrokError(f"The process that measured {asked[2]} was ended; rerun the command.") from None
        if isinstance(answer, Exception):
            raise answer
        return float(answer)

    def end(self) -> None:
        self.process.kill()
        with contextlib.suppress(OSError), self.process:  # which closes the pipes
            pass


def main() -> None:
    """Measures what is asked for on stdin until that ends, which it does when the process that asks ends."""
    os.nice(5)  # Training, which all wait for, comes first.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Whatever prints does not answer.
    jobs: queue.SimpleQueue[Asked] = queue.SimpleQueue()
    threading.Thread(target=_read_jobs, args=(jobs,), daemon=True).start()
    while True:
        try:
            answer: Any = measure(*jobs.get())
        except Exception as error:
            error.add_note(traceback.format_exc())
            answer = error
        pickle.dump(answer, answers)
        answers.flush()


def _read_jobs(jobs: "queue.SimpleQueue[Asked]") -> None:
    while True:
        try:
            jobs.put(pickle.load(sys.stdin.buffer))
        except EOFError:
            os._exit(0)  # Nobody waits for what is measured now.


def measure(paper: str, profile_name: str, study_name: str, out: Path, drawn: bool) -> float:
    """Computes and writes the numbers of one study, and its figure; returns how long the numbers took."""
    found, store = find_paper(paper), Store(out / "runs")
    study, profile = found.study(study_name), found.profile(profile_name)

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
        style.save(drawn, picture(out, figure), RESOLUTION)
        drawn.set_layout_engine("none")  # What was laid out for the first file stays where it is in the second.
        style.save(drawn, picture(out, figure).with_suffix(".svg"))


if __name__ == "__main__":
    main()
