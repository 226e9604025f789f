"""What the commands that train many networks share: where they train, what it will cost, and how it is watched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from modgrok.commands.arguments import err
from modgrok.commands.train import explanation
from modgrok.errors import Interrupted
from modgrok.experiments import Experiment
from modgrok.experiments.cost import Estimate, estimate
from modgrok.experiments.divergence import rate_hints
from modgrok.experiments.planner import Failure
from modgrok.experiments.progress import ManyRuns
from modgrok.experiments.result import Result, bad_ends
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
        self.ended: dict[str, tuple[Experiment, Result]] = {}
        """Every run that was asked for and has ended, trained now or before, by its id."""
        self._hinted = False

    def forecast(self, results: Results) -> Estimate | None:
        """Says what the missing runs will cost, and once whether their rates are far off; None where none is."""
        planned = plan(results, self.engine)
        runs, batches = count(results.runs, "run"), planned.batches
        known = f", {count(planned.stored)} of them already in the store" if planned.stored else ""
        err.print(f"{runs}{known}; {count(len(batches), 'batch') if batches else 'nothing'} to train.")
        if not batches:
            return None
        speed = self.engine.measure(batches[0])
        cost = estimate(batches, speed, self.engine.workers)
        err.print(_costs(cost))
        if not self._hinted and (hint := rate_hints(results.pending)):
            err.print(hint, style="yellow")
            self._hinted = True
        return cost

    def finish(self, experiments: Sequence[Experiment]) -> list[Result | None]:
        results = Results(experiments, self.store)
        if results.pending:
            self.forecast(results)
            self.train(results)
        self.ended |= ended_runs(results)
        return results.in_order

    def train(self, results: Results, record: Record | None = None) -> list[Failure]:
        """Trains what is missing; Ctrl-C and SIGTERM store what is done and end the program."""
        planned = plan(results, self.engine)
        with ManyRuns(err, planned) as progress:
            try:
                failures = planned.train(progress, record)
                self.failures += failures
                self.ended |= ended_runs(results)
                return failures
            except (Interrupted, KeyboardInterrupt):
                pass
        where = "" if record is None else f" (table: {record.folder / 'table.csv'})"
        done = f"{len(results.outcomes)} of {results.runs} runs done{where}"
        err.print(f"modgrok: Stopped with {done}; rerun the command to resume.")
        raise SystemExit(progress.exit_code)

    def report(self) -> None:
        """Says which runs diverged or collapsed, and ends the program with 1 where something could not be trained; each
        failure was told when it happened."""
        tell_bad_ends(self.ended)
        if self.failures:
            failed = count(sum(len(failure.experiments) for failure in self.failures), "run")
            err.print(f"modgrok: {failed} failed; rerun the command to try them again.")
            raise SystemExit(1)


def ended_runs(results: Results) -> dict[str, tuple[Experiment, Result]]:
    """The experiments and outcomes of the runs that have ended, by their ids."""
    pairs = zip(results.experiments, results.in_order, strict=True)
    return {result.run: (experiment, result) for experiment, result in pairs if result is not None}


def tell_bad_ends(ended: Mapping[str, tuple[Experiment, Result]]) -> None:
    """Says on stderr how many runs diverged or collapsed, and why the first of them did."""
    for how, number in bad_ends(result.status for _, result in ended.values()).items():
        if number:
            run, why = next((run, explanation(*one)) for run, one in ended.items() if one[1].status == how)
            err.print(f"{count(number)} of {count(len(ended), 'run')} {how}. The first, {run}: {why}", style="yellow")


def _costs(cost: Estimate) -> str:
    side = f"{cost.workers} workers with " if cost.workers > 1 else ""
    return (
        f"About {duration(cost.seconds)} on {side}{cost.speed.devices}, evaluations and compilation included: "
        f"{count(cost.run_steps)} run-steps, the first batch at a measured "
        f"{count(round(cost.workers * cost.speed.run_steps_per_second))}/s. Runs that grok or diverge stop earlier.\n"
        f"{size(cost.speed.memory)} of memory on each device, {size(cost.disk)} on disk."
    )
