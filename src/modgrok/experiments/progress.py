"""Progress of training in a terminal or under a notebook's cell; elsewhere, an occasional line."""

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from modgrok.experiments.cost import work
from modgrok.experiments.environment import in_notebook
from modgrok.experiments.observer import Stopping
from modgrok.experiments.result import Result
from modgrok.text import count, duration, percent, printable

LINE_SECONDS = 10.0
"""Seconds between two lines without a terminal."""
CELL_SECONDS = 0.7
"""Time between two versions of the line under a cell, and before the first."""
WINDOW_SECONDS = 10.0
"""Time over which the speed is averaged."""
FIRST_SECONDS = 2.0
"""Training before the time left of many runs is said."""
EARLIER_SECONDS = 5.0
"""How long the pace of earlier batches counts at the start of the next."""
ASSUMED = 0.01
"""Share of the runs that may end early that the time left assumes to have ended at the start."""


class LiveProgress(Stopping):
    """Shows the progress of one or many runs, and stops training on a signal."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console = console
        self.runs, self.ended_runs = 0, 0
        self.done, self.total = 0, 0
        """Run-steps taken and in total; a run that ends early reduces the total."""
        self.step, self.steps = 0, 0
        self.latest: dict[str, Any] = {}
        self._speeds: list[tuple[float, int]] = []
        self._last_line = time.monotonic()
        columns = (BarColumn(bar_width=24), TextColumn("{task.description}"))
        self._bar = Progress(*columns, console=console, transient=True) if console.is_terminal else None
        self._task = self._bar.add_task("compiling", total=None) if self._bar else None

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        if self._bar:
            self._bar.stop()
        super().__exit__(*error)

    def planned(self, batches: Sequence[Any]) -> None:
        members = [member for batch in batches for member in batch.members]
        self.runs = self.ended_runs + len(members)
        self.total = self.done + sum(member.experiment.steps - member.step for member in members)
        self._speeds = [(time.monotonic(), self.done)]
        if any(member.step for member in members):
            self.remark(f"Resuming from step {max(member.step for member in members)}.")

    def advanced(self, members: Sequence[Any], step: int, run_steps: int) -> None:
        super().advanced(members, step, run_steps)
        self.step, self.steps = step, members[0].experiment.steps
        self.done += run_steps
        now = time.monotonic()
        self._speeds.append((now, self.done))
        while now - self._speeds[1][0] > WINDOW_SECONDS:
            self._speeds.pop(0)
        self._show()

    def measured(self, run: Any, row: dict[str, Any]) -> None:
        self.latest = row

    def recorded(self, runs: Sequence[Any], row_of: Callable[[int], dict[str, Any]]) -> None:
        self.measured(runs[-1], row_of(len(runs) - 1))

    def ended(self, run: Any, result: Result) -> None:
        self.ended_runs += 1
        self.total -= run.experiment.steps - result.steps
        self._show()

    def remark(self, sentence: str) -> None:
        self.console.print(printable(sentence), style="yellow", highlight=False, markup=False, soft_wrap=True)

    @property
    def speed(self) -> float:
        """Recent run-steps per second."""
        (then, before), (now, after) = self._speeds[0], self._speeds[-1]
        return (after - before) / (now - then) if now > then else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds left, at the recent speed; None before there is one."""
        return (self.total - self.done) / self.speed if self.speed else None

    def describe(self) -> str:
        """The progress in one line."""
        parts = [f"step {count(self.step)} of {count(self.steps)}"]
        if self.runs > 1:
            parts.insert(0, f"{count(self.ended_runs)} of {count(self.runs)} runs")
        if self.speed:
            parts.append(f"{count(round(self.speed))} {'run-steps/s' if self.runs > 1 else 'steps/s'}")
        if self.runs == 1:
            known = [(name, self.latest.get(f"{name}_accuracy")) for name in ("train", "test")]
            parts += [f"{name} {percent(value)}" for name, value in known if value is not None]
        if (left := self.seconds_left) is not None:
            parts.append(f"{duration(round(left))} left")
        return " · ".join(parts)

    def _show(self) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self.done, total=self.total, description=self.describe())
        elif time.monotonic() - self._last_line > LINE_SECONDS:
            self._last_line = time.monotonic()
            self.console.print(self.describe(), highlight=False, markup=False, soft_wrap=True)


class NotebookProgress(LiveProgress):
    """The line under a notebook's cell, for training that takes more than a moment; cleared at the end."""

    def __init__(self) -> None:
        super().__init__(Console(stderr=True, force_jupyter=False, force_terminal=False))
        self._line: Any = None

    def __exit__(self, *error: object) -> None:
        if self._line is not None:
            self._line.update({"text/plain": ""}, raw=True)
        super().__exit__(*error)

    def _show(self) -> None:
        if time.monotonic() - self._last_line < CELL_SECONDS:
            return
        self._last_line = time.monotonic()
        content = {"text/plain": self.describe()}
        if self._line is None:
            from IPython.display import display

            self._line = display(content, raw=True, display_id=True)
        else:
            self._line.update(content, raw=True)


