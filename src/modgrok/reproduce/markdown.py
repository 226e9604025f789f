"""The report as Markdown, with figures as links."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modgrok.reproduce.report import Report

MARKS = {
    "holds": "✓ holds",
    "holds with a remark": "✓ holds, with a remark",
    "does not hold here": "✗ does not hold here",
    "not run in this profile": "– not run in this profile",
}


def document(report: "Report") -> str:
    """The whole text."""
    parts = [
        "# Grokking modular arithmetic, reproduced\n",
        "The figures and claims of A. Gromov, *Grokking modular arithmetic* (2023), made again from networks trained "
        "for this report. Verdicts are computed from the numbers by the thresholds given with each claim.\n",
        _summary(report),
        "## Verdicts\n",
        _verdicts(report),
        "## Figures\n",
        *(_figures(report)),
        "## Claims in detail\n",
        *(_claims(report)),
        "## How this was made\n",
        "\n".join(f"- {name}: {_code(name, value)}" for name, value in report.made_with) + "\n",
    ]
    return "\n".join(parts)


def _summary(report: "Report") -> str:
    return ", ".join(f"**{count}** {words}" for count, words in report.counts.values()) + ".\n"


def _verdicts(report: "Report") -> str:
    rows = ["| claim | section | verdict | what was found |", "|---|---|---|---|"]
    for claim, verdict in report.claims:
        rows.append(
            f"| [{_cell(claim.statement)}](#{claim.name}) | {_cell(claim.section)} | {MARKS[verdict.outcome]} | "
            f"{_cell(verdict.sentence)} |"
        )
    return "\n".join(rows) + "\n"


def _figures(report: "Report") -> list[str]:
    return [
        f"### {label(study.name)}: {study.title}\n\n![{study.title}](figures/{study.name}.png)\n\n{study.caption}\n\n"
        + (f"Settings: {'; '.join(settings)}.  \n" if settings else "Nothing is trained for this figure.  \n")
        + f"Numbers: [figures/{study.name}.json](figures/{study.name}.json). "
        f"Alone: `{report.command(study.name)}`\n"
        for study, settings in report.figures
    ]


def _claims(report: "Report") -> list[str]:
    texts = []
    for claim, verdict in report.claims:
        measured = "".join(f"| {_cell(name)} | {_cell(value)} |\n" for name, value in verdict.measured.items())
        texts.append(
            f'<a id="{claim.name}"></a>\n\n### {claim.statement}\n\n'
            f"Section {claim.section}. **{MARKS[verdict.outcome]}.** {verdict.sentence}\n\n"
            f"Threshold: {claim.threshold}.\n\n"
            + (f"| measured | |\n|---|---|\n{measured}\n" if measured else "")
            + f"Alone: `{report.command(claim.name)}`\n"
        )
    return texts


def label(name: str) -> str:
    """fig0 → Fig. 0, figA5 → Fig. A5."""
    return f"Fig. {name.removeprefix('fig')}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _code(name: str, value: str) -> str:
    return f"`{value}`" if name in ("command", "sources") else value
