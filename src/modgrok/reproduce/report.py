"""The report: verdicts first, then figures, then every claim with its numbers; as one HTML file and as Markdown."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modgrok.experiments.files import write_bytes, write_json
from modgrok.reproduce.catalogue import CLAIMS, FIGURES
from modgrok.reproduce.claims.claim import Claim, Verdict
from modgrok.reproduce.html import page
from modgrok.reproduce.markdown import document
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.records import read_session
from modgrok.reproduce.settings import describe
from modgrok.reproduce.study import Numbers, Study

OUTCOMES = {
    "holds": "hold",
    "holds with a remark": "hold with a remark",
    "does not hold here": "do not hold here",
    "not run in this profile": "not run in this profile",
}
"""Every outcome, and how it is said of several claims."""


def counted(verdicts: Iterable[Verdict]) -> dict[str, tuple[int, str]]:
    """How many claims came out how, and that in words, by outcome."""
    outcomes = [verdict.outcome for verdict in verdicts]
    several = {outcome: outcomes.count(outcome) for outcome in OUTCOMES if outcome in outcomes}
    return {outcome: (n, outcome if n == 1 else OUTCOMES[outcome]) for outcome, n in several.items()}


@dataclass(frozen=True)
class Report:
    """Everything both forms of the report say."""

    profile: Profile
    session: dict[str, Any]
    figures: tuple[tuple[Study, list[str]], ...]
    """Figures there are numbers for, with their settings in words."""
    claims: tuple[tuple[Claim, Verdict], ...]
    folder: Path

    @property
    def counts(self) -> dict[str, tuple[int, str]]:
        return counted(verdict for _, verdict in self.claims)

    @property
    def made_with(self) -> list[tuple[str, str]]:
        """Hardware, versions, time and command."""
        environment = self.session.get("environment", {})
        versions = ", ".join(
            f"{name} {environment[name]}" for name in ("modgrok", "python", "jax", "numpy") if environment.get(name)
        )
        rows = [
            ("profile", self.profile.name),
            ("device", f"{environment.get('device', 'unknown')} ({environment.get('system', 'unknown system')})"),
            ("versions", versions or "unknown"),
            ("sources", environment.get("commit") or "unknown"),
            ("training", f"{self.session.get('training_seconds', 0) / 60:.1f} minutes"),
            ("command", self.command()),
        ]
        return rows

    def command(self, only: str | None = None) -> str:
        """How to make this, or one part of it."""
        profile = "" if self.profile.name == "quick" else f" --profile {self.profile.name}"
        return f"modgrok reproduce{profile}" + (f" --only {only}" if only else "")


def write_report(records: dict[str, Numbers], verdicts: dict[str, Verdict], profile: Profile, out: Path) -> Path:
    """Writes report.html, report.md and verdicts.json; returns the path of the first."""
    figures = tuple(
        (study, describe(study.experiments(profile)))
        for study in FIGURES
        if study.name in records and (out / "figures" / f"{study.name}.png").exists()
    )
    report = Report(
        profile, read_session(out), figures, tuple((CLAIMS[name], verdict) for name, verdict in verdicts.items()), out
    )
    write_bytes(out / "report.md", document(report).encode())
    write_json(out / "verdicts.json", {name: vars(verdict) for name, verdict in verdicts.items()})
    target = out / "report.html"
    write_bytes(target, page(report).encode())
    return target
