"""The report as one HTML file that opens anywhere, offline: style and figures inside."""

import base64
from html import escape
from typing import TYPE_CHECKING

from modgrok.reproduce.markdown import label

if TYPE_CHECKING:
    from modgrok.reproduce.claims.claim import Claim, Verdict
    from modgrok.reproduce.report import Report

CLASSES = {
    "holds": "holds",
    "holds with a remark": "remark",
    "does not hold here": "fails",
    "not run in this profile": "absent",
}
MARKS = {"holds": "✓", "remark": "✓", "fails": "✗", "absent": "–"}

STYLE = """
:root { --ink: #1d2126; --soft: #5b6570; --line: #dfe3e8; --paper: #fff; --tint: #f5f7f9;
  --holds: #00734f; --remark: #7a6200; --fails: #b13c00; --absent: #5b6570; --link: #005b96; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ea; --soft: #a3adb7; --line: #3a424b; --paper: #16191d;
  --tint: #1f242a; --holds: #4cc79a; --remark: #d9bd48; --fails: #ff8f5a; --absent: #a3adb7; --link: #7cc0f2; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.25rem 5rem; max-width: 60rem; color: var(--ink); background: var(--paper);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; letter-spacing: -.01em; }
h2 { font-size: 1.35rem; margin: 3rem 0 1rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 0 0 .5rem; }
a { color: var(--link); text-decoration: none; } a:hover, a:focus { text-decoration: underline; }
.lead { color: var(--soft); max-width: 46rem; }
.counts { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1.5rem 0; padding: 0; list-style: none; }
.counts li { padding: .5rem .9rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--tint); }
.counts b { font-size: 1.3rem; margin-right: .35rem; }
nav { margin: 1rem 0; color: var(--soft); } nav a { margin-right: 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th { text-align: left; color: var(--soft); font-weight: 600; }
th, td { padding: .5rem .6rem .5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.section { color: var(--soft); white-space: normal; min-width: 6rem; }
.verdict { white-space: nowrap; font-weight: 600; }
@media (max-width: 40em) { .section { display: none; } .verdict { white-space: normal; } }
.holds { color: var(--holds); } .remark { color: var(--remark); } .fails { color: var(--fails); }
.absent { color: var(--absent); }
figure { margin: 0 0 2.5rem; } figure img { width: 100%; max-width: 52rem; background: #fff; border-radius: .4rem;
  border: 1px solid var(--line); display: block; margin: 0 auto .8rem; }
figure.narrow img { max-width: 34rem; }
figcaption p { margin: .4rem 0; }
.small { font-size: .85rem; color: var(--soft); }
code { font: .88em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--tint);
  padding: .1em .35em;  border-radius: .25em; }
article { border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.2rem; margin: 0 0 1rem; }
article table { margin: .6rem 0; } article td:first-child { color: var(--soft); width: 55%; }
article tr:last-child td { border-bottom: 0; }
.wide { overflow-x: auto; }
"""


def page(report: "Report") -> str:
    """The whole page."""
    figures = "".join(_figure(report, i) for i in range(len(report.figures)))
    claims = "".join(_claim(report, claim, verdict) for claim, verdict in report.claims)
    made = "".join(f"<tr><td>{escape(name)}</td><td>{_told(name, value)}</td></tr>" for name, value in report.made_with)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Grokking modular arithmetic, reproduced ({escape(report.profile.name)} profile)</title>
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>Grokking modular arithmetic, reproduced</h1>
<p class="lead">The figures and claims of A. Gromov, <cite>Grokking modular arithmetic</cite> (2023), made again from
networks trained for this report. Verdicts are computed from the numbers by the thresholds given with each claim.</p>
<ul class="counts">{_counts(report)}</ul>
<nav><a href="#verdicts">Verdicts</a><a href="#figures">Figures</a><a href="#claims">Claims in detail</a>
<a href="#made">How this was made</a></nav>
</header>
<main>
<h2 id="verdicts">Verdicts</h2>
<div class="wide">{_verdicts(report)}</div>
<h2 id="figures">Figures</h2>
{figures}
<h2 id="claims">Claims in detail</h2>
{claims}
<h2 id="made">How this was made</h2>
<table>{made}</table>
</main>
</body>
</html>
"""


def _told(name: str, value: str) -> str:
    return f"<code>{escape(value)}</code>" if name in ("command", "sources") else escape(value)


def _counts(report: "Report") -> str:
    return "".join(
        f'<li class="{CLASSES[outcome]}"><b>{count}</b>{escape(words)}</li>'
        for outcome, (count, words) in report.counts.items()
    )


def _verdict(verdict: "Verdict") -> str:
    kind = CLASSES[verdict.outcome]
    return f'<span class="verdict {kind}">{MARKS[kind]} {escape(verdict.outcome)}</span>'


def _verdicts(report: "Report") -> str:
    rows = "".join(
        f'<tr><td><a href="#{claim.name}">{escape(claim.statement)}</a>'
        f'<div class="small">{escape(verdict.sentence)}</div></td>'
        f'<td class="section">{escape(claim.section)}</td><td>{_verdict(verdict)}</td></tr>'
        for claim, verdict in report.claims
    )
    head = '<tr><th>The paper says, and what was found</th><th class="section">Section</th><th>Verdict</th></tr>'
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _figure(report: "Report", number: int) -> str:
    study, settings = report.figures[number]
    image = base64.b64encode((report.folder / "figures" / f"{study.name}.png").read_bytes()).decode()
    told = "; ".join(settings) if settings else "nothing is trained for this figure"
    return f"""<figure id="{study.name}"{' class="narrow"' if study.name == "figA1" else ""}>
<h3>{label(study.name)}: {escape(study.title)}</h3>
<img src="data:image/png;base64,{image}" alt="{escape(label(study.name) + ": " + study.title)}">
<figcaption><p>{escape(study.caption)}</p>
<p class="small">Settings: {escape(told)}. Alone: <code>{escape(report.command(study.name))}</code></p></figcaption>
</figure>
"""


def _claim(report: "Report", claim: "Claim", verdict: "Verdict") -> str:
    measured = "".join(f"<tr><td>{escape(k)}</td><td>{escape(v)}</td></tr>" for k, v in verdict.measured.items())
    shown = {study.name for study, _ in report.figures}
    links = " ".join(f'<a href="#{name}">{label(name)}</a>' for name in claim.studies if name in shown)
    return f"""<article id="{claim.name}">
<h3>{escape(claim.statement)}</h3>
<p>{_verdict(verdict)} {escape(verdict.sentence)}</p>
{f"<table>{measured}</table>" if measured else ""}
<p class="small">Paper: section {escape(claim.section)}. Threshold: {escape(claim.threshold)}. {links}
Alone: <code>{escape(report.command(claim.name))}</code></p>
</article>
"""
