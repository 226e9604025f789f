"""The settings of an experiment in a file: TOML or JSON, flat as keywords are."""

import tomllib
from pathlib import Path
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.sealed import parse_json

SUFFIXES = (".toml", ".json")
UNREAD = (".yaml", ".yml")


def is_settings_file(text: str | Path) -> bool:
    """Whether a task's text is the path of a file with all settings; YAML counts, and is refused with a sentence."""
    return str(text).lower().endswith((*SUFFIXES, *UNREAD))


def read_settings_file(path: Path) -> dict[str, Any]:
    """The settings by name: all that the file holds, or its table `experiment`, as a run's own `experiment.json` and
    the files of sweeps have it."""
    content = read_mapping(path)
    found = content.get("experiment", content)
    if not isinstance(found, dict) or "task" not in found:
        raise ModgrokError(f'{path} needs a task among its settings, for example task = "n + m".')
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}


def read_mapping(path: Path) -> dict[str, Any]:
    """What a .toml or .json file holds."""
    if path.suffix.lower() in UNREAD:
        raise ModgrokError(f"Settings are read from a .toml or .json file, not from {path.name}; write them as TOML.")
    kind = path.suffix.lower()[1:].upper()
    try:
        text = path.read_text(encoding="utf-8")
        found = tomllib.loads(text) if kind == "TOML" else parse_json(text)
    except OSError as error:
        raise ModgrokError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError) as error:
        raise ModgrokError(f"{path} is not a {kind} file: {error}.") from error
    if not isinstance(found, dict):
        raise ModgrokError(f"{path} must hold settings by name, not {type(found).__name__}.")
    return found
