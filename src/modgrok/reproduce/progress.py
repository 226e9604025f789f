"""Overall progress of training, with the time left: by arithmetic done, not by steps, since steps differ in size."""

import sys
import time
from collections.abc import Sequence
from typing import Any

from modgrok.experiments import Observer
from modgrok.experiments.interruption import Interruption


def step_work(member: Any) -> float:
    """Multiplications of one step, |train|·N·p, up to a factor."""
    e = member.experiment
    return float(len(member.train) * e.width * e.modulus)


class OverallProgress(Observer):
    """Counts the work of all runs; runs that end early take the rest of theirs off the total.

    Training stops, with everything stored, when the program is asked to end.
    """

    def __init__(self) -> None:
        self.interruption = Interruption()
        self.total = self.done = 0.0
        self.runs = self.ended_runs = 0
        self._rest: dict[str, tuple[float, int]] = {}

    def planned(self, batches: Sequence[Any]) -> None:
        members = [member for batch in batches for member in batch.members]
        self._rest = {m.run.id: (step_work(m), m.experiment.steps - m.step) for m in members}
        self.total = self.done + sum(work * steps for work, steps in self._rest.values())
        self.runs = self.ended_runs + len(members)

    def advanced(self, members: Sequence[Any], step: int, run_steps: int) -> None:
        self.interruption.training = True
        count = run_steps // max(1, len(members))
        for member in members:
            work, left = self._rest.get(member.run.id, (0.0, 0))
            self._rest[member.run.id] = work, left - count
            self.done += work * count
        self.shown()

    def ended(self, run: Any, result: Any) -> None:
        work, left = self._rest.pop(run.id, (0.0, 0))
        self.total -= work * left
        self.ended_runs += 1
        self.shown()

    def stop_requested(self) -> bool:
        return self.interruption.requested

    def __enter__(self) -> "OverallProgress":
        self.interruption.__enter__()
        return self

    def __exit__(self, *told: Any) -> None:
        self.interruption.__exit__(*told)

    def shown(self) -> None:
        """Called whenever something has changed."""


class LineProgress(OverallProgress):
    """A line on stderr every few seconds, for logs and machines without a terminal."""

    def __init__(self, seconds: float = 10.0) -> None:
        super().__init__()
        self.seconds = seconds
        self.began = self.last = time.monotonic()

    def shown(self) -> None:
        now = time.monotonic()
        if now - self.last >= self.seconds and self.done and self.total:
            self.last = now
            left = (now - self.began) * (self.total / self.done - 1)
            print(
                f"training: {self.done / self.total:.0%}, {self.ended_runs} of {self.runs} runs, "
                f"about {left / 60:.1f} min left",
                file=sys.stderr,
                flush=True,
            )

    def remark(self, sentence: str) -> None:
        print(sentence, file=sys.stderr)


class BarProgress(OverallProgress):
    """A bar on a terminal, by rich."""

    def __init__(self, console: Any) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        super().__init__()
        self.console = console
        self.bar = Progress(
            TextColumn("training"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %  {task.description}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            speed_estimate_period=120,
        )
        self.task = self.bar.add_task("", total=None)

    def __enter__(self) -> "BarProgress":
        self.bar.start()
        super().__enter__()
        return self

    def __exit__(self, *told: Any) -> None:
        self.bar.stop()
        super().__exit__(*told)

    def shown(self) -> None:
        self.bar.update(
            self.task,
            completed=self.done,
            total=max(self.total, 1.0),
            description=f"{self.ended_runs} of {self.runs} runs",
        )

    def remark(self, sentence: str) -> None:
        self.console.print(sentence, style="yellow")
