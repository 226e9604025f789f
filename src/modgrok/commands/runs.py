"""`modgrok runs`: list, show, name, export, pack, replay and remove the runs of a store."""

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from modgrok.api import pack, replay
from modgrok.commands.arguments import (
    InStore,
    OneRun,
    check_output,
    choose,
    err,
    new_table,
    out,
    parse,
    print_json,
    tell,
)
from modgrok.commands.flags import Positional, Repeated
from modgrok.commands.run_rows import fits, run_row, run_table, wanted_setting
from modgrok.commands.train import explanation, show_run
from modgrok.errors import ModgrokError, Unknown
from modgrok.experiments import Run, Store, archive
from modgrok.experiments.export import WRITERS, curves_csv
from modgrok.experiments.label import write_label
from modgrok.experiments.store import RUN_NAME, check_intact
from modgrok.experiments.sweeps.record import find_sweep, stored_sweeps
from modgrok.sealed import exists
from modgrok.text import count, size

Names = Annotated[tuple[str, ...], Positional("RUN …")]


@dataclass(frozen=True)
class List(InStore):
    """List the runs of the store, the latest first."""

    search: Annotated[str, Positional("TEXT")] = ""
    """Only runs with this text in their name, tags, note, task or id; #tag finds a tag."""
    where: Annotated[tuple[str, ...], Repeated("NAME=VALUE")] = ()
    """Only runs with this setting, such as fraction=0.5 or optimizer=gd; repeat it for more."""
    limit: int | None = None
    """Show only this many; all by default."""


class Show(OneRun):
    """Show one run: its settings, where it was made, its outcome."""


@dataclass(frozen=True)
class Export(InStore):
    """Write the curves of runs for other programs, one row per evaluation."""

    runs: Names = ()
    """Ids, beginnings of them, or names; all runs by default."""
    format: Literal["csv", "parquet", "tensorboard", "wandb", "mlflow"] = "csv"
    """csv always works; parquet and tensorboard need the extra `export`, wandb and mlflow those of their names."""
    out: Path | None = None
    """File to write, or folder for tensorboard, wandb and mlflow; csv goes to stdout by default."""


@dataclass(frozen=True)
class LabelRuns(InStore):
    """Give runs or sweeps a name, tags or a note, by which runs list and sweep list find them."""

    runs: Names
    """Ids of runs or sweeps, beginnings of them, or names."""
    name: str | None = None
    """A name that finds the run as its id does; an empty one removes it."""
    tag: tuple[str, ...] = ()
    """Tags; they replace those the run has."""
    note: str | None = None
    """A note for yourself."""


@dataclass(frozen=True)
class Pack(InStore):
    """Write runs, with the tables they were trained on, to one .zip file to share."""

    runs: Annotated[tuple[str, ...], Positional("RUN … FILE.zip")]
    """Ids of runs, beginnings of them, or names; the full id or name of a sweep stands for all its runs. Then the file
    to write."""


@dataclass(frozen=True)
class Unpack(InStore):
    """Add the runs in a file that runs pack wrote to the store, after checking every digest."""

    file: Annotated[Path, Positional("FILE.zip")]
    """The file; runs already in the store stay unchanged."""


@dataclass(frozen=True)
class Replay(OneRun):
    """Write a run as one page that replays it, weights and all, in any browser."""

    out: Path = Path("replay.html")
    """The .html file to write."""


@dataclass(frozen=True)
class Remove(InStore):
    """Delete runs, after asking. Runs in training cannot be deleted."""

    runs: Names
    """Ids, beginnings of them, or names."""
    yes: bool = False
    """Do not ask."""


def main(argv: list[str]) -> None:
    """What the subcommand says; without one, the list."""
    named = bool(argv) and (not argv[0].startswith("-") or argv[0] in ("-h", "--help"))
    about = "Stored runs; without a subcommand, list them."
    name, rest = choose(COMMANDS, "runs", about, argv if named else ["list", *argv])
    kind, act = _ACTIONS[name]
    asked = parse(kind, f"runs {name}", rest)
    act(asked, Store(asked.store))


def _list(arguments: List, store: Store) -> None:
    wanted = [wanted_setting(text) for text in arguments.where]
    if arguments.limit is not None and arguments.limit < 1:
        raise ModgrokError(f"limit must be at least 1, not {arguments.limit}.")
    found = (row for row in map(run_row, (*store, *store.remains())) if fits(row, wanted, arguments.search))
    rows = list(islice(found, arguments.limit))
    if arguments.json:
        print_json({"store": str(store.folder), "runs": rows})
        return
    if not rows:
        which = "like that" if wanted or arguments.search else "yet; modgrok train makes one"
        out.print(f"There are no runs in {store.folder} {which}.")
        return
    out.print(run_table(rows, out.width))
    for row in rows:
        if "reason" in row:
            out.print(f"{row['run']} is {row['status']}: {row['reason']}", style="yellow")


def _show(arguments: Show, store: Store) -> None:
    run = store.find(arguments.run)
    check_intact(run)
    if arguments.json:
        found = {"run": run.id, "status": run.status, "folder": str(run.folder)}
        found |= run.settings | dataclasses.asdict(run.labels)
        print_json(found | {"result": run.result and run.result.as_dict(), "snapshots": run.snapshots})
        return
    settings = new_table(title=f"Run {run.id}", box=None)
    for name, chosen in (run.experiment.as_dict() | dataclasses.asdict(run.labels)).items():
        if chosen not in (None, "", []):
            settings.add_row(name.replace("_", " "), " ".join(chosen) if isinstance(chosen, list) else str(chosen))
    where = run.settings["environment"]
    settings.add_row("made with", ", ".join(f"{name} {value}" for name, value in where.items() if value))
    settings.add_row("snapshots", f"{len(run.snapshots)} in {run.folder / 'snapshots'}")
    out.print(settings)
    out.print()
    if (result := run.result) is None:
        rows = run.rows()
        rest = "resume it from its last checkpoint" if run.read_checkpoint() else "start over"
        out.print(f"unfinished at step {count(rows[-1]['step'] if rows else 0)}; rerun its command to {rest}")
        return
    show_run(run)
    if sentence := explanation(run.experiment, result):
        out.print(sentence)


