"""`modgrok runs`: list, show, export and remove the runs of a store."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from rich.table import Table
from rich.text import Text

from modgrok.commands.arguments import InStore, choose, err, out, parse, print_json, require_suffix
from modgrok.commands.flags import Positional, Repeated
from modgrok.commands.train import explanation, show_run
from modgrok.errors import ModgrokError, Unknown
from modgrok.experiments import Run, Store
from modgrok.experiments.outcome import RunProgress
from modgrok.experiments.run import Damaged
from modgrok.experiments.store import RUN_NAME, check_intact
from modgrok.experiments.sweeps.values import value
from modgrok.sealed import exists
from modgrok.text import count, number, percent, steps_between

REACHED = ("memorized_after", "memorized_at", "grokked_after", "grokked_at")
"""What a result says of the time of learning."""
COLUMNS = (
    "run",
    "task",
    "p",
    "network",
    "N",
    "α",
    "optimizer",
    "rate",
    "seed",
    "status",
    "steps",
    "test",
    "grokked at",
)
Names = Annotated[tuple[str, ...], Positional("RUN …")]


@dataclass(frozen=True)
class List(InStore):
    """All runs of the store, the latest first."""

    where: Annotated[tuple[str, ...], Repeated("NAME=VALUE")] = ()
    """Only runs with this setting, such as fraction=0.5 or optimizer=gd; repeat it for more."""


@dataclass(frozen=True)
class Show(InStore):
    """One run: its settings, where it was made, its outcome."""

    run: Annotated[str, Positional("RUN")] = "last"
    """A run's id or the beginning of it, or last for the latest."""


@dataclass(frozen=True)
class Export(InStore):
    """The curves of runs for other programs, one row for each evaluation."""

    runs: Names = ()
    """Ids or beginnings of them; all runs by default."""
    format: Literal["csv", "parquet", "tensorboard", "wandb", "mlflow"] = "csv"
    """csv always works; parquet and tensorboard need the extra `export`, wandb and mlflow those of their names."""
    out: Path | None = None
    """File to write, or folder for tensorboard, wandb and mlflow; csv goes to stdout by default."""


@dataclass(frozen=True)
class Remove(InStore):
    """Delete runs, after asking; a run that is being trained is refused."""

    runs: Names
    """Ids or beginnings of them."""
    yes: bool = False
    """Do not ask."""


def main(argv: list[str]) -> None:
    """What the subcommand says; without one, the list."""
    named = bool(argv) and (not argv[0].startswith("-") or argv[0] in ("-h", "--help"))
    about = "The runs of a store; without a subcommand, the list of them."
    name, rest = choose(COMMANDS, "runs", about, argv if named else ["list", *argv])
    asked = parse(COMMANDS[name], f"runs {name}", rest)
    _ACTIONS[name](asked, Store(asked.store))


def _list(arguments: List, store: Store) -> None:
    wanted = [_wanted(text) for text in arguments.where]
    rows = [row for row in map(_row, (*store, *store.remains())) if _fits(row, wanted)]
    if arguments.json:
        print_json({"store": str(store.folder), "runs": rows})
        return
    if not rows:
        which = "with these settings" if wanted else "yet; modgrok train makes one"
        out.print(Text(f"There are no runs in {store.folder} {which}."))
        return
    table = Table(*COLUMNS, box=None, pad_edge=False)
    for name in ("p", "N", "α", "rate", "seed", "steps", "test", "grokked at"):
        table.columns[COLUMNS.index(name)].justify = "right"
    table.columns[0].min_width = max(len(row["run"]) for row in rows)
    for row in rows:
        table.add_row(*_cells(row))
    out.print(table, highlight=False)
    for row in rows:
        if "reason" in row:
            out.print(Text(f"{row['run']} is {row['status']}: {row['reason']}"), style="yellow", soft_wrap=True)


def _wanted(text: str) -> tuple[str, Any]:
    name, equals, given = text.partition("=")
    if not equals:
        raise ModgrokError(f"--where takes NAME=VALUE, such as fraction=0.5, not {text!r}.")
    name = name.strip().replace("-", "_")
    return name, value(name, given.strip())


def _fits(row: dict[str, Any], wanted: list[tuple[str, Any]]) -> bool:
    return not wanted or ("experiment" in row and all(row["experiment"].get(name) == given for name, given in wanted))


def _row(run: Run) -> dict[str, Any]:
    try:
        check_intact(run)
        result: Mapping[str, Any] = run.result or {}
        rows = run.rows()
        last = rows[-1] if rows else {}
        return {
            "run": run.id,
            "task": run.task_name,
            "status": run.status,
            "steps": result.get("steps", last.get("step", 0)),
            "train_accuracy": last.get("train_accuracy"),
            "test_accuracy": last.get("test_accuracy"),
            **(_reached(run, rows) if not result else {name: result[name] for name in REACHED}),
            "experiment": run.experiment.as_dict(),
        }
    except ModgrokError as error:
        kinds = {Damaged: "damaged", Unknown: "unknown"}
        return {"run": run.id, "status": kinds.get(type(error), "unreadable"), "reason": str(error)}


