"""`modgrok landscape`: which functions generalize, their structure beside what training makes of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from modgrok import plot
from modgrok.api import SEEDS
from modgrok.commands.arguments import (
    FIGURES,
    TABLES,
    Printed,
    check_output,
    figure_of,
    new_table,
    out,
    parse,
    print_json,
)
from modgrok.commands.flags import Positional
from modgrok.commands.sweeping import EngineOptions, WatchedExecutor
from modgrok.experiments import Experiment
from modgrok.experiments.given_settings import chosen_settings
from modgrok.experiments.sweeps.landscape import LandscapeRow, landscape, landscape_sweep, sentences
from modgrok.experiments.sweeps.record import Record
from modgrok.experiments.sweeps.sweep import DEFAULTS
from modgrok.experiments.sweeps.table import Results, sweep_table
from modgrok.text import NONE, count, number, percent


@dataclass(frozen=True)
class Landscape(Printed):
    """Train many functions at several fractions, and compare the outcome with the structure of their tables. A function
    is learned easily (most runs grok at a fraction up to 0.75), with much data (test accuracy of at least one half at
    the largest fraction), or not at all."""

    settings: dict[str, Any]
    options: EngineOptions
    functions: Annotated[tuple[str, ...], Positional("EXPR …")] = ()
    """The functions; by default a catalog of 36 polynomials of every kind."""
    fraction: tuple[float, ...] = (0.3, 0.5, 0.7, 0.9)
    """Shares of all inputs used for training."""
    seeds: int = 3
    """Runs at each fraction."""
    figure: Path | None = None
    """Draw the landscape to this .png, .svg or .pdf file."""
    out: Path | None = None
    """Write the table of all runs to this .csv or .parquet file."""


def main(argv: list[str]) -> None:
    """Train, classify, print."""
    settings = chosen_settings(DEFAULTS, ("task", "fraction", *SEEDS))
    asked = parse(Landscape, "landscape", argv, settings)
    check_output(asked.figure, *FIGURES)
    check_output(asked.out, *TABLES)
    base = Experiment("n + m", **asked.settings)
    sweep = landscape_sweep(base, asked.functions, asked.fraction, asked.seeds)
    executor = WatchedExecutor(asked.options)
    results = Results(sweep.experiments, executor.store)
    executor.forecast(results)
    executor.train(results, Record(sweep, executor.store))
    rows = landscape(sweep, results)
    if asked.out is not None:
        sweep_table(sweep, results).write(asked.out)
    figure_of(lambda: plot.landscape(rows, _title(sweep.experiment)), asked.figure)
    if asked.json:
        found = {"functions": [row.as_dict() for row in rows], "sentences": sentences(rows)}
        print_json({"sweep": sweep.id, "modulus": base.resolve().modulus} | results.bad_ends | found)
    else:
        _show(rows, sweep.experiment)
    executor.report()


def _show(rows: Sequence[LandscapeRow], experiment: Experiment) -> None:
    fractions = [point.fraction for point in rows[0].points]
    heads = [f"α = {number(fraction, 4)}" for fraction in fractions]
    table = new_table("function", "structure", *heads, "learned", title=_title(experiment))
    before = rows[0].complexity
    for row in rows:
        if row.complexity != before:
            table.add_section()
        before = row.complexity
        accuracies = [percent(point.accuracy) for point in row.points]
        kind = row.structure.kind.replace("_", " ")
        table.add_row(row.function, kind, *accuracies, row.complexity or NONE)
    out.print(table)
    for sentence in sentences(rows):
        out.print(sentence)


def _title(experiment: Experiment) -> str:
    resolved = experiment.resolve()
    return (
        f"mod {resolved.modulus}, N = {resolved.width}, {resolved.optimizer}, at most {count(resolved.steps, 'step')}"
    )
