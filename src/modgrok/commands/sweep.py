"""`modgrok sweep`: many runs from one command or one file, and their table and pictures."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from rich.markup import escape
from rich.table import Table as Grid
from rich.text import Text

from modgrok.commands.arguments import FIGURES, TABLES, check_output, err, out, parse, print_json, typed_flags
from modgrok.commands.flags import Positional, Repeated
from modgrok.commands.settings import given, settings_type
from modgrok.commands.sweeping import EngineOptions, WatchedExecutor, report
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Store
from modgrok.experiments.experiment import known_settings
from modgrok.experiments.label import Label
from modgrok.experiments.sweeps.record import Record, find_sweep, stored_sweeps
from modgrok.experiments.sweeps.summary import GROKKED, Cell, Summary, summarize
from modgrok.experiments.sweeps.sweep import DEFAULTS, Sweep
from modgrok.experiments.sweeps.table import Results, sweep_table
from modgrok.text import count, number, percent

Vary = Annotated[tuple[str, ...], Repeated("NAME=VALUES")]


@dataclass(frozen=True)
class Wanted:
    """What is to be done with a sweep."""

    plan: bool = False
    """Only say what the sweep would cost."""
    out: Path | None = None
    """Write the table to this .csv or .parquet file too."""
    json: bool = False
    """Print one JSON object instead of a table."""


@dataclass(frozen=True)
class NewSweep:
    """Train all combinations of settings, and make one table of them. What the store has is not trained again, so the
    same command finishes a sweep that was stopped. Instead of EXPR give a .toml file to read the sweep from it, or
    show or list: modgrok sweep show --help."""

    settings: Any
    options: EngineOptions
    wanted: Wanted
    vary: Vary = ()
    """An axis: seed=0:5 counts 0 to 4, fraction=0.2:0.8:0.05 goes in steps and includes both ends, lr=log:1e-3:1e-1:5
    has equal ratios, optimizer=gd,adamw is a list. Several settings in one --vary, as in "optimizer=gd,adamw;
    lr=4e5,0.03", change together. Repeat it for more axes."""


@dataclass(frozen=True)
class FileSweep:
    """Train the sweep that a TOML file describes: [experiment] has the settings, every [[vary]] is an axis, for example
    fraction = "0.2:0.8:0.05" or optimizer = ["gd", "adamw"]; settings in one [[vary]] change together."""

    file: Annotated[Path, Positional("FILE")]
    """The .toml file."""
    options: EngineOptions
    wanted: Wanted


@dataclass(frozen=True)
class Show:
    """Print an outcome of a sweep against one or two of its axes, and draw it: a curve with its spread over the other
    axes, or a heat map of medians."""

    sweep: Annotated[str, Positional("SWEEP")]
    """Its id or the beginning of it, or last."""
    outcome: str = "grokked_at"
    """Any column of the table, such as grokked_at, test_accuracy, ipr; grokked is the share of runs that grokked."""
    x: str | None = None
    """A setting that varies; by default the first of more than one number."""
    y: str | None = None
    """A second one: curves of several colors, or the heat map's other axis."""
    kind: Literal["auto", "curves", "map"] = "auto"
    """curves, map, or auto: a map where both settings are numbers."""
    figure: Path | None = None
    """Draw to this file: .png, .svg or .pdf."""
    out: Path | None = None
    """Write the whole table to this .csv or .parquet file."""
    store: Path | None = None
    """Folder of the runs; by default $MODGROK_STORE, or runs/ here."""
    json: bool = False
    """Print one JSON object instead of a table."""


@dataclass(frozen=True)
class List:
    """List the sweeps of a store, the latest first."""

    store: Path | None = None
    """Folder of the runs; by default $MODGROK_STORE, or runs/ here."""
    json: bool = False
    """Print one JSON object instead of a table."""


def main(argv: list[str]) -> None:
    """Run, show or list."""
    first = argv[0] if argv else ""
    if first == "show":
        _show(parse(Show, "sweep show", argv[1:]))
    elif first == "list":
        _list(parse(List, "sweep list", argv[1:]))
    elif first.endswith(".toml"):
        if beside := typed_flags(argv) & {"vary", *known_settings()}:
            raise ModgrokError(
                f"A sweep from a file takes its settings and axes from the file; write {min(beside)} into {first} "
                "instead of giving it as a flag."
            )
        asked = parse(FileSweep, "sweep", argv)
        _run(Sweep.from_file(asked.file), asked.options, asked.wanted)
    else:
        new = parse(NewSweep, "sweep", argv, settings_type("Settings", DEFAULTS))
        sweep = Sweep(Experiment(**given(new.settings)), new.vary)
        if both := typed_flags(argv).intersection(sweep.names):
            flag = min(both).replace("_", "-")
            raise ModgrokError(f"A setting is given or varied, not both; leave out --{flag} or its --vary.")
        _run(sweep, new.options, new.wanted)


