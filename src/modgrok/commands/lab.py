"""`modgrok lab`: the local page on which runs are trained, watched and compared, and the story that leads to it."""

import html
import signal
import sys
import tempfile
import webbrowser
from dataclasses import dataclass
from pathlib import Path

from modgrok import signals
from modgrok.commands.arguments import err, parse, print_json
from modgrok.experiments import Store
from modgrok.lab import story
from modgrok.lab.server import Lab, serve


@dataclass(frozen=True)
class LabPage:
    """Open a local page where you watch a network discover Fourier analysis. Ctrl-C closes it and stores all runs."""

    port: int = 8642
    """Port on this machine; 0 chooses a free one."""
    store: Path | None = None
    """Folder of the runs; by default $MODGROK_STORE, or runs/ here."""
    no_browser: bool = False
    """Only print the address."""
    export_story: Path | None = None
    """Only write the story to this folder, as one page that works offline and without a server."""
    json: bool = False
    """Print one JSON object with the address, or the story's file."""


def main(argv: list[str]) -> None:
    """Serve until interrupted, or export the story."""
    arguments = parse(LabPage, "lab", argv)
    if arguments.export_story is not None:
        path = story.export(arguments.export_story)
        if arguments.json:
            print_json({"story": str(path)})
        else:
            err.print(f"The story is in {path}.")
        return

    def ready(lab: Lab) -> None:
        if arguments.json:
            print_json({"address": lab.address, "store": str(lab.library.store.folder)})
            sys.stdout.flush()
        err.print(f"The lab is open at {lab.address}")
        err.print(f"Runs are stored in {lab.library.store.folder}. Press Ctrl-C to close the lab.")
        if not arguments.no_browser:
            webbrowser.open(_door(Path(private), lab.address))

    if signals.Process.is_program:
        signals.catch(signals.interrupt)
    try:
        with tempfile.TemporaryDirectory(prefix="modgrok-") as private:
            serve(Store(arguments.store), arguments.port, ready)
    except KeyboardInterrupt:
        err.print("modgrok: The lab is closed; runs in training are stored.")
        sys.exit(128 + (signals.Process.received or signal.SIGINT))


def _door(folder: Path, address: str) -> str:
    """A file that only this user can read and that leads to the lab: the browser is started with its name, so that the
    token stands in no list of processes."""
    path = folder / "lab.html"
    path.touch(mode=0o600)
    path.write_text(f'<!doctype html><meta http-equiv="refresh" content="0;url={html.escape(address)}">')
    return path.as_uri()