@dataclass
class Pace:
    """How long work takes: cost done, and the seconds it took."""

    cost: float = 0.0
    seconds: float = 0.0

    def add(self, cost: float, seconds: float) -> None:
        self.cost += cost
        self.seconds += seconds

    def time(self, cost: float) -> float:
        return self.seconds / self.cost * max(0.0, cost) if self.cost else 0.0

    def cut(self, seconds: float) -> "Pace":
        """The same pace, from no more than this time of it."""
        share = min(1.0, seconds / self.seconds) if self.seconds else 0.0
        return Pace(share * self.cost, share * self.seconds)


@dataclass
class EarlyEnds:
    """How often runs that may end early do: those that ended, per full length trained by all of them. Active runs count
    too, since the first to end are the shortest. Begins as if a few runs had ended, one in each length."""

    ended: float
    lengths: float

    def expected(self, left: float) -> float:
        """Share of what is left that runs will train, with this share of their length left, ending at one rate."""
        ends = self.ended / self.lengths * left
        return -math.expm1(-ends) / ends if ends > 0 else 1.0


class ManyRuns(LiveProgress):
    """The progress of all planned runs across batches. Steps differ in cost, batches take time to start, and runs that
    grok end early: the time left counts all three as they were so far."""

    def __init__(self, console: Console, planned: Any) -> None:
        super().__init__(console)
        batches = dict(enumerate(planned.batches))
        members = [member for batch in batches.values() for member in batch.members]
        steps = {member.id: member.experiment.steps or 1 for member in members}
        self.ended_runs, self.runs, self.total = planned.stored, planned.results.runs, sum(steps.values())
        self.costs = {m.id: work(m.experiment, m.task).cpu_seconds / steps[m.id] for m in members}
        """Of a step of each run, in seconds of a quiet CPU."""
        self.batch_of = {member.id: i for i, batch in batches.items() for member in batch.members}
        self.stopping = {i: 1.0 for i, batch in batches.items() if batch.members[0].experiment.until is not None}
        """Batches whose runs may end early, with the share of their length that is left."""
        self.left = dict.fromkeys(batches, 0.0)
        """Cost of what is left of each batch."""
        for name, number in steps.items():
            self.left[self.batch_of[name]] += self.costs[name] * number
        early = ASSUMED * sum(self.batch_of[name] in self.stopping for name in steps)
        self.early = EarlyEnds(early, early)
        self.pace, self.batch_pace = Pace(), Pace()
        """Of all training, and of the batch that trains now, which begins as all before."""
        self.starts, self.started = deque[float](maxlen=8), set[int]()
        self._last_advance = time.monotonic()
        self._speeds = [(self._last_advance, 0)]

    def planned(self, batches: Sequence[Any]) -> None:
        for member in (member for batch in batches for member in batch.members):
            self.total -= member.step
            self.left[self.batch_of[member.id]] -= member.step * self.costs[member.id]

    def advanced(self, members: Sequence[Any], step: int, run_steps: int) -> None:
        name, steps = members[0].experiment.content_hash, members[0].experiment.steps
        batch, cost = self.batch_of[name], run_steps * self.costs[name]  # the runs of a batch have one shape
        self.left[batch] -= cost
        if batch in self.stopping:
            self.stopping[batch] = 1 - step / steps
            self.early.lengths += run_steps / steps
        now = time.monotonic()
        if batch in self.started:
            self.pace.add(cost, now - self._last_advance)
            self.batch_pace.add(cost, now - self._last_advance)
        else:
            self.batch_pace = self.pace.cut(EARLIER_SECONDS)
            self.starts.append(now - self._last_advance)
            self.started.add(batch)
        self.current, self._last_advance = batch, now
        super().advanced(members, step, run_steps)

    def ended(self, run: Any, result: Result) -> None:
        self.left[self.batch_of[run.id]] -= self.costs[run.id] * (run.experiment.steps - result.steps)
        self.early.ended += result.steps < run.experiment.steps and self.batch_of[run.id] in self.stopping
        super().ended(run, result)

    @property
    def seconds_left(self) -> float | None:
        if self.pace.seconds < FIRST_SECONDS:
            return None
        left = self.left | {i: self.left[i] * self.early.expected(share) for i, share in self.stopping.items()}
        now = left.pop(self.current)
        starting = sum(self.starts) / len(self.starts) * (len(self.left) - len(self.started))
        return self.batch_pace.time(now) + self.pace.time(sum(left.values())) + starting


def progress_display() -> Stopping:
    """What shows the progress here: a bar, a line under a notebook's cell, or remarks alone."""
    if in_notebook():
        return NotebookProgress()
    return LiveProgress(Console(stderr=True)) if sys.stderr.isatty() else Stopping()
