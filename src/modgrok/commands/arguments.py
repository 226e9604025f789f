"""From a frozen dataclass to flags, help and checks, and from a result to text or JSON: what all commands share."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeVar

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from modgrok.commands.flags import Positional, read_flags
from modgrok.commands.help import choices_text, help_text
from modgrok.errors import ModgrokError
from modgrok.setting import Setting
from modgrok.text import in_ascii, printable

Arguments = TypeVar("Arguments")

PIPED_WIDTH = 4000
"""Columns of tables that another program reads: nothing is cut off, and nothing is padded to it."""


class Output(Console):
    """What a command prints: text as it is, without markup. Names come from files that others wrote, so no text may
    steer the terminal. Where stdout is closed, as behind `head`, the program ends as others do."""

    def __init__(self, **how: Any) -> None:
        if os.environ.get("NO_COLOR"):
            how["color_system"] = None
        super().__init__(markup=False, emoji=False, highlight=False, soft_wrap=True, **how)

    def render_str(self, text: str, **how: Any) -> Text:
        """Spells Greek where the terminal has none, before columns are measured."""
        return super().render_str(text if self.encoding.startswith("utf") else in_ascii(text), **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            steers = segment.control or segment.text == "\r"  # the program's own
            yield segment if steers else segment._replace(text=printable(segment.text))

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


err = Output(stderr=True)
"""Progress and remarks go here, so that stdout can be piped."""
_measured = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()
out = Output(width=None if _measured else PIPED_WIDTH)


FIGURES = (".png", ".svg", ".pdf")
TABLES = (".csv", ".parquet")
"""Suffixes of files that commands write."""


@dataclass(frozen=True, kw_only=True)
class Printed:
    """What every command is told."""

    json: bool = False
    """Print one JSON object instead of text."""


@dataclass(frozen=True, kw_only=True)
class InStore(Printed):
    """What every command on stored runs is told."""

    store: Path | None = None
    """Folder of the runs; by default $MODGROK_STORE, or runs/ here."""


@dataclass(frozen=True)
class OneRun(InStore):
    """What a command on one run is told."""

    run: Annotated[str, Positional("RUN")] = "last"
    """A run's id, the beginning of it, or its name; last is the latest run."""


def new_table(*heads: str, title: str | None = None, right: Sequence[str] = (), **look: Any) -> Table:
    """An empty table; columns with the heads `right` hold numbers. Without heads it has no head at all."""
    made = Table(title=title, title_justify="left", show_header=bool(heads), **look)
    for head in heads:
        made.add_column(head, justify="right" if head in right else "left")
    return made


def facts(rows: Mapping[str, str], title: str | None = None) -> Table:
    """A table of two columns."""
    made = new_table(title=title)
    for row in rows.items():
        made.add_row(*row)
    return made


def figure_of(draw: Callable[[], Any], path: Path | None) -> None:
    """Draws to a file, if one is named, and says so."""
    if path is not None:
        from modgrok import plot

        plot.save(draw(), path)
        err.print(f"Figure: {path}")


def tell(as_json: bool, found: dict[str, Any], sentence: str) -> None:
    """What was found as JSON, or a sentence."""
    print_json(found) if as_json else out.print(sentence)


def parse(arguments: type[Arguments], command: str, argv: Sequence[str], settings: Sequence[Setting] = ()) -> Arguments:
    """The command's arguments from its flags, an experiment's settings among them; `--help` ends the program."""
    program = f"modgrok {command}"
    if {"-h", "--help"} & set(argv):
        print(help_text(arguments, program, settings))
        raise SystemExit(0)
    return read_flags(arguments, program, argv, settings)


def choose(commands: Mapping[str, type], command: str, about: str, argv: Sequence[str]) -> tuple[str, list[str]]:
    """Which of several subcommands is asked for, and the rest of the line."""
    name, *rest = argv
    if name in ("-h", "--help"):
        print(choices_text(commands, command, about))
        raise SystemExit(0)
    if name not in commands:
        close = get_close_matches(name, commands, n=1)
        hint = f"did you mean 'modgrok {command} {close[0]}'?" if close else f"there are {', '.join(commands)}."
        raise ModgrokError(f"There is no command 'modgrok {command} {name}'; {hint}")
    return name, rest


def typed_flags(argv: Sequence[str]) -> set[str]:
    """The names of the flags that were given, written as fields are."""
    return {text[2:].partition("=")[0].replace("-", "_") for text in argv if text.startswith("--")}


def print_json(result: dict[str, Any]) -> None:
    """Exactly one JSON object on stdout."""
    json.dump(result, sys.stdout, allow_nan=False)
    sys.stdout.write("\n")


def check_output(path: Path | None, *suffixes: str) -> None:
    """Raises before any work is done where a file's name says that it is something else, and says where its folder will
    be made. What is no file (a device, a pipe) may be called anything."""
    if path is not None and path.suffix.lower() not in suffixes and not _is_device(path):
        known = " or ".join(filter(None, (", ".join(suffixes[:-1]), suffixes[-1])))
        raise ModgrokError(f"Write this to a {known} file, not to {path.name}.")
    if path is not None and not os.path.exists(path.parent):
        err.print(f"Creating the folder {path.parent}.")


def _is_device(path: Path) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)  # these never raise
