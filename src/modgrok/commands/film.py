"""`modgrok film`: a run as an animated picture."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.markup import escape

from modgrok.commands.arguments import InStore, check_output, out, parse, print_json
from modgrok.commands.flags import Positional
from modgrok.disk import write_bytes
from modgrok.experiments import Store
from modgrok.experiments.store import check_intact
from modgrok.plot.film import FORMATS, film


@dataclass(frozen=True)
class Film(InStore):
    """Write a run as a film: weights that become waves, the table that fills with right answers, both accuracies.
    modgrok runs replay writes a page that replays all of a run."""

    run: Annotated[str, Positional("RUN")] = "last"
    """A run's id or the beginning of it, or last for the latest."""
    out: Path = Path("film.gif")
    """The file to write: .gif, .webp or .png, all of them animated."""
    seconds: float = 8.0
    """How long an animated picture takes."""


def main(argv: list[str]) -> None:
    """Draw, or pack the page, and write it."""
    arguments = parse(Film, "film", argv)
    kind = arguments.out.suffix.lower()
    check_output(arguments.out, *FORMATS)
    store = Store(arguments.store)
    run = store.find(arguments.run)
    check_intact(run)
    content = film(run, kind, arguments.seconds)
    write_bytes(arguments.out, content)
    if arguments.json:
        print_json({"run": run.id, "file": str(arguments.out), "bytes": len(content)})
    else:
        out.print(f"Film: {escape(str(arguments.out))}", highlight=False, soft_wrap=True)
