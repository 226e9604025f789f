"""`modgrok reproduce`: a paper's figures and claims, from networks trained here, with a verdict for each."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from rich.text import Text

from modgrok.commands.arguments import Printed, err, new_table, out, parse, print_json
from modgrok.commands.flags import Positional
from modgrok.errors import ModgrokError
from modgrok.experiments.cost import COMPILE_SECONDS
from modgrok.experiments.progress import ManyRuns
from modgrok.experiments.sweeps.execution import Plan
from modgrok.reproduce.claim import counted
from modgrok.reproduce.paper import DEFAULT, find_paper, paper_keys
from modgrok.reproduce.pipeline import Outcome, Request, planned, reproduce
from modgrok.text import count, duration

COLORS = {
    "holds": "green",
    "holds with a remark": "yellow",
    "does not hold here": "red",
    "undecided here": "bright_black",
}


@dataclass(frozen=True)
class Reproduce(Printed, Request):
    __doc__ = Request.__doc__

    paper: Annotated[str, Positional("PAPER")] = DEFAULT
    list: bool = False
    """List the papers, and what each costs here."""


class StudyProgress(ManyRuns):
    """The progress of all runs, and which study those that train now are for."""

    def __init__(self, planned: Plan, studies: dict[str, str]) -> None:
        super().__init__(err, planned)
        self.studies, self.study = studies, ""

    def advanced(self, members: Sequence[Any], step: int, run_steps: int) -> None:
        self.study = self.studies[members[0].experiment.content_hash]
        super().advanced(members, step, run_steps)

    def describe(self) -> str:
        return f"{self.study} · {super().describe()}"


def main(argv: list[str]) -> None:
    """Plan, train, measure, draw, judge, print."""
    asked = parse(Reproduce, "reproduce", argv)
    if asked.list:
        _list(asked.json)
        return
    if asked.plan:
        _show_plan(asked)
        return
    watched: list[StudyProgress] = []

    def watch(planned: Plan, studies: dict[str, str]) -> StudyProgress:
        watched.append(StudyProgress(planned, studies))
        return watched[0]

    try:
        outcome = reproduce(asked, watch, lambda text: err.print(text))
    except KeyboardInterrupt:
        sentence = "Stopped; rerun the command to resume."
    except ModgrokError as error:
        if not (watched and watched[0].stop_requested()):
            raise
        sentence = str(error)
    else:
        _show(outcome, asked.json)
        return
    err.print(f"modgrok: {sentence}")
    raise SystemExit(watched[0].exit_code if watched else 130)


def _list(as_json: bool) -> None:
    papers = [find_paper(key) for key in paper_keys()]
    if as_json:
        names = ("key", "title", "line", "cost")
        counts = ("studies", "figures", "claims")
        rows = [{n: getattr(p, n) for n in names} | {n: len(getattr(p, n)) for n in counts} for p in papers]
        print_json({"papers": rows})
        return
    table = new_table("paper", "what it is about", "figures", "claims", "quick", "full")
    for paper in papers:
        sizes = str(len(paper.figures)), str(len(paper.claims))
        table.add_row(paper.key, paper.line, *sizes, *(paper.cost.get(name, "–") for name in ("quick", "full")))
    out.print(table)


def _show_plan(asked: Reproduce) -> None:
    rows = planned(asked)
    if asked.json:
        print_json({"paper": asked.paper, "profile": asked.profile, "plan": [dataclasses.asdict(row) for row in rows]})
        return
    numbers = ("runs", "run-steps at most", "this CPU", "an H200")
    table = new_table("study", *numbers, title=f"{asked.paper}, profile {asked.profile}", right=numbers)
    for row in rows:
        times = duration(row.cpu_seconds), duration(row.gpu_seconds)
        table.add_row(row.study, str(row.runs), count(row.run_steps), *times)
    out.print(table)
    programs, each = count(rows[-1].programs, "program"), duration(COMPILE_SECONDS)
    out.print(
        f"Times are for training alone, on this CPU at its present speed. In addition, {programs} must be compiled, "
        f"about {each} for each that is not cached, and the studies measured.",
        highlight=False,
    )


def _show(outcome: Outcome, as_json: bool) -> None:
    if as_json:
        verdicts = {name: verdict.as_dict() for name, verdict in outcome.verdicts.items()}
        print_json({"verdicts": verdicts, "report": None if outcome.report is None else str(outcome.report)})
        return
    table = new_table("claim", "verdict", "what was found", title="verdicts")
    shown = {name: outcome.verdicts[name] for name in outcome.asked}
    for name, verdict in shown.items():
        table.add_row(name, Text(verdict.outcome, COLORS[verdict.outcome]), verdict.sentence)
    out.print(table)
    counts = ", ".join(counted(shown.values()).values())
    out.print(f"{counts}, of {count(len(shown), 'claim')}")
    if outcome.report is not None:
        out.print(f"Report: {outcome.report!s}")
