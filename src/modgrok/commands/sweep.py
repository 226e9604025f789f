"""`modgrok sweep`: many runs from one command or one file, and their table and pictures."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from rich.table import Table

from modgrok import plot
from modgrok.commands.arguments import (
    FIGURES,
    TABLES,
    InStore,
    Printed,
    check_output,
    err,
    figure_of,
    new_table,
    out,
    parse,
    print_json,
    typed_flags,
)
from modgrok.commands.flags import Positional, Repeated
from modgrok.commands.sweeping import EngineOptions, WatchedExecutor, ended_runs, tell_bad_ends
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Store
from modgrok.experiments.experiment import known_settings
from modgrok.experiments.given_settings import chosen_settings, is_settings_file
from modgrok.experiments.label import Label
from modgrok.experiments.sweeps.record import Record, find_sweep, stored_sweeps
from modgrok.experiments.sweeps.summary import GROKKED, Cell, Summary, summarize
from modgrok.experiments.sweeps.sweep import DEFAULTS, Sweep
from modgrok.experiments.sweeps.table import Results, sweep_table
from modgrok.text import NONE, count, number, percent


@dataclass(frozen=True)
class NewSweep(Printed):
    """Train all combinations of settings into one table. Stored runs are not trained again, so rerun the command to
    finish a stopped sweep. Instead of EXPR you may give a .toml or .json file: [experiment] has the settings, and every
    [[vary]] is an axis, such as fraction = "0.2:0.8:0.05" or optimizer = ["gd", "adamw"]; settings in one [[vary]]
    change together. See also modgrok sweep show --help and modgrok sweep list --help."""

    settings: dict[str, Any]
    options: EngineOptions
    vary: Annotated[tuple[str, ...], Repeated("NAME=VALUES")] = ()
    """An axis: seed=0:5 counts 0 to 4, fraction=0.2:0.8:0.05 goes in steps and includes both ends, lr=log:1e-3:1e-1:5
    has equal ratios, optimizer=gd,adamw is a list. Several settings in one --vary, as in "optimizer=gd,adamw;
    lr=4e5,0.03", change together. Repeat it for more axes."""
    plan: bool = False
    """Only say what the sweep would cost."""
    out: Path | None = None
    """Also write the table to this .csv or .parquet file."""


@dataclass(frozen=True)
class Show(InStore):
    """Print and draw an outcome of a sweep over one or two of its axes: a curve with its spread over the other axes, or
    a heat map of medians."""

    sweep: Annotated[str, Positional("SWEEP")]
    """Its id, the beginning of it, or its name; last is the latest."""
    outcome: str = "grokked_at"
    """Any column of the table, such as grokked_at, test_accuracy, ipr; grokked is the share of runs that grokked."""
    x: str | None = None
    """A setting that varies; by default the first one with several numbers."""
    y: str | None = None
    """A second one: curves of several colors, or the heat map's other axis."""
    kind: Literal["auto", "curves", "map"] = "auto"
    """curves, map, or auto: a map where both settings are numbers."""
    figure: Path | None = None
    """Draw to this .png, .svg or .pdf file."""
    out: Path | None = None
    """Write the whole table to this .csv or .parquet file."""


class List(InStore):
    """List the sweeps of a store, the latest first."""


def main(argv: list[str]) -> None:
    """Run, show or list."""
    if argv[:1] == ["show"]:
        return _show(parse(Show, "sweep show", argv[1:]))
    if argv[:1] == ["list"]:
        return _list(parse(List, "sweep list", argv[1:]))
    asked = parse(NewSweep, "sweep", argv, chosen_settings(DEFAULTS))
    check_output(asked.out, *TABLES)
    sweep = _sweep(asked, typed_flags(argv))
    executor = WatchedExecutor(asked.options)
    results = Results(sweep.experiments, executor.store)
    cost = executor.forecast(results)
    if not asked.plan:
        executor.train(results, Record(sweep, executor.store))
    table = sweep_table(sweep, results)
    if asked.out is not None and not asked.plan:
        table.write(asked.out)
    if asked.json:
        plan, rows = None if cost is None else cost.as_dict(), [] if asked.plan else table.rows
        print_json(_counts(sweep, results) | {"plan": plan, "rows": rows})
    elif not asked.plan:
        store = asked.options.store
        where = "" if store is None else f" --store {shlex.quote(str(store))}"
        out.print(_grid(summarize(table, "grokked_at")))
        out.print(f"Sweep {sweep.id}, table: {Record(sweep, executor.store).folder / 'table.csv'}")
        out.print(f"Next: modgrok sweep show {sweep.id} --figure sweep.png{where}")
    executor.report()


