"""What the commands that train many networks share: where they train, what it will cost, and how it is watched."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from modgrok.commands.arguments import err
from modgrok.experiments import Experiment
from modgrok.experiments.cost import Estimate, estimate
from modgrok.experiments.planner import Failure
from modgrok.experiments.progress import ManyRuns
from modgrok.experiments.result import Result
from modgrok.experiments.sweeps.engines import EngineName, engine_named
from modgrok.experiments.sweeps.execution import Executor, plan
from modgrok.experiments.sweeps.record import Record
from modgrok.experiments.sweeps.table import Results
from modgrok.text import count, duration, size


@dataclass(frozen=True)
class EngineOptions:
    """Where networks train and where their runs are kept."""

    store: Path | None = None
    """Folder of the runs; by default $MODGROK_STORE, or runs/ here."""
    engine: EngineName = "local"
    """Train on this machine's devices (local), or on a Ray cluster."""
    address: str | None = None
    """Address of a running Ray cluster, such as 10.0.0.1:6379 or auto; without it one is started here, on loopback
    only."""


class WatchedExecutor(Executor):
    """Trains what a command asks for, in one or several rounds, shows it, and ends the program when it is stopped."""

    def __init__(self, options: EngineOptions) -> None:
        super().__init__(options.store, engine_named(options.engine, options.address))
        self.failures: list[Failure] = []

    def forecast(self, results: Results) -> Estimate | None:
        """Says on stderr what the missing runs will cost; None where nothing is missing."""
        planned = plan(results, self.engine)
        err.print(_counts(results.runs, planned.stored, len(planned.batches)))
        if not planned.batches:
            return None
        speed = self.engine.measure(planned.batches[0])
        cost = estimate(planned.batches, speed, self.engine.workers)
        err.print(_costs(cost))
        return cost

    def finish(self, experiments: Sequence[Experiment]) -> list[Result | None]:
        results = Results(experiments, self.store)
        if results.pending:
            self.forecast(results)
        return super().finish(experiments)

    def train(self, results: Results, record: Record | None = None) -> list[Failure]:
        """Trains what is missing; Ctrl-C and SIGTERM store what is done and end the program."""
        from modgrok.errors import Interrupted

        planned = plan(results, self.engine)
        with ManyRuns(err, planned) as progress:
            try:
                self.failures = planned.train(progress, record)
                return self.failures
            except (Interrupted, KeyboardInterrupt):
                pass
        where = "" if record is None else f" (table: {record.folder / 'table.csv'})"
        done = f"{len(results.outcomes)} of {results.runs} runs done{where}"
        err.print(f"modgrok: Stopped with {done}; rerun the command to resume.")
        raise SystemExit(progress.exit_code)

    def report(self) -> None:
        """Ends the program with 1 where something could not be trained; each failure was told when it happened."""
        if self.failures:
            failed = count(sum(len(failure.experiments) for failure in self.failures), "run")
            err.print(f"modgrok: {failed} failed; rerun the command to try them again.")
            raise SystemExit(1)


def _counts(runs: int, stored: int, batches: int) -> str:
    known = f", {count(stored)} of them already in the store" if stored else ""
    return f"{count(runs, 'run')}{known}; {count(batches, 'batch') if batches else 'nothing'} to train."


def _costs(cost: Estimate) -> str:
    side = f"{cost.workers} workers with " if cost.workers > 1 else ""
    return (
        f"About {duration(cost.seconds)} on {side}{cost.speed.devices}, evaluations and compilation included: "
        f"{count(cost.run_steps)} run-steps, the first batch at a measured "
        f"{count(round(cost.workers * cost.speed.run_steps_per_second))}/s. Runs that grok stop earlier.\n"
        f"{size(cost.speed.memory)} of memory on each device, {size(cost.disk)} on disk."
    )
