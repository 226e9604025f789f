"""The report: verdicts first, then figures, then every claim with its numbers. It is written once, as Markdown; the
HTML file is made of that, and opens anywhere, offline, with style and figures inside."""

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from modgrok.disk import write_bytes, write_json
from modgrok.experiments import Experiment
from modgrok.reproduce.claim import Claim, Outcome, Verdict, counted
from modgrok.reproduce.measuring import RESOLUTION
from modgrok.reproduce.paper import DEFAULT, Paper
from modgrok.reproduce.records import read_session, record_path, session_commits
from modgrok.reproduce.runs import said_settings
from modgrok.reproduce.sizes import Sizes
from modgrok.reproduce.study import Figure
from modgrok.reproduce.table import Numbers, Table
from modgrok.text import duration, number

LOOKS: dict[Outcome, tuple[str, str]] = {
    "holds": ("holds", "✓"),
    "holds with a remark": ("remark", "✓"),
    "does not hold here": ("fails", "✗"),
    "undecided here": ("absent", "–"),
}
"""How the style sheet calls an outcome, and its mark."""
SHOWN = 120 / RESOLUTION
"""Size of figures on the page: pixels of the screen for one of the picture."""

LABELS = {"modulus": "p", "width": "N", "fraction": "α", "lr": "rate", "weight_decay": "weight decay"}
MOST_VALUES = 8


@dataclass(frozen=True)
class Report:
    """Everything the report says."""

    paper: Paper
    profile: Sizes
    session: dict[str, Any]
    figures: tuple[Figure, ...]
    verdicts: dict[str, Verdict]

    def markdown(self) -> str:
        """The whole text."""
        papers, further = ([c for c in self.paper.claims if c.beyond is beyond] for beyond in (False, True))
        figures, more_figures = ([s for s in self.figures if s.beyond is beyond] for beyond in (False, True))
        trained = any(figure.study.needs(self.profile) for figure in self.figures)
        heads = ("The paper says, and what was found", "Section", "Verdict")
        sections = {
            "Verdicts": [_table(heads, map(self._verdict, papers))],
            "Beyond the paper": self._further(further, more_figures),
            "Figures": [self._figure(figure) for figure in figures],
            "Claims in detail": [self._claim(claim) for claim in self.paper.claims],
            "Deviations": self._deviations(),
            "Not attempted": _list(f"{_plain(what)}: {_plain(why)}" for what, why in self.paper.not_attempted),
            "Errata of the paper": _list(map(_plain, self.paper.errata)),
            "How this was made": [_table(("", ""), self._made())],
        }
        said = {title: parts for title, parts in sections.items() if parts or title == "Figures"}
        parts = [
            f"# {self.paper.title}, reproduced",
            f"The figures and claims of {self.paper.reference}, made again "
            f"{'from networks trained' if trained else 'by formulas and samples'} for this report. "
            "Verdicts are computed from the numbers by the thresholds given with each claim.",
            *_list(self._takeaways(), numbered=True),
            self._counts(papers),
            " · ".join(f"[{title}](#{_anchor(title)})" for title in said),
            *(part for title, parts in said.items() for part in (f"## {title}", *parts)),
        ]
        return "\n\n".join(parts) + "\n"

    def _counts(self, claims: Sequence[Claim]) -> str:
        counts = counted(self.verdicts[claim.name] for claim in claims)
        return " ".join(f'<span class="count {LOOKS[outcome][0]}">{text}</span>' for outcome, text in counts.items())

    def _verdict(self, claim: Claim) -> tuple[str, ...]:
        verdict = self.verdicts[claim.name]
        said = f"[{_plain(claim.statement)}](#{claim.name})<br><small>{_plain(verdict.sentence)}</small>"
        return (said, _mark(verdict)) if claim.beyond else (said, _plain(claim.section), _mark(verdict))

    def _further(self, claims: Sequence[Claim], figures: Sequence[Figure]) -> list[str]:
        """Questions that the paper leaves open: verdicts and figures together."""
        if not claims:
            return []
        return [
            "Questions that the paper leaves open, and what was found here; none of it is a statement of the paper.",
            self._counts(claims),
            _table(("Statement, and what was found", "Verdict"), map(self._verdict, claims)),
            *map(self._figure, figures),
        ]

    def _takeaways(self) -> Iterator[str]:
        """The sentences that these verdicts bear out."""
        for one in self.paper.takeaways:
            if one.stands(self.verdicts):
                links = ", ".join(f"[{_plain(name)}](#{name})" for name in one.stands_on)
                yield f"{_plain(one.sentence)} ({links})"

    def _deviations(self) -> list[str]:
        say = self.profile.say
        said = [(what, paper, say(here), why) for what, paper, here, why in self.paper.deviations]
        rows = [map(_plain, row) for row in said if row[1] != row[2]]
        return [_table(("", "Paper", "Here", "Why"), rows)] if rows else []

    def _figure(self, figure: Figure) -> str:
        trained = "; ".join(describe(figure.study.needs(self.profile)))
        settings = f"Settings: {_plain(trained)}." if trained else "No stored run is behind this figure."
        numbers = record_path(Path(), figure.study)
        title = _plain(figure.title if figure.beyond else f"{_label(figure.name)}: {figure.title}")
        return (
            f'<a id="{figure.name}"></a>\n\n### {title}\n\n'
            f"![{title}](figures/{figure.name}.png)\n\n{_plain(figure.caption)}\n\n"
            f"<small>{settings} Numbers: [{numbers}]({numbers}). Alone: `{self.command(figure.name)}`</small>"
        )

    def _claim(self, claim: Claim) -> str:
        verdict = self.verdicts[claim.name]
        shown = [f.name for study in claim.studies for f in self.figures if f.study.name == study]
        links = "".join(f" [{_label(name)}](#{name})." for name in shown)
        measured = [(_plain(name), _plain(text)) for name, text in verdict.measured.items()]
        place = f"section {claim.section}" if claim.section[:1].isdigit() else claim.section
        source = "Beyond the paper." if claim.beyond else f"Paper: {_plain(place)}."
        return (
            f'<a id="{claim.name}"></a>\n\n### {_plain(claim.statement)}\n\n{_mark(verdict)} '
            f"{_plain(verdict.sentence)}\n\n"
            + (_table(("", ""), measured) + "\n\n" if measured else "")
            + f"<small>{source} Threshold: {_plain(verdict.threshold)}.{links} "
            f"Alone: `{self.command(claim.name)}`</small>"
        )

    def _made(self) -> list[tuple[str, str]]:
        """Hardware, versions, time and command."""
        known = self.session.get("environment", {})
        versions = [f"{name} {known[name]}" for name in ("modgrok", "python", "jax", "numpy") if known.get(name)]
        return [
            ("profile", self.profile.name),
            ("device", _plain(f"{known.get('device', 'unknown')} ({known.get('system', 'unknown system')})")),
            ("versions", _plain(", ".join(versions) or "unknown")),
            ("sources", ", ".join(f"`{commit[:7]}`" for commit in session_commits(self.session)) or "unknown"),
            ("training", duration(self.session.get("training_seconds", 0))),
            ("command", f"`{self.command()}`"),
        ]

    def command(self, only: str | None = None) -> str:
        """How to make this, or one part of it."""
        paper = "" if self.paper.key == DEFAULT else f" {self.paper.key}"
        profile = "" if self.profile.name == "quick" else f" --profile {self.profile.name}"
        return f"modgrok reproduce{paper}{profile}" + (f" --only {only}" if only else "")


