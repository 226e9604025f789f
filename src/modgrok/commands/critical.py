"""`modgrok critical`: how much of the table must be shown for the rest to be found."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from modgrok import plot
from modgrok.api import SEARCHED, critical
from modgrok.commands.arguments import FIGURES, Printed, check_output, figure_of, new_table, out, parse, print_json
from modgrok.commands.flags import Positional
from modgrok.commands.sweeping import EngineOptions, WatchedExecutor
from modgrok.disk import write_json
from modgrok.experiments.given_settings import chosen_settings
from modgrok.experiments.sweeps.critical import Critical, Effort
from modgrok.experiments.sweeps.sweep import DEFAULTS, EVALUATIONS
from modgrok.experiments.sweeps.trends import describe, sentences
from modgrok.text import NONE, count, number


@dataclass(frozen=True)
class CriticalFraction(Printed):
    """Estimate the critical fraction α_c, at which half of the runs grok within a budget of steps, with its 95 %
    interval. The command tries fractions on a coarse grid, then closer and closer to the transition, and fits the
    probability of success. All runs are stored: a second call costs nothing, and a finer one trains only what is new.
    Give several tasks, moduli or samplings to compare them."""

    task: Annotated[tuple[str, ...], Positional("EXPR …")]
    """What to learn, as in modgrok train."""
    settings: dict[str, Any]
    effort: Effort
    options: EngineOptions
    modulus: tuple[int, ...] = ()
    """p; by default 97, for tasks that have one."""
    sampling: tuple[Literal["random", "balanced", "answers", "lines", "expander"], ...] = ("random",)
    """How training inputs are chosen."""
    figure: Path | None = None
    """Draw the curves to this .png, .svg or .pdf file."""
    out: Path | None = None
    """Write the numbers to this .json file."""


def main(argv: list[str]) -> None:
    """Search, fit, print."""
    own = ("task", "modulus", "sampling", *SEARCHED)
    settings = chosen_settings(DEFAULTS | {"evaluations": EVALUATIONS}, own)
    asked = parse(CriticalFraction, "critical", argv, settings)
    check_output(asked.figure, *FIGURES)
    check_output(asked.out, ".json")
    executor = WatchedExecutor(asked.options)
    found = critical(
        asked.task,
        asked.modulus or None,
        sampling=asked.sampling,
        effort=asked.effort,
        executor=executor,
        **asked.settings,
    )
    described = describe(found)
    if asked.out is not None:
        write_json(asked.out, described)
    figure_of(lambda: plot.critical(found), asked.figure)
    if asked.json:
        print_json(described)
    else:
        _show(found)
    executor.report()


def _show(found: Sequence[Critical]) -> None:
    e = found[0].experiment
    rate = e.lr if isinstance(e.lr, str) else number(e.lr, 4)
    title = f"{count(e.width, 'neuron')}, {e.optimizer}, learning rate {rate}"
    table = new_table("task", "p", "sampling", "α_c", "95 % interval", "steps", "runs", title=title)
    for one in found:
        t, e = one.transition, one.experiment
        interval = NONE if t.critical is None else f"{number(t.low)} to {number(t.high)}"
        center = str(one) if t.critical is None else number(t.critical)
        modulus = NONE if e.modulus is None else str(e.modulus)
        table.add_row(one.task_name, modulus, e.sampling, center, interval, count(one.budget), count(one.runs))
    out.print(table)
    if len(found) == 1:
        curve = new_table("α", "grokked")
        for fraction, (successes, trials) in found[0].counts.items():
            curve.add_row(number(fraction, 4), f"{successes} of {trials}")
        out.print(curve)
    for sentence in sentences(found):
        out.print(sentence)
