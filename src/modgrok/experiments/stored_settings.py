"""`experiment.json`: the settings of a run and where it was made, written before the first step."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modgrok.errors import Damaged, ModgrokError
from modgrok.experiments.stored_json import build, read_sealed_json, write_sealed_json

FORMAT = 2
"""Of a run's folder."""


@dataclass(frozen=True)
class Settings:
    """What `experiment.json` holds."""

    experiment: dict[str, Any]
    environment: dict[str, str | int | float | None]
    run: str
    format: int


def write_settings(folder: Path, experiment: dict[str, Any], environment: dict[str, Any]) -> None:
    """Makes a folder one of a run, named by its id."""
    about = {"format": FORMAT, "run": folder.name}
    write_sealed_json(folder / "experiment.json", about | {"experiment": experiment, "environment": environment})


def read_settings(folder: Path) -> Settings:
    """What `write_settings` wrote; `Damaged` if it belongs to another folder."""
    path = folder / "experiment.json"
    found = build(Settings, read_sealed_json(path), path)
    if found.format != FORMAT:
        raise ModgrokError(f"{path} has format {found.format}; this version of modgrok reads format {FORMAT}.")
    if found.run != folder.name:
        raise Damaged(f"The settings in {folder} are not those of run {folder.name}.")
    return found
