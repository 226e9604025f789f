"""`modgrok reproduce`: the paper's figures and claims, from networks trained here, with a verdict for each."""

from rich.markup import escape
from rich.table import Table

from modgrok.commands.arguments import err, out, parse
from modgrok.errors import ModgrokError
from modgrok.reproduce.catalogue import CLAIMS, chosen_studies
from modgrok.reproduce.pipeline import Outcome, check_out, reproduce
from modgrok.reproduce.plan import cost
from modgrok.reproduce.profile import profile_named
from modgrok.reproduce.progress import BarProgress, LineProgress
from modgrok.reproduce.request import Request

COLOURS = {
    "holds": "green",
    "holds with a remark": "yellow",
    "does not hold here": "red",
    "not run in this profile": "bright_black",
}


def main(argv: list[str]) -> None:
    """Plan, train, measure, draw, judge, print."""
    request = parse(Request, "reproduce", argv)
    check_out(request.out)
    if request.plan:
        _show_plan(request)
        return
    with BarProgress(err) if err.is_terminal else LineProgress() as progress:
        try:
            outcome = reproduce(request, progress, lambda text: err.print(text, highlight=False))
        except KeyboardInterrupt:
            sentence = "Stopped; the same command goes on from what is stored."
        except ModgrokError as error:
            if not progress.stop_requested():
                raise
            sentence = str(error)
        else:
            sentence = ""
    if sentence:
        err.print(f"modgrok: {sentence}", highlight=False, markup=False, soft_wrap=True)
        raise SystemExit(progress.interruption.exit_code)
    _show(outcome)


def _show_plan(request: Request) -> None:
    profile = profile_named(request.profile)
    table = Table(title=f"profile {profile.name}", title_justify="left")
    for name in ("study", "runs", "run-steps at most", "in steps of p 97, N 500", "2 CPU cores", "H200"):
        table.add_column(name, justify="left" if name == "study" else "right")
    for row in cost(chosen_studies(request.only, profile), profile):
        table.add_row(
            row.study,
            str(row.runs),
            f"{row.run_steps:,}".replace(",", " "),
            f"{row.reference_steps:,.0f}".replace(",", " "),
            f"{row.cpu_minutes:.1f} min",
            f"{row.gpu_minutes:.1f} min",
        )
    out.print(table)


def _show(outcome: Outcome) -> None:
    from modgrok.reproduce.report import counted

    table = Table(title="verdicts", title_justify="left")
    table.add_column("claim")
    table.add_column("verdict")
    table.add_column("what was found")
    for name, verdict in outcome.verdicts.items():
        colour = COLOURS[verdict.outcome]
        table.add_row(name, f"[{colour}]{verdict.outcome}[/]", escape(verdict.sentence))
    out.print(table)
    counts = ", ".join(f"{count} {words}" for count, words in counted(outcome.verdicts.values()).values())
    out.print(f"{counts}, of {len(CLAIMS)} claims", highlight=False)
    if outcome.report is not None:
        out.print(f"report: {escape(str(outcome.report))}", highlight=False, soft_wrap=True)
