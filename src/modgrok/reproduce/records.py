"""The numbers of studies on disk: one compressed JSON file each, beside the figure where there is one."""

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

from modgrok.disk import write_bytes, write_json
from modgrok.errors import ModgrokError
from modgrok.reproduce.paper import Paper
from modgrok.reproduce.sizes import Sizes
from modgrok.reproduce.study import Numbers, Study

SESSION = "session.json"
"""Where and for how long the runs of a reproduction were trained."""


def record_path(out: Path, study: Study) -> Path:
    return out / ("figures" if study.figures else "studies") / f"{study.name}.json.gz"


def write_record(out: Path, study: Study, profile: Sizes, numbers: Numbers) -> None:
    """Keeps the numbers of a study; the same numbers give the same bytes."""
    record = {"study": study.name, "profile": profile.name, "numbers": numbers}
    text = json.dumps(record, separators=(",", ":"), allow_nan=False)
    write_bytes(record_path(out, study), gzip.compress(f"{text}\n".encode(), mtime=0))


def read_records(out: Path, paper: Paper, profile: Sizes) -> dict[str, Numbers]:
    """All numbers of this profile that a folder holds, by study."""
    found = {study.name: read_record(out, study, profile) for study in paper.studies}
    return {name: numbers for name, numbers in found.items() if numbers is not None}


def read_record(out: Path, study: Study, profile: Sizes) -> Numbers | None:
    """The numbers of a study in this profile, or None where there are none."""
    path = record_path(out, study)
    if not path.exists():
        return None
    try:
        record = json.loads(gzip.decompress(path.read_bytes()))
        return record["numbers"] if record["profile"] == profile.name else None
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
        raise ModgrokError(f"{path} does not hold the numbers of a study; delete it and run again.") from error


def read_session(out: Path) -> dict[str, Any]:
    """Sizes, environment and training time, as far as known."""
    path = out / SESSION
    try:
        found = json.loads(path.read_text()) if path.exists() else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def add_to_session(out: Path, paper: Paper, profile: Sizes, environment: dict[str, Any], seconds: float) -> None:
    """Adds the time and the sources of one call; a folder that changes its profile starts anew."""
    before = read_session(out)
    if before.get("profile") != profile.name:
        before = {}
    commits = [*session_commits(before), *session_commits({"environment": environment})]
    session = {
        "paper": paper.key,
        "profile": profile.name,
        "environment": environment,
        "commits": list(dict.fromkeys(commits)),
        "training_seconds": round(before.get("training_seconds", 0.0) + seconds, 1),
    }
    write_json(out / SESSION, session)


def session_commits(session: dict[str, Any]) -> list[str]:
    """Of the sources of every call, as far as known."""
    last = session.get("environment", {}).get("commit")
    return session.get("commits") or ([last] if last else [])


def recorded_profile(source: Path, paper: Paper) -> Sizes:
    """The profile whose numbers a folder of this paper holds."""
    session = _session_of(source, paper)
    if "profile" not in session:
        raise ModgrokError(
            f"{source} is not the folder of a reproduction: its {SESSION} is missing or not what was written. Name one "
            "that `modgrok reproduce` wrote."
        )
    return paper.profile(str(session["profile"]))


def recorded_otherwise(out: Path, paper: Paper, profile: Sizes) -> str:
    """The name of another profile whose numbers a folder holds; empty where there is none."""
    held = _session_of(out, paper).get("profile", profile.name)
    return "" if held == profile.name else str(held)


def _session_of(folder: Path, paper: Paper) -> dict[str, Any]:
    session = read_session(folder)
    if (held := session.get("paper", paper.key)) != paper.key:
        raise ModgrokError(f"{folder} holds the numbers of {held}, not of {paper.key}; name another folder.")
    return session


def copy_records(source: Path, paper: Paper, profile: Sizes, out: Path) -> None:
    """Copies the numbers of another reproduction, once all of them could be read."""
    read_records(source, paper, profile)
    for path in (source / SESSION, *(record_path(source, study) for study in paper.studies)):
        target = out / path.relative_to(source)
        if path.exists() and path.resolve() != target.resolve():
            write_bytes(target, path.read_bytes())
