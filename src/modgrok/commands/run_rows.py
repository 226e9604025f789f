"""Rows of the list of runs: what is known of each, which are wanted, and how they are shown."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from modgrok.errors import Damaged, ModgrokError, Unknown
from modgrok.experiments import Run
from modgrok.experiments.label import Label
from modgrok.experiments.result import RunProgress
from modgrok.experiments.store import check_intact
from modgrok.experiments.sweeps.values import value
from modgrok.text import NONE, count, number, percent, steps_between

REACHED = ("memorized_after", "memorized_at", "grokked_after", "grokked_at")
"""What a result says of the time of learning."""
COLUMNS = "run,name,task,p,network,N,α,optimizer,rate,seed,status,steps,test,grokked at".split(",")
DROPPED = ("rate", "seed", "N", "optimizer", "network", "steps", "α", "p", "test", "name")
"""Columns that a narrow terminal does without, the first one first."""
RIGHT = {"p", "N", "α", "rate", "seed", "steps", "test", "grokked at"}


def run_table(rows: list[dict[str, Any]], width: int) -> Table:
    """A row for each run, with as many columns as there is room for."""
    cells = [_cells(row) for row in rows]
    shown = [name for name in COLUMNS if name != "name" or any(row[name] for row in cells)]
    needed = {name: max(len(name), *(len(str(row[name])) for row in cells)) for name in shown}
    for name in DROPPED:
        if sum(needed[one] + 2 for one in shown) <= width:
            break
        shown = [one for one in shown if one != name]
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in shown:
        grid.add_column(name, justify="right" if name in RIGHT else "left", min_width=min(needed[name], 12))
    for row in cells:
        grid.add_row(*(row[name] for name in shown))
    return grid


def wanted_setting(text: str) -> tuple[str, Any]:
    """Name and value of `--where NAME=VALUE`."""
    name, equals, given = text.partition("=")
    if not equals:
        raise ModgrokError(f"--where takes NAME=VALUE, such as fraction=0.5, not {text!r}.")
    name = name.strip().replace("-", "_")
    return name, value(name, given.strip())


def fits(row: dict[str, Any], wanted: list[tuple[str, Any]], search: str) -> bool:
    """Whether a run has the settings that are wanted and the text that is searched for."""
    texts = (row["run"], row.get("task", ""), row.get("name", ""), row.get("note", ""))
    tags = (f"#{tag}" for tag in row.get("tags", ()))
    if not any(search.lower() in text.lower() for text in (*texts, *tags)):
        return False
    return not wanted or ("experiment" in row and all(row["experiment"].get(name) == given for name, given in wanted))


def run_row(run: Run) -> dict[str, Any]:
    """What is known of a stored run, or why it cannot be read."""
    try:
        check_intact(run)
        result: Mapping[str, Any] = run.result or {}
        rows = run.rows()
        last = rows[-1] if rows else {}
        return {
            "run": run.id,
            "task": run.task_name,
            **dataclasses.asdict(run.labels),
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


def _cells(row: dict[str, Any]) -> dict[str, Any]:
    """The columns of a run by name."""
    if "reason" in row:
        return dict.fromkeys(COLUMNS, "") | {"run": row["run"], "task": NONE, "status": Text(row["status"], "yellow")}
    e = row["experiment"]
    return {
        "run": row["run"],
        "name": Label(row["name"], row["tags"]).short,
        "task": row["task"],
        "p": NONE if e["modulus"] is None else str(e["modulus"]),
        "network": e["network"],
        "N": NONE if e["width"] is None else str(e["width"]),
        "α": number(e["fraction"], 4),
        "optimizer": e["optimizer"],
        "rate": number(e["lr"], 4),
        "seed": str(e["seed"]),
        "status": row["status"],
        "steps": count(row["steps"]),
        "test": percent(row["test_accuracy"]),
        "grokked at": steps_between(row["grokked_after"], row["grokked_at"]),
    }