def write_report(
    paper: Paper, profile: Sizes, records: dict[str, Numbers], verdicts: dict[str, Verdict], out: Path
) -> Path:
    """Writes report.html, report.md and verdicts.json; returns the path of the first."""
    drawn = [figure for figure in paper.figures if (out / "figures" / f"{figure.name}.png").exists()]
    figures = tuple(figure for figure in drawn if figure.study.name in records)
    text = Report(paper, profile, read_session(out), figures, verdicts).markdown()
    write_bytes(out / "report.md", text.encode())
    write_json(out / "verdicts.json", {name: verdict.as_dict() for name, verdict in verdicts.items()})
    target = out / "report.html"
    write_bytes(target, render(text, f"{paper.title}, reproduced ({profile.name} profile)", out).encode())
    return target


def render(text: str, title: str, folder: Path) -> str:
    """Markdown as one HTML file; pictures, which lie in the folder, become part of it."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = reader.parse(text)
    for i, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            token.attrSet("id", _anchor(tokens[i + 1].content))
        for image in token.children or ():
            if image.type == "image":
                picture = (folder / str(image.attrs["src"])).read_bytes()
                image.attrSet("src", f"data:image/png;base64,{base64.b64encode(picture).decode()}")
                image.attrSet("width", str(round(SHOWN * int.from_bytes(picture[16:20]))))  # from the PNG's header
    page = Template(files("modgrok.reproduce").joinpath("report.html").read_text())
    return page.substitute(title=title, body=reader.renderer.render(tokens, reader.options, {}))


def describe(experiments: Sequence[Experiment]) -> list[str]:
    """The settings of many experiments, a phrase for each that is not the default; values that vary are listed.

    Seeds are counted among runs that are alike in all else, since every fraction may have seeds of its own.
    """
    if not experiments:
        return []
    t = Table(said_settings(experiments))
    values = {name: t[name].known().distinct() for name in vars(t.first)}
    if values["seed"] != [0]:
        alike = t.by(*(name for name in values if name != "seed"))
        values["seed"] = max((some["seed"].distinct() for some in alike.values()), key=len)
    if "examples" in values:
        del values["fraction"]
    return [_phrase(name, some) for name, some in values.items() if some and (name, some) != ("seed", [0])]


def _phrase(name: str, values: Sequence[Any]) -> str:
    if name == "seed":
        return f"{len(values)} seed{'s' if len(values) > 1 else ''}"
    if isinstance(values[0], bool):
        label = name.replace("_", " ")
        return f"{label} on and off" if len(values) > 1 else label if values[0] else f"no {label}"
    shown = [number(value) if isinstance(value, (int, float)) else str(value) for value in values]
    if len(shown) > MOST_VALUES:
        shown = [shown[0], "…", shown[-1]]
    label = LABELS.get(name, name.replace("_", " "))
    return ", ".join(shown) if name in ("task", "optimizer") else f"{label} = {', '.join(shown)}"


def _label(name: str) -> str:
    """fig0 → Fig. 0, figA5 → Fig. A5; a figure that the paper does not have is called by its name."""
    return f"Fig. {name.removeprefix('fig')}" if name.startswith("fig") else name.replace("_", " ").capitalize()


def _anchor(heading: str) -> str:
    return re.sub(r"\W+", "-", heading.lower())


def _mark(verdict: Verdict) -> str:
    kind, mark = LOOKS[verdict.outcome]
    return f'<span class="verdict {kind}">{mark} {verdict.outcome}</span>'


def _plain(text: str) -> str:
    """Text in which Markdown finds nothing to mark up."""
    return re.sub(r"([\\`*_\[\]<|])", r"\\\1", text.replace("\n", " "))


def _list(items: Iterable[str], numbered: bool = False) -> list[str]:
    """One part, or none where there is no item."""
    lines = [f"{i}. {item}" if numbered else f"- {item}" for i, item in enumerate(items, 1)]
    return ["\n".join(lines)] if lines else []


def _table(heads: Sequence[str], rows: Any) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
