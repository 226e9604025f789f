"""`modgrok critical`: how much of the table must be shown for the rest to be found."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from modgrok.commands.arguments import out, parse, print_json
from modgrok.commands.settings import CriticalSettings, given
from modgrok.commands.sweeping import Place, Work
from modgrok.experiments import Experiment
from modgrok.experiments.disk import write_json
from modgrok.experiments.result import Result
from modgrok.experiments.sweeps.critical import Critical, Effort, Search, critical_fractions
from modgrok.experiments.sweeps.results import Results
from modgrok.experiments.sweeps.trends import describe, sentences


@dataclass(frozen=True)
class CriticalFraction:
    """Estimate the critical fraction α_c, at which half of the runs grok within a budget of steps, with its 95 %
    interval: fractions are tried on a coarse grid, then ever closer to the transition, and the probability of success
    is fitted. All runs are stored, so that a second call costs nothing and a finer one only what is new."""

    settings: CriticalSettings
    effort: Effort
    place: Place
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
    asked = parse(CriticalFraction, "critical", argv)
    searches = [
        Search(Experiment(modulus=p, sampling=sampling, **given(asked.settings)), asked.effort)
        for p in asked.modulus or (None,)
        for sampling in asked.sampling
    ]
    work = Work(asked.place)
    found = critical_fractions(searches, lambda experiments: _train(work, experiments))
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


def _train(work: Work, experiments: Sequence[Experiment]) -> list[Result | None]:
    results = Results(experiments, work.store)
    if results.pending:
        work.forecast(results)
        work.train(results)
    return results.in_order


def _show(found: Sequence[Critical]) -> None:
    e = found[0].experiment
    title = f"{escape(e.task)}, {e.width} neurons, {e.optimizer}, learning rate {e.lr:g}"
    table = Table("p", "sampling", "α_c", "95 % interval", "steps", "runs", title=title, title_justify="left")
    for one in found:
        t = one.transition
        interval = "–" if t.critical is None else f"{t.low:.3f} to {t.high:.3f}"
        centre = str(one) if t.critical is None else f"{t.critical:.3f}"
        e = one.experiment
        table.add_row(str(e.modulus), e.sampling, centre, interval, f"{one.budget:,}", str(one.runs))
    out.print(table, highlight=False)
    if len(found) == 1:
        curve = Table("α", "grokked")
        for fraction, (successes, trials) in found[0].counts.items():
            curve.add_row(f"{fraction:g}", f"{successes} of {trials}")
        out.print(curve, highlight=False)
    for sentence in sentences(found):
        out.print(Text(sentence), soft_wrap=True)