def _sweep(asked: NewSweep, typed: set[str]) -> Sweep:
    """What is described by flags, or by a file."""
    settings = asked.settings
    if is_settings_file(settings["task"]):
        if beside := typed & {"vary", *known_settings()}:
            file = settings["task"]
            raise ModgrokError(f"A sweep from a file has its settings there; write {min(beside)} into {file} instead.")
        return Sweep.from_file(Path(settings["task"]))
    sweep = Sweep(Experiment(**settings), asked.vary)
    if both := typed.intersection(sweep.names):
        flag = min(both).replace("_", "-")
        raise ModgrokError(f"A setting is given or varied, not both; leave out --{flag} or its --vary.")
    return sweep


def _counts(sweep: Sweep, results: Results) -> dict[str, Any]:
    return {"sweep": sweep.id, "runs": results.runs, "done": len(results.outcomes)} | results.bad_ends


def _show(asked: Show) -> None:
    check_output(asked.figure, *FIGURES)
    check_output(asked.out, *TABLES)
    store = Store(asked.store)
    sweep = find_sweep(store, asked.sweep)
    results = Results(sweep.experiments, store, trusting=True)
    table = sweep_table(sweep, results)
    summary = summarize(table, asked.outcome, asked.x, asked.y)
    if asked.out is not None:
        table.write(asked.out)
    figure_of(lambda: plot.sweep(summary, asked.kind), asked.figure)
    if asked.json:
        print_json(_counts(sweep, results) | summary.as_dict())
        return
    out.print(_grid(summary))
    if missing := results.runs - len(results.outcomes):
        err.print(f"{missing} of {results.runs} runs have not ended.")
    tell_bad_ends(ended_runs(results))


def _list(asked: List) -> None:
    found = list(stored_sweeps(Store(asked.store)))
    if asked.json:
        print_json({"sweeps": found})
        return
    grid = new_table("sweep", "name", "task", "modulus", "runs", "varies", "created")
    for one in found:
        if "reason" in one:
            err.print(f"{one['id']} cannot be read: {one['reason']}", style="yellow")
            continue
        task, modulus = one["experiment"]["task"], one["experiment"]["modulus"]
        about = Label(**one["label"]).short, task, NONE if modulus is None else str(modulus)
        varies = "; ".join(", ".join(axis) for axis in one["vary"])
        grid.add_row(one["id"], *about, str(one["runs"]), varies, one["created"])
    out.print(grid)


def _grid(summary: Summary) -> Table:
    """Medians with their range, or shares, a column for each value of y."""
    title = f"{summary.title}: {summary.outcome.replace('_', ' ')}"
    unit = percent if summary.outcome.endswith("_accuracy") else partial(number, digits=4)
    spell = _share if summary.outcome == GROKKED else partial(_spell_cell, unit=unit)
    shown = "share" if summary.outcome == GROKKED else "median (range)"
    heads = [f"{summary.y} {value!s}" if summary.y else shown for value in summary.y_values]
    grid = new_table(summary.x or "run", *heads, title=title)
    for i, value in enumerate(summary.x_values):
        grid.add_row("" if value is None else str(value), *(spell(row[i]) for row in summary.cells))
    return grid


def _spell_cell(cell: Cell, unit: Callable[[Any], str]) -> str:
    if not cell.values:
        return f"{NONE}{_bad_ends(cell)}" if cell.ended else ""
    spread = f" ({unit(cell.low)} to {unit(cell.high)})" if cell.low != cell.high else ""
    share = f", {len(cell.values)} of {cell.ended}" if len(cell.values) < cell.ended else ""
    return f"{unit(cell.median)}{spread}{share}{_bad_ends(cell)}"


def _share(cell: Cell) -> str:
    return f"{percent(cell.mean, 0)} of {count(cell.ended, 'run')}{_bad_ends(cell)}" if cell.ended else ""


def _bad_ends(cell: Cell) -> str:
    return "".join(f", {count(number)} {how}" for how, number in cell.bad_ends.items() if number)