def _export(arguments: Export, store: Store) -> None:
    if arguments.format in ("csv", "parquet"):
        check_output(arguments.out, f".{arguments.format}")
    named = [store.find(name) for name in arguments.runs]
    for run in named:
        check_intact(run)
    runs = named or _known([*store, *store.remains()])
    if not runs:
        raise ModgrokError(f"There are no runs in {store.folder} to export.")
    if arguments.out is None:
        if arguments.format != "csv" or arguments.json:
            raise ModgrokError("Name the file or folder to write with --out.")
        sys.stdout.write(curves_csv(runs))
        return
    WRITERS[arguments.format](runs, arguments.out)
    found = {"format": arguments.format, "out": str(arguments.out), "runs": [run.id for run in runs]}
    tell(arguments.json, found, f"Wrote the curves of {count(len(runs), 'run')} to {arguments.out}.")


def _known(runs: list[Run]) -> list[Run]:
    """The runs without those of a network, or the like, that is not known here, which are named."""
    found = []
    for run in runs:
        try:
            check_intact(run)
            found.append(run)
        except Unknown as error:
            err.print(f"{error} It is left out.", style="yellow")
    return found


def _label(arguments: LabelRuns, store: Store) -> None:
    given = (arguments.name, arguments.tag or None, arguments.note)
    if given == (None, None, None):
        raise ModgrokError("Give --name, --tag or --note: modgrok runs label last --name baseline.")
    if arguments.name and len(arguments.runs) > 1:
        raise ModgrokError("A name belongs to one run; use --tag for several.")
    folders = [_folder(name, store) for name in arguments.runs]
    labels = {folder.name: write_label(folder, *given) for folder in folders}
    found = {name: dataclasses.asdict(label) for name, label in labels.items()}
    lines = [f"{name}: {label.short or label.note or 'no name'}" for name, label in labels.items()]
    tell(arguments.json, found, "\n".join(lines))


def _folder(name: str, store: Store) -> Path:
    """The folder of a run or of a sweep."""
    try:
        return store.find(name).folder
    except ModgrokError:
        if any(one["id"].startswith(name) for one in stored_sweeps(store)):
            return store.folder / "sweeps" / find_sweep(store, name).id
        raise


def _pack(arguments: Pack, store: Store) -> None:
    if len(arguments.runs) < 2:
        raise ModgrokError("Name the runs to pack, then the file: modgrok runs pack last runs.zip.")
    *names, file = arguments.runs
    path = Path(file)
    check_output(path, ".zip")
    runs = pack(names, path, store)
    written = path.stat().st_size
    found = {"file": file, "runs": [run.id for run in runs], "bytes": written}
    tell(arguments.json, found, f"Packed {count(len(runs), 'run')} into {file}, {size(written)}.")


def _unpack(arguments: Unpack, store: Store) -> None:
    added, known = archive.unpack(arguments.file, store)
    found = {"added": [run.id for run in added], "known": [run.id for run in known]}
    rest = f"; {', '.join(found['known'])} {'was' if len(known) == 1 else 'were'} already there" if known else ""
    names = f": {', '.join(found['added'])}" if added else ""
    tell(arguments.json, found, f"Added {count(len(added), 'run')} to {store.folder}{names}{rest}.")


def _replay(arguments: Replay, store: Store) -> None:
    check_output(arguments.out, ".html")
    run = store.find(arguments.run)
    check_intact(run)
    replay(run, arguments.out)
    found = {"run": run.id, "file": str(arguments.out), "bytes": arguments.out.stat().st_size}
    tell(arguments.json, found, f"Replay: {arguments.out}")


def _remove(arguments: Remove, store: Store) -> None:
    runs = [_find(name, store) for name in arguments.runs]
    if not (arguments.yes or _agreed(runs)):
        out.print("Nothing was removed.")
        return
    for run in runs:
        store.remove(run)
    removed = [run.id for run in runs]
    tell(arguments.json, {"removed": removed}, f"Removed {', '.join(removed)}.")


def _agreed(runs: Sequence[Run]) -> bool:
    """Whether the person at the terminal wants these runs deleted."""
    if not sys.stdin.isatty():
        raise ModgrokError("Cannot ask for confirmation here; pass --yes to remove runs.")
    err.print(f"Remove {count(len(runs), 'run')} for good: {', '.join(run.id for run in runs)}? [y/N] ", end="")
    return input().strip().lower() in ("y", "yes")


def _find(name: str, store: Store) -> Run:
    """A run by its name, a damaged one by its whole id."""
    bare = store.folder / name
    return Run(bare) if RUN_NAME.fullmatch(name) and exists(bare) else store.find(name)


_ACTIONS: dict[str, tuple[Any, Any]] = {
    "list": (List, _list),
    "show": (Show, _show),
    "label": (LabelRuns, _label),
    "export": (Export, _export),
    "pack": (Pack, _pack),
    "unpack": (Unpack, _unpack),
    "replay": (Replay, _replay),
    "remove": (Remove, _remove),
}
COMMANDS: dict[str, type] = {name: kind for name, (kind, _) in _ACTIONS.items()}
