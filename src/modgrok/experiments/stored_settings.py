"""`experiment.json`: the settings of a run and where it was made, written before the first step."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modgrok.errors import Damaged, ModgrokError
from modgrok.experiments.stored_json import build, read_json, write_sealed_json

FORMAT = 2
"""Of a run's folder. Format 1 had no digests and no checksums."""


@dataclass(frozen=True)
class Settings:
    """What `experiment.json` holds."""

    experiment: dict[str, Any]
    environment: dict[str, str | int | float | None]
    run: str = ""
    format: int = 1


def write_settings(folder: Path, experiment: dict[str, Any], environment: dict[str, Any]) -> None:
    """Makes a folder one of a run, named by its id."""
    about = {"format": FORMAT, "run": folder.name}
    write_sealed_json(folder / "experiment.json", about | {"experiment": experiment, "environment": environment})


def read_settings(folder: Path) -> Settings:
    """What `write_settings` wrote, or format 1 did; `Damaged` where it is not what belongs into this folder."""
    path = folder / "experiment.json"
    content, sealed = read_json(path)
    older = content.keys() == {"experiment", "environment"}
    if older == sealed:
        raise Damaged(f"{path} has lost its digest.")
    found = build(Settings, content, path)
    if found.format not in (1, FORMAT):
        raise ModgrokError(f"{path} has format {found.format}, and this modgrok knows those up to {FORMAT}.")
    if (_id_of_format_1(found.experiment) if older else found.run) != folder.name:
        raise Damaged(f"The settings in {folder} are not those of run {folder.name}.")
    return found


def _id_of_format_1(settings: dict[str, Any]) -> str:
    """The content hash that named a run of format 1."""
    text = json.dumps({"format": 1} | settings, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]
