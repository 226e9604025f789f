"""`modgrok film`: a run as an animated picture."""

from dataclasses import dataclass
from pathlib import Path

from modgrok.commands.arguments import OneRun, check_output, parse, tell
from modgrok.disk import write_bytes
from modgrok.experiments import Store
from modgrok.experiments.store import check_intact
from modgrok.plot.film import FORMATS, film


@dataclass(frozen=True)
class Film(OneRun):
    """Write a run as an animated picture: weights turn into waves, the table fills with right answers, both accuracies
    rise. modgrok runs replay writes an interactive page instead."""

    out: Path = Path("film.gif")
    """The file to write: .gif, .webp or .png, all of them animated."""
    seconds: float = 8.0
    """Length of the film."""


def main(argv: list[str]) -> None:
    """Draw and write."""
    arguments = parse(Film, "film", argv)
    kind = arguments.out.suffix.lower()
    check_output(arguments.out, *FORMATS)
    run = Store(arguments.store).find(arguments.run)
    check_intact(run)
    content = film(run, kind, arguments.seconds)
    write_bytes(arguments.out, content)
    tell(arguments.json, {"run": run.id, "file": str(arguments.out), "bytes": len(content)}, f"Film: {arguments.out}")
