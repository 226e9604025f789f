"""What the commands that train many networks share: where they train, what it will cost, and how it is watched."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.text import Text

from modgrok.commands.arguments import err
from modgrok.experiments import Store
from modgrok.experiments.cost import Estimate, estimate, work
from modgrok.experiments.planner import Failure
from modgrok.experiments.progress import LiveProgress
from modgrok.experiments.result import Result
from modgrok.experiments.sweeps.engines import Engine
from modgrok.experiments.sweeps.execution import Plan, execute, plan
from modgrok.experiments.sweeps.record import Record
from modgrok.experiments.sweeps.results import Results
from modgrok.text import count, duration, size


@dataclass(frozen=True)
class Place:
    """Where networks train and where their runs are kept."""

    store: Path | None = None
    """Folder of the runs; by default $MODGROK_STORE, or runs/ here."""
    engine: Literal["local", "ray"] = "local"
    """Train on this machine's devices (local), or on a Ray cluster."""
    address: str | None = None
    """Of a running Ray cluster, for example 10.0.0.1:6379 or auto; without it one is started here, on loopback only."""


class ManyRuns(LiveProgress):
    """The progress of all planned runs, whatever batches they train in. Their steps differ in size, so the time left is
    told from operations done and to be done."""

    def __init__(self, planned: Plan) -> None:
        super().__init__(err)
        members = [member for batch in planned.batches for member in batch.members]
        steps = {member.id: member.experiment.steps or 1 for member in members}
        self.ended_runs, self.runs, self.total = planned.stored, planned.runs, sum(steps.values())
        self.flops = {m.id: work(m.experiment, m.task).flops / steps[m.id] for m in members}
        """Of a step of each run."""
        self.flops_done, self.flops_left = 0.0, sum(self.flops[name] * number for name, number in steps.items())
        self.began = time.monotonic()
        self._speeds = [(self.began, 0)]

    def planned(self, batches: Sequence[Any]) -> None:
        for member in (member for batch in batches for member in batch.members):
            self.total -= member.step
            self.flops_left -= member.step * self.flops[member.id]

    def advanced(self, members: Sequence[Any], step: int, run_steps: int) -> None:
        flops = run_steps * self.flops[members[0].experiment.content_hash]  # the runs of a batch have one shape
        self.flops_done += flops
        self.flops_left -= flops
        super().advanced(members, step, run_steps)

    def ended(self, run: Any, result: Result) -> None:
        self.flops_left -= self.flops[run.id] * (run.experiment.steps - result.steps)
        super().ended(run, result)

    @property
    def seconds_left(self) -> float:
        return (time.monotonic() - self.began) * max(0.0, self.flops_left) / self.flops_done if self.flops_done else 0.0


class Work:
    """Trains what commands ask for, in one or several rounds, and ends the program properly when it is stopped."""

    def __init__(self, place: Place) -> None:
        from modgrok.experiments.sweeps.engines import engine_named
        from modgrok.training.devices import use_all_cores

        use_all_cores()
        self.store = Store(place.store)
        self.engine: Engine = engine_named(place.engine, place.address)

    def forecast(self, results: Results) -> Estimate | None:
        """Says on stderr what the missing runs will cost; None where nothing is missing."""
        planned = plan(results, self.store, self.engine)
        err.print(_counts(planned.runs, planned.stored, len(planned.batches)), highlight=False, soft_wrap=True)
        if not planned.batches:
            return None
        speed = self.engine.measure(planned.batches[0], self.store)
        cost = estimate(planned.batches, speed, self.engine.workers)
        err.print(_costs(cost), highlight=False, soft_wrap=True)
        return cost

    def train(self, results: Results, record: Record | None = None) -> list[Failure]:
        """Trains what is missing, watched; Ctrl-C and SIGTERM store what is done and end the program."""
        from modgrok.experiments.trainer import Interrupted

        planned = plan(results, self.store, self.engine)
        with ManyRuns(planned) as progress:
            try:
                return execute(planned, results, self.store, self.engine, progress, record)
            except (Interrupted, KeyboardInterrupt):
                pass
        where = "" if record is None else f", and the table of what is done is {record.folder / 'table.csv'}"
        done = f"{len(results.outcomes)} of {results.runs} runs are done"
        err.print(Text(f"modgrok: Stopped: {done}{where}. The same command finishes the rest."), soft_wrap=True)
        raise SystemExit(progress.interruption.exit_code)


def report(failures: Sequence[Failure]) -> None:
    """Ends the program with 1 where something could not be trained; each failure was told when it happened."""
    if failures:
        failed = count(sum(len(failure.experiments) for failure in failures), "run")
        err.print(Text(f"modgrok: {failed} failed; the same command tries them again."), soft_wrap=True)
        raise SystemExit(1)


def _counts(runs: int, stored: int, batches: int) -> str:
    known = f", {count(stored)} of them in the store already" if stored else ""
    return f"{count(runs, 'run')}{known}; {count(batches, 'batch') if batches else 'nothing'} to train."


def _costs(cost: Estimate) -> str:
    side = f"{cost.workers} workers with " if cost.workers > 1 else ""
    return (
        f"About {duration(cost.seconds)} on {side}{cost.speed.devices} with evaluations and compilation: "
        f"{count(cost.run_steps)} run-steps, the first batch's at "
        f"{count(round(cost.workers * cost.speed.run_steps_per_second))}/s, measured. Runs that grok stop earlier.\n"
        f"{size(cost.speed.memory)} of memory on each device, {size(cost.disk)} on disk."
    )