def _reached(run: Run, rows: list[dict[str, Any]]) -> dict[str, int | None]:
    """When an unfinished run memorized and grokked, as far as its curves say."""
    progress = RunProgress(run.experiment)
    progress.restore(rows)
    curves = {"memorized": progress.crossing("train_accuracy"), "grokked": progress.crossing("test_accuracy")}
    return {f"{name}_{end}": getattr(found, end) for name, found in curves.items() for end in ("after", "at")}


def _cells(row: dict[str, Any]) -> list[str | Text]:
    if "reason" in row:
        return [row["run"], "–", *[""] * 7, Text(row["status"], style="yellow")]
    e = row["experiment"]
    return [
        row["run"],
        Text(row["task"]),
        "–" if e["modulus"] is None else str(e["modulus"]),
        e["network"],
        "–" if e["width"] is None else str(e["width"]),
        number(e["fraction"], 4),
        e["optimizer"],
        number(e["lr"], 4),
        str(e["seed"]),
        row["status"],
        count(row["steps"]),
        percent(row["test_accuracy"]),
        steps_between(row["grokked_after"], row["grokked_at"]),
    ]


def _show(arguments: Show, store: Store) -> None:
    run = store.find(arguments.run)
    check_intact(run)
    if arguments.json:
        facts = {"run": run.id, "status": run.status, "folder": str(run.folder), **run.settings}
        print_json(facts | {"result": run.result and run.result.as_dict(), "snapshots": run.snapshots})
        return
    settings = Table(title=f"Run {run.id}", title_justify="left", show_header=False, box=None)
    for name, chosen in run.experiment.as_dict().items():
        if chosen not in (None, "", []):
            settings.add_row(name.replace("_", " "), Text(str(chosen)))
    where = run.settings["environment"]
    settings.add_row("made with", ", ".join(f"{name} {value}" for name, value in where.items() if value))
    settings.add_row("snapshots", f"{len(run.snapshots)} in {run.folder / 'snapshots'}")
    out.print(settings, highlight=False)
    out.print()
    if (result := run.result) is None:
        rows = run.rows()
        rest = "goes on from its last checkpoint" if run.read_checkpoint() else "starts it again"
        out.print(f"unfinished at step {count(rows[-1]['step'] if rows else 0)}; its command {rest}", highlight=False)
        return
    show_run(run)
    if sentence := explanation(run.experiment, result):
        out.print(Text(sentence), soft_wrap=True)


def _export(arguments: Export, store: Store) -> None:
    from modgrok.experiments.export import WRITERS, curves_csv

    if arguments.format in ("csv", "parquet"):
        require_suffix(arguments.out, f".{arguments.format}")
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
    if arguments.json:
        print_json({"format": arguments.format, "out": str(arguments.out), "runs": [run.id for run in runs]})
    else:
        out.print(Text(f"Wrote the curves of {count(len(runs), 'run')} to {arguments.out}."), soft_wrap=True)


def _known(runs: list[Run]) -> list[Run]:
    """The runs without those of a network, or the like, that is not known here, which are named."""
    found = []
    for run in runs:
        try:
            check_intact(run)
            found.append(run)
        except Unknown as error:
            err.print(Text(f"{error} It is left out."), style="yellow", soft_wrap=True)
    return found


def _remove(arguments: Remove, store: Store) -> None:
    if not arguments.runs:
        raise ModgrokError("Name the runs to remove by their ids; `modgrok runs list` shows them.")
    runs = [_find(name, store) for name in arguments.runs]
    if not (arguments.yes or _agreed(runs)):
        out.print("Nothing was removed.")
        return
    for run in runs:
        store.remove(run)
    if arguments.json:
        print_json({"removed": [run.id for run in runs]})
    else:
        out.print(Text(f"Removed {', '.join(run.id for run in runs)}."), soft_wrap=True)


def _agreed(runs: Sequence[Run]) -> bool:
    """Whether the person at the terminal wants these runs deleted."""
    if not sys.stdin.isatty():
        raise ModgrokError("Cannot ask for confirmation here; pass --yes to remove runs.")
    err.print(Text(f"Remove {count(len(runs), 'run')} for good: {', '.join(run.id for run in runs)}? [y/N] "), end="")
    return input().strip().lower() in ("y", "yes")


def _find(name: str, store: Store) -> Run:
    """A run by its name, a damaged one by its whole id."""
    bare = store.folder / name
    return Run(bare) if RUN_NAME.fullmatch(name) and exists(bare) else store.find(name)


COMMANDS: dict[str, Any] = {"list": List, "show": Show, "export": Export, "remove": Remove}
_ACTIONS: dict[str, Any] = {"list": _list, "show": _show, "export": _export, "remove": _remove}