def _run(sweep: Sweep, options: EngineOptions, wanted: Wanted) -> None:
    check_output(wanted.out, *TABLES)
    experiments = sweep.experiments
    executor = WatchedExecutor(options)
    results, record = Results(experiments, executor.store), Record(sweep, executor.store)
    cost = executor.forecast(results)
    failures = [] if wanted.plan else executor.train(results, record)
    table = sweep_table(sweep, results)
    if wanted.out is not None and not wanted.plan:
        table.write(wanted.out)
    if wanted.json:
        print_json(
            {
                "sweep": sweep.id,
                "runs": results.runs,
                "done": len(results.outcomes),
                "plan": None if cost is None else cost.as_dict(),
                "rows": [] if wanted.plan else table.rows,
            }
        )
    elif not wanted.plan:
        out.print(_grid(summarize(sweep, table, "grokked_at")), highlight=False)
        where = "" if options.store is None else f" --store {shlex.quote(str(options.store))}"
        out.print(Text(f"Sweep {sweep.id}, table: {record.folder / 'table.csv'}"), soft_wrap=True)
        out.print(Text(f"Next: modgrok sweep show {sweep.id} --figure sweep.png{where}"), soft_wrap=True)
    report(failures)


def _show(asked: Show) -> None:
    check_output(asked.figure, *FIGURES)
    check_output(asked.out, *TABLES)
    store = Store(asked.store)
    sweep = find_sweep(store, asked.sweep)
    results = Results(sweep.experiments, store)
    table = sweep_table(sweep, results)
    summary = summarize(sweep, table, asked.outcome, asked.x, asked.y)
    if asked.out is not None:
        table.write(asked.out)
    if asked.figure is not None:
        from modgrok import plot

        plot.save(plot.sweep(summary, asked.kind), asked.figure)
    if asked.json:
        counts = {"sweep": sweep.id, "runs": results.runs, "done": len(results.outcomes)}
        print_json(counts | summary.as_dict())
        return
    out.print(_grid(summary), highlight=False)
    missing = results.runs - len(results.outcomes)
    if missing:
        err.print(f"{missing} of {results.runs} runs have not ended.", highlight=False)
    if asked.figure is not None:
        out.print(Text(f"drawn to {asked.figure}"), soft_wrap=True)


def _list(asked: List) -> None:
    found = list(stored_sweeps(Store(asked.store)))
    if asked.json:
        print_json({"sweeps": found})
        return
    grid = Grid("sweep", "name", "task", "modulus", "runs", "varies", "created")
    for one in found:
        if "reason" in one:
            err.print(Text(f"{one['id']} cannot be read: {one['reason']}"), style="yellow", soft_wrap=True)
            continue
        varies = "; ".join(", ".join(axis) for axis in one["vary"])
        base = one["experiment"]
        grid.add_row(
            one["id"],
            escape(Label(**one["label"]).short),
            escape(base["task"]),
            "–" if base["modulus"] is None else str(base["modulus"]),
            str(one["runs"]),
            varies,
            one["created"],
        )
    out.print(grid, highlight=False)


def _grid(summary: Summary) -> Grid:
    """Medians with their range, or shares, a column for each value of y."""
    title = f"{escape(summary.title)}: {summary.outcome.replace('_', ' ')}"
    unit = percent if summary.outcome.endswith("_accuracy") else partial(number, digits=4)
    spell = _share if summary.outcome == GROKKED else partial(_spell_cell, unit=unit)
    shown = "share" if summary.outcome == GROKKED else "median (range)"
    heads = [f"{summary.y} {escape(str(value))}" if summary.y else shown for value in summary.y_values]
    grid = Grid(summary.x or "run", *heads, title=title, title_justify="left")
    for i, value in enumerate(summary.x_values):
        grid.add_row("" if value is None else escape(str(value)), *(spell(row[i]) for row in summary.cells))
    return grid


def _spell_cell(cell: Cell, unit: Callable[[Any], str]) -> str:
    if not cell.values:
        return "–" if cell.ended else ""
    spread = f" ({unit(cell.low)} to {unit(cell.high)})" if cell.low != cell.high else ""
    share = f", {len(cell.values)} of {cell.ended}" if len(cell.values) < cell.ended else ""
    return f"{unit(cell.median)}{spread}{share}"


def _share(cell: Cell) -> str:
    return f"{percent(cell.mean, 0)} of {count(cell.ended, 'run')}" if cell.ended else ""
