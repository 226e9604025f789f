"""From a frozen dataclass to flags, help and checks, and from a result to text or JSON: what all commands share."""

import dataclasses
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import tyro
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from modgrok.errors import ModgrokError
from modgrok.text import printable

Arguments = TypeVar("Arguments")

PIPED_WIDTH = 4000
"""Columns of tables that another program reads: nothing is cut off, and nothing is padded to it."""


class Output(Console):
    """What a command prints. Names come from files that others wrote, so that no text may steer the terminal. Where
    stdout is closed, as behind `head`, the program ends as others do."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            steers = segment.control or segment.text == "\r"  # the program's own
            yield segment if steers else segment._replace(text=printable(segment.text))

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


err = Output(stderr=True)
"""Progress and remarks go here, so that stdout can be piped."""
out = Output(width=None if sys.stdout.isatty() else PIPED_WIDTH)


FIGURES = (".png", ".svg", ".pdf")
TABLES = (".csv", ".parquet")
"""Suffixes of files that commands write."""


@dataclass(frozen=True, kw_only=True)
class InStore:
    """What every command on stored runs is told."""

    store: Path | None = None
    """Folder of the runs; by default $MODGROK_STORE, or runs/ here."""
    json: bool = False
    """Print one JSON object instead of text."""


def parse(arguments: type[Arguments], command: str, argv: Sequence[str], settings: Any = None) -> Arguments:
    """The command's arguments from its flags; `--help` and bad flags end the program with 0 and 2. `settings` is the
    type of the field of that name, where it depends on what is registered."""
    if settings is not None:
        about = {"__doc__": arguments.__doc__}
        bases, fields = (arguments,), [("settings", settings)]
        arguments = dataclasses.make_dataclass(arguments.__name__, fields, bases=bases, namespace=about, frozen=True)
    plain = [_whole(text) for text in argv]
    guarded = [_GUARD + text if _NEGATIVE.fullmatch(text) else text for text in plain]
    parsed = _unguard(tyro.cli(arguments, prog=f"modgrok {command}", args=guarded, config=_CONFIG))
    _require_values(parsed, typed_flags(argv))
    return parsed


def typed_flags(argv: Sequence[str]) -> set[str]:
    """The names of the flags that were given, written as fields are."""
    return {text[2:].partition("=")[0].replace("-", "_") for text in argv if text.startswith("--")}


def print_json(result: dict[str, Any]) -> None:
    """Exactly one JSON object on stdout."""
    json.dump(result, sys.stdout, allow_nan=False)
    sys.stdout.write("\n")


def require_suffix(path: Path | None, *suffixes: str) -> None:
    """An error where a file is to be written whose name says that it is something else; before any work is done. What
    is no file (a device, a pipe) may be called anything."""
    if path is not None and path.suffix.lower() not in suffixes and not _is_device(path):
        known = " or ".join(filter(None, (", ".join(suffixes[:-1]), suffixes[-1])))
        raise ModgrokError(f"This is written to a {known} file, not to {path.name}.")


def _is_device(path: Path) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)  # these never raise


def _whole(text: str) -> str:
    """1e3 as 1000, which flags for whole numbers understand too."""
    if _POWER.fullmatch(text) and (number := float(text)) < 1e15 and number.is_integer():
        return str(int(number))
    return text


def _require_values(parsed: Any, typed: set[str]) -> None:
    """An error where a flag for several values was typed with none, which Tyro takes for an empty list."""
    for field in dataclasses.fields(parsed):
        value = getattr(parsed, field.name)
        if dataclasses.is_dataclass(value):
            _require_values(value, typed)
        elif value == () and field.name in typed:
            flag = f"--{field.name.replace('_', '-')}"
            raise ModgrokError(f"{flag} needs at least one value; give one, or leave it out.")


def _unguard(value: Any) -> Any:
    """The value with all its texts as they were typed."""
    if isinstance(value, str):
        return value.removeprefix(_GUARD)
    if isinstance(value, tuple):
        return tuple(_unguard(part) for part in value)
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    parts = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    changed = {name: new for name, part in parts.items() if (new := _unguard(part)) != part}
    return dataclasses.replace(value, **changed) if changed else value


_CONFIG = (tyro.conf.FlagCreatePairsOff, tyro.conf.OmitArgPrefixes, tyro.conf.OmitSubcommandPrefixes)
_NEGATIVE = re.compile(r"-[nm0-9(][nm0-9+\-*/^(). e]*")
"""An expression or a number that begins with a minus, and would be taken for a flag."""
_POWER = re.compile(r"[0-9]+\.?[0-9]*[eE]\+?[0-9]+")
_GUARD = " "
"""Put before it: numbers are read past it, and texts lose it again."""
