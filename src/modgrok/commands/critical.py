"""`modgrok critical`: how much of the table must be shown for the rest to be found."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from modgrok.api import SEARCHED, critical
from modgrok.commands.arguments import FIGURES, check_output, out, parse, print_json
from modgrok.commands.settings import given, settings_type
from modgrok.commands.sweeping import EngineOptions, WatchedExecutor
from modgrok.disk import write_json
from modgrok.experiments.sweeps.critical import Critical, Effort
from modgrok.experiments.sweeps.sweep import DEFAULTS, EVALUATIONS
from modgrok.experiments.sweeps.trends import describe, sentences
from modgrok.text import count, number


@dataclass(frozen=True)
class CriticalFraction:
    """Estimate the critical fraction α_c, at which half of the runs grok within a budget of steps, with its 95 %
    interval: fractions are tried on a coarse grid, then ever closer to the transition, and the probability of success
    is fitted. All runs are stored, so that a second call costs nothing and a finer one only what is new."""

    settings: Any
    effort: Effort
    options: EngineOptions
    modulus: tuple[int, ...] = ()
    """p; several are compared. By default 97, for tasks that have one."""
    sampling: tuple[Literal["random", "balanced", "answers", "lines", "expander"], ...] = ("random",)
    """How training inputs are chosen; several are compared."""
    figure: Path | None = None
    """Draw the curves to this file: .png, .svg or .pdf."""
    out: Path | None = None
    """Write the numbers to this .json file."""
    json: bool = False
    """Print one JSON object instead of a table."""


def main(argv: list[str]) -> None:
    """Search, fit, print."""
    settings = settings_type("Settings", DEFAULTS | {"evaluations": EVALUATIONS}, ("modulus", "sampling", *SEARCHED))
    asked = parse(CriticalFraction, "critical", argv, settings)
    check_output(asked.figure, *FIGURES)
    check_output(asked.out, ".json")
    settings = given(asked.settings)
    task, modulus = settings.pop("task"), asked.modulus or None
    how: dict[str, Any] = {
        "sampling": asked.sampling,
        "effort": asked.effort,
        "executor": WatchedExecutor(asked.options),
    }
    found = critical(task, modulus, **how, **settings)
    described = describe(found)
    if asked.out is not None:
        write_json(asked.out, described)
    if asked.figure is not None:
        from modgrok import plot

        plot.save(plot.critical(found), asked.figure)
    if asked.json:
        print_json(described)
    else:
        _show(found)
        if asked.figure is not None:
            out.print(Text(f"Figure: {asked.figure}"), soft_wrap=True)


def _show(found: Sequence[Critical]) -> None:
    e = found[0].experiment
    rate = e.lr if isinstance(e.lr, str) else number(e.lr, 4)
    title = f"{escape(e.task)}, {count(e.width, 'neuron')}, {e.optimizer}, learning rate {rate}"
    table = Table("p", "sampling", "α_c", "95 % interval", "steps", "runs", title=title, title_justify="left")
    for one in found:
        t = one.transition
        interval = "–" if t.critical is None else f"{number(t.low)} to {number(t.high)}"
        centre = str(one) if t.critical is None else number(t.critical)
        e = one.experiment
        table.add_row(str(e.modulus), e.sampling, centre, interval, count(one.budget), count(one.runs))
    out.print(table, highlight=False)
    if len(found) == 1:
        curve = Table("α", "grokked")
        for fraction, (successes, trials) in found[0].counts.items():
            curve.add_row(number(fraction, 4), f"{successes} of {trials}")
        out.print(curve, highlight=False)
    for sentence in sentences(found):
        out.print(Text(sentence), soft_wrap=True)
